-- The governed rows and the one row that says which generation they are.
CREATE TABLE generation (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    generation_sha256 TEXT NOT NULL,  -- SHA-256 of the projection's bytes
    rows_sha256 TEXT NOT NULL,        -- over the canonical rows in the order of ordinals
    chunk_count INTEGER NOT NULL,
    aliases_sha256 TEXT NOT NULL,     -- over the canonical alias rows
    frontier_sha256 TEXT,             -- the candidate set's digest; null where no set was built in
    index_sha256 TEXT NOT NULL,       -- over every word of chunk_fts and its place
    frontier_index_sha256 TEXT NOT NULL,
    sqlite_version TEXT NOT NULL,
    stemmer_version TEXT NOT NULL,
    unicode_version TEXT NOT NULL
) STRICT;

CREATE TABLE chunk (
    ordinal INTEGER PRIMARY KEY,      -- 1, 2, 3 … in the order of node ids, so that rowid breaks ties by id
    position INTEGER NOT NULL,        -- 0, 1, 2 … the row's place in the projection
    node_id TEXT NOT NULL,
    source TEXT NOT NULL,
    source_id TEXT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    sha256 TEXT NOT NULL,             -- of the text's UTF-8 bytes
    derived_from TEXT                 -- of the text that this one restates, where it does
) STRICT;

CREATE UNIQUE INDEX chunk_by_node ON chunk (node_id);
CREATE UNIQUE INDEX chunk_by_position ON chunk (position);
