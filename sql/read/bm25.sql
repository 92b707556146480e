-- Which chunks hold words of the query, best first? Smaller is better; ties fall to the node id.
SELECT rowid, bm25(chunk_fts, 2.0, 1.0) AS score
FROM chunk_fts
WHERE chunk_fts MATCH ?
ORDER BY score, rowid
LIMIT ?
