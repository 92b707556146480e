SELECT DISTINCT source_id FROM frontier_candidate WHERE source_id IS NOT NULL ORDER BY source_id
