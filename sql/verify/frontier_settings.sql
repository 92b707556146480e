SELECT k, v FROM frontier_fts_config ORDER BY k
