-- How long is each chunk to bm25()?
SELECT id, sz FROM chunk_fts_docsize ORDER BY id
