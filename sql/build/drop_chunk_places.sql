-- The digest of the chunk index has been taken: its helper goes.
DROP TABLE temp.chunk_places
