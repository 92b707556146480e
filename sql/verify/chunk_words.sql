CREATE VIRTUAL TABLE temp.chunk_words USING fts5vocab (main, chunk_fts, row)
