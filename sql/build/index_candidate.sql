-- Words and places of one candidate; title and content come prepared.
INSERT INTO frontier_fts (rowid, title, content) VALUES (?, ?, ?)
