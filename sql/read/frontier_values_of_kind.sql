SELECT DISTINCT kind FROM frontier_candidate WHERE kind IS NOT NULL ORDER BY kind
