INSERT INTO alias (row, term, same_as, reason) VALUES (?, ?, ?, ?)
