-- One merged segment: fastest to read, and the same bytes for the same rows.
INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')
