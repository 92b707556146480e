-- One merged segment, as for chunks.
INSERT INTO frontier_fts (frontier_fts) VALUES ('optimize')
