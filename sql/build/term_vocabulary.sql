-- The words of the chunk index, a row a word, for counting.
CREATE VIRTUAL TABLE temp.chunk_vocabulary USING fts5vocab (main, chunk_fts, row)
