SELECT ordinal, title, content FROM frontier_candidate ORDER BY ordinal
