SELECT row, term, same_as, reason FROM alias ORDER BY row
