-- Which kinds of candidates are there?
SELECT DISTINCT kind FROM frontier_candidate ORDER BY kind
