-- Every place of every word of the frontier index.
CREATE VIRTUAL TABLE temp.frontier_places USING fts5vocab (main, frontier_fts, instance)
