-- For hydration alone: the contents of candidates that were authorised.
SELECT id, content FROM frontier_candidate WHERE id IN (SELECT value FROM json_each(?))
