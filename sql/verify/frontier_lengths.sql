SELECT id, sz FROM frontier_fts_docsize ORDER BY id
