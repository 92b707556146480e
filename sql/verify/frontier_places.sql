CREATE VIRTUAL TABLE temp.frontier_places USING fts5vocab (main, frontier_fts, instance)
