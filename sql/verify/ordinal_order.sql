-- Does the ordinal of any chunk differ from its place in the order of node ids?
SELECT 'ordinal ' || ordinal || ' is not in the order of node ids'
FROM (SELECT ordinal, row_number() OVER (ORDER BY node_id) AS place FROM chunk)
WHERE ordinal <> place
LIMIT 1
