-- Which settings are stored in the chunk index? A rank of its own would change scores.
SELECT k, v FROM chunk_fts_config ORDER BY k
