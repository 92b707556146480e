-- What is the finished file known by?
SELECT generation_sha256, rows_sha256, index_sha256, chunk_count, (SELECT count(*) FROM frontier_candidate)
FROM generation
