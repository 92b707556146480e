-- Every place of every word of the chunk index.
CREATE VIRTUAL TABLE temp.chunk_places USING fts5vocab (main, chunk_fts, instance)
