-- The digest of the frontier index has been taken: its helper goes.
DROP TABLE temp.frontier_places
