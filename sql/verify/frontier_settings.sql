-- Which settings are stored in the frontier index?
SELECT k, v FROM frontier_fts_config ORDER BY k
