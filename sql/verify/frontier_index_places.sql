-- Every word of the index with all its places, a row a word: the index digest is over these.
SELECT term, group_concat(doc || '.' || col || '.' || offset, ' ')
FROM temp.frontier_places
GROUP BY term
ORDER BY term
