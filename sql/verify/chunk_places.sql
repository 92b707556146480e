CREATE VIRTUAL TABLE temp.chunk_places USING fts5vocab (main, chunk_fts, instance)
