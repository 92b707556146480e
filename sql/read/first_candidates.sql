SELECT id FROM frontier_candidate ORDER BY ordinal LIMIT ?
