CREATE VIRTUAL TABLE temp.frontier_words USING fts5vocab (main, frontier_fts, row)
