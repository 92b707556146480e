-- The words of the chunk index, to be looked up one by one.
CREATE VIRTUAL TABLE temp.chunk_words USING fts5vocab (main, chunk_fts, row)
