SELECT id, content, content_sha256 FROM frontier_candidate ORDER BY ordinal
