CREATE VIRTUAL TABLE temp.chunk_vocabulary USING fts5vocab (main, chunk_fts, row)
