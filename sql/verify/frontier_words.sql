-- The words of the frontier index, to be looked up one by one.
CREATE VIRTUAL TABLE temp.frontier_words USING fts5vocab (main, frontier_fts, row)
