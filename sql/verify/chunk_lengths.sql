SELECT id, sz FROM chunk_fts_docsize ORDER BY id
