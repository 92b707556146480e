-- In how many chunks does each of these words stand? Words that stand in none have no row.
SELECT term, chunks FROM term WHERE term IN (SELECT value FROM json_each(?))
