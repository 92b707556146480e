-- Which spellings stand for each other?
SELECT row, term, same_as FROM alias ORDER BY row
