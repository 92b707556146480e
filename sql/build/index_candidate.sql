INSERT INTO frontier_fts (rowid, title, content) VALUES (?, ?, ?)
