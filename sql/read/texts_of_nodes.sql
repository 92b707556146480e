-- For hydration alone: the texts of nodes that were authorised.
SELECT node_id, text FROM chunk WHERE node_id IN (SELECT value FROM json_each(?))
