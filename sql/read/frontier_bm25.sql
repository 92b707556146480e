-- Which candidates hold words of the query, best first, narrowed by the filters that are not null?
SELECT frontier_candidate.id, bm25(frontier_fts, 2.0, 1.0) AS score
FROM frontier_fts
JOIN frontier_candidate ON frontier_candidate.ordinal = frontier_fts.rowid
WHERE frontier_fts MATCH ?
  AND (? IS NULL OR frontier_candidate.kind = ?)
  AND (? IS NULL OR frontier_candidate.source_id = ?)
  AND (? IS NULL OR frontier_candidate.quant_domain = ?)
ORDER BY score, frontier_fts.rowid
LIMIT ?
