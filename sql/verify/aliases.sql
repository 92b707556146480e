-- Every alias whole, in the order of numbers: the aliases digest is over these.
SELECT row, term, same_as, reason FROM alias ORDER BY row
