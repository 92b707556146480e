SELECT row, term, same_as FROM alias ORDER BY row
