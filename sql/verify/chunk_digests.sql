-- Does each text have its digest?
SELECT node_id, text, sha256 FROM chunk ORDER BY ordinal
