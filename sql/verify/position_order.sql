-- Is any position left out or repeated?
SELECT 'position ' || position || ' is not the next one'
FROM (SELECT position, row_number() OVER (ORDER BY position) - 1 AS place FROM chunk)
WHERE position <> place
LIMIT 1
