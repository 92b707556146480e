-- One candidate, in the order of the table's columns; its trigger holds the digest against the content.
INSERT INTO frontier_candidate VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
