-- How long is each candidate to bm25()?
SELECT id, sz FROM frontier_fts_docsize ORDER BY id
