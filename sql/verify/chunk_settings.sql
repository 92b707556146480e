SELECT k, v FROM chunk_fts_config ORDER BY k
