SELECT node_id, text, sha256 FROM chunk ORDER BY ordinal
