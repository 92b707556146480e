DROP TABLE temp.chunk_vocabulary
