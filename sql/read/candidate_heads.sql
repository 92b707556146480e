-- Candidates without their content: the columns of candidates.sql, an empty text in its place.
SELECT id, title, '', content_sha256, candidate_state, admission, kind, repository, revision, path,
       quant_domain, proof_status, reported_status
FROM frontier_candidate
WHERE id IN (SELECT value FROM json_each(?))
ORDER BY ordinal
