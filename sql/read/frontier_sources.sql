-- At which revisions were the sources read?
SELECT source_id, repository, path, parser, revision, content_sha256, candidate_count
FROM frontier_source
ORDER BY source_id
