-- Every chunk whole, in the order of ordinals: the rows digest is over these.
SELECT ordinal, position, node_id, source, source_id, title, text, sha256, derived_from
FROM chunk
ORDER BY ordinal
