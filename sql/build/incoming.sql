-- Where rows wait, in file order, until all of them are admitted.
CREATE TEMP TABLE incoming (
    position INTEGER PRIMARY KEY, node_id TEXT, source TEXT, source_id TEXT, title TEXT, text TEXT,
    sha256 TEXT, derived_from TEXT
) STRICT
