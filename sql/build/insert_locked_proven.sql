-- One F-number of the declared set.
INSERT INTO locked_proven (f_number) VALUES (?)
