INSERT INTO frontier_fts (frontier_fts) VALUES ('optimize')
