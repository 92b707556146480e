-- The same among chunks of some sources; the scores are those of the whole index.
SELECT chunk_fts.rowid, bm25(chunk_fts, 2.0, 1.0) AS score
FROM chunk_fts
JOIN chunk ON chunk.ordinal = chunk_fts.rowid
WHERE chunk_fts MATCH ? AND chunk.source IN (SELECT value FROM json_each(?))
ORDER BY score, chunk_fts.rowid
LIMIT ?
