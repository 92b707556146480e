-- Which generation is this file? One row, in the order of the table's columns.
INSERT INTO generation VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
