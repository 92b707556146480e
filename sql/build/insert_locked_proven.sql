INSERT INTO locked_proven (f_number) VALUES (?)
