-- Record 1 of an FTS5 table: the number of rows and the total length of each column.
SELECT block FROM chunk_fts_data WHERE id = 1
