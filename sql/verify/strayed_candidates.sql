-- Which candidates name a source that has another repository or path than they have?
SELECT candidate.id
FROM frontier_candidate AS candidate
LEFT JOIN frontier_source AS source ON source.source_id = candidate.source_id
WHERE source.repository IS NOT candidate.repository OR source.path IS NOT candidate.path
ORDER BY candidate.id
