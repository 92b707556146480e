INSERT INTO chunk_fts (rowid, title, text) VALUES (?, ?, ?)
