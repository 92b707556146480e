-- Words and places of one chunk; title and text come prepared.
INSERT INTO chunk_fts (rowid, title, text) VALUES (?, ?, ?)
