-- Every candidate whole, in the order of ids: the set digest is over these.
SELECT id, title, content, content_sha256, candidate_state, admission, kind, repository, revision, path,
       quant_domain, proof_status, reported_status
FROM frontier_candidate
ORDER BY ordinal
