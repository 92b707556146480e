-- Discovered candidates: evidence for reviewers, promoted by nothing in this file.
CREATE TABLE frontier_state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    state TEXT NOT NULL               -- the canonical JSON of the published state
) STRICT;

CREATE TABLE frontier_source (
    source_id TEXT PRIMARY KEY,
    repository TEXT NOT NULL,
    path TEXT NOT NULL,
    parser TEXT NOT NULL,
    revision TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    candidate_count INTEGER NOT NULL
) STRICT;

CREATE TABLE frontier_candidate (
    ordinal INTEGER PRIMARY KEY,      -- 1, 2, 3 … in the order of candidate ids
    id TEXT NOT NULL,
    source_id TEXT NOT NULL REFERENCES frontier_source (source_id),
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    repository TEXT NOT NULL,
    revision TEXT NOT NULL,
    path TEXT NOT NULL,
    admission TEXT NOT NULL,
    candidate_state TEXT NOT NULL CHECK (candidate_state = 'DISCOVERED_REVIEW_REQUIRED'),
    quant_domain TEXT,
    proof_status TEXT,                -- what the source's executable record states of itself
    reported_status TEXT,             -- what an attributed record reports; neither is a proof here
    CHECK (proof_status IS NULL OR kind = 'executable-formula'),
    CHECK (reported_status IS NULL OR kind = 'attributed-formula')
) STRICT;

CREATE UNIQUE INDEX frontier_candidate_by_id ON frontier_candidate (id);

-- F-numbers whose proofs are locked, as the formula authority declares them. No record is joined to
-- them: the mapping is UNKNOWN_NOT_INFERRED.
CREATE TABLE locked_proven (
    f_number TEXT PRIMARY KEY
) STRICT;

CREATE VIRTUAL TABLE frontier_fts USING fts5 (
    title, content,
    content = '',
    tokenize = 'porter unicode61 remove_diacritics 1 categories ''L* N* Co Mn Mc'''
);
