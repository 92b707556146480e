-- One source of the candidate set, in the order of the table's columns.
INSERT INTO frontier_source VALUES (?, ?, ?, ?, ?, ?, ?)
