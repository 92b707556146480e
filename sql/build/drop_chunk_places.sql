DROP TABLE temp.chunk_places
