-- One admitted row, in file order.
INSERT INTO incoming VALUES (?, ?, ?, ?, ?, ?, ?, ?)
