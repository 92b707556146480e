-- What leaves of this chunk?
SELECT node_id, source, source_id, substr(title, 1, 160), sha256 FROM chunk WHERE ordinal = ?
