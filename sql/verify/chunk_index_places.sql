-- Every word of the index with all its places, a row a word: the index digest is over these.
-- A place is one number: the row, a bit for the second column, 23 bits for the offset. Texts end far below
-- that; putting it together from strings would cost as much as the indexing itself.
SELECT term, group_concat((doc << 24) + ((col <> 'title') << 23) + offset, ' ')
FROM temp.chunk_places
GROUP BY term
ORDER BY term
