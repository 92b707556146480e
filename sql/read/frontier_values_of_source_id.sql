-- Which sources do candidates come from?
SELECT DISTINCT source_id FROM frontier_candidate ORDER BY source_id
