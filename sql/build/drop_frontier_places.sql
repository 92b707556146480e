DROP TABLE temp.frontier_places
