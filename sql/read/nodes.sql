-- Where do these node ids stand, and what are they bound to?
SELECT node_id, ordinal, source, sha256 FROM chunk WHERE node_id IN (SELECT value FROM json_each(?))
