-- Ordinals follow the order of node ids (bytes of UTF-8), so that rowid breaks ties by id.
INSERT INTO chunk (ordinal, position, node_id, source, source_id, title, text, sha256, derived_from)
SELECT row_number() OVER (ORDER BY node_id), position, node_id, source, source_id, title, text, sha256, derived_from
FROM incoming
ORDER BY node_id
