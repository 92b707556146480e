-- All rows have their ordinals: the waiting room goes.
DROP TABLE incoming
