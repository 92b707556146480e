-- Which F-numbers does the file declare as locked?
SELECT f_number FROM locked_proven ORDER BY f_number
