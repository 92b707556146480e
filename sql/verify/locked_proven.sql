SELECT f_number FROM locked_proven ORDER BY f_number
