-- For `corpus export` alone: every row whole, in the order of the projection.
SELECT position, node_id, source, source_id, title, text, sha256, derived_from
FROM chunk
ORDER BY position
