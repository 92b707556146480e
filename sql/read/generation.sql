-- Which generation is this, and how much does it hold?
SELECT generation_sha256, rows_sha256, index_sha256, aliases_sha256, frontier_sha256, chunk_count,
       (SELECT count(*) FROM frontier_candidate)
FROM generation
