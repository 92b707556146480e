-- Terms that a corpus writes in two ways. A query for one asks for both.
CREATE TABLE alias (
    row INTEGER PRIMARY KEY,
    term TEXT NOT NULL,
    same_as TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT;
