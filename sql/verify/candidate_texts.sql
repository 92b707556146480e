-- What should the frontier index hold?
SELECT ordinal, title, content FROM frontier_candidate ORDER BY ordinal
