-- For people in the sqlite3 shell. No view needs a function that the shell lacks; none holds a text.

-- Which chunks are there?
CREATE VIEW chunk_handle AS
SELECT node_id, source, source_id, substr(title, 1, 160) AS note, sha256, derived_from
FROM chunk
ORDER BY ordinal;

-- Which chunks hold these words, best first?  … FROM search WHERE query MATCH 'lambda' ORDER BY bm25
CREATE VIEW search AS
SELECT chunk.node_id, chunk.source, substr(chunk.title, 1, 160) AS note, chunk.sha256,
       bm25(chunk_fts, 2.0, 1.0) AS bm25, chunk_fts AS query
FROM chunk_fts
JOIN chunk ON chunk.ordinal = chunk_fts.rowid;

-- How much is there of each source?
CREATE VIEW source_summary AS
SELECT source, count(*) AS chunks, count(DISTINCT source_id) AS documents, count(derived_from) AS restated
FROM chunk
GROUP BY source
ORDER BY source;

-- Which candidates are there?
CREATE VIEW frontier_handle AS
SELECT id, source_id, kind, title, content_sha256, repository, revision, path, admission, candidate_state,
       quant_domain, proof_status, reported_status
FROM frontier_candidate
ORDER BY ordinal;

-- Which candidates hold these words?  … FROM frontier_search WHERE query MATCH 'entropy' ORDER BY bm25
CREATE VIEW frontier_search AS
SELECT frontier_candidate.id, frontier_candidate.kind, frontier_candidate.title,
       frontier_candidate.candidate_state, bm25(frontier_fts, 2.0, 1.0) AS bm25, frontier_fts AS query
FROM frontier_fts
JOIN frontier_candidate ON frontier_candidate.ordinal = frontier_fts.rowid;

-- What does the formula authority fix, and what stays open?
CREATE VIEW formula_authority AS
SELECT (SELECT count(*) FROM locked_proven) AS locked_proven_count,
       (SELECT group_concat(f_number, ' ') FROM (SELECT f_number FROM locked_proven
                                                 ORDER BY CAST(substr(f_number, 2) AS INTEGER))) AS locked_proven,
       'CONJECTURE_1' AS lambda,
       'UNKNOWN_NOT_INFERRED' AS f_number_mapping,
       'NONE' AS promotion_authority;

-- The locked set, one a row. It is a declaration; no record of this file is joined to it.
CREATE VIEW locked_eight AS
SELECT f_number
FROM locked_proven
ORDER BY CAST(substr(f_number, 2) AS INTEGER);

-- How many formulas of each kind stand in each quant domain?
CREATE VIEW quant_domain AS
SELECT quant_domain,
       sum(kind = 'attributed-formula') AS attributed,
       sum(kind = 'executable-formula') AS executable,
       count(*) AS candidates
FROM frontier_candidate
WHERE quant_domain IS NOT NULL
GROUP BY quant_domain
ORDER BY quant_domain;

-- What do attributed records report of themselves? A report, never a membership.
CREATE VIEW attributed_formula AS
SELECT id, title, quant_domain, reported_status,
       'UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS' AS locked_proven_membership, candidate_state
FROM frontier_candidate
WHERE kind = 'attributed-formula'
ORDER BY ordinal;

-- What PROOF_STATUS do executable formulas state of themselves?
CREATE VIEW executable_formula AS
SELECT id, title, quant_domain, proof_status,
       'UNKNOWN_NOT_INFERRED' AS locked_proven_membership, candidate_state
FROM frontier_candidate
WHERE kind = 'executable-formula'
ORDER BY ordinal;

-- Which surfaces does the estate declare?
CREATE VIEW estate_surface AS
SELECT id, title, kind, candidate_state
FROM frontier_candidate
WHERE kind IN ('estate-authority', 'estate-surface')
ORDER BY kind, ordinal;

-- At which revisions were the sources read?
CREATE VIEW source_revision AS
SELECT source_id, repository, path, revision, content_sha256, candidate_count
FROM frontier_source
ORDER BY source_id;
