-- Two spellings of one term, under the number that receipts name.
INSERT INTO alias (row, term, same_as, reason) VALUES (?, ?, ?, ?)
