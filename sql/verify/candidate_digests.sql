-- Does each content have its digest?
SELECT id, content, content_sha256 FROM frontier_candidate ORDER BY ordinal
