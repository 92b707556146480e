-- The words have been counted: the helper goes.
DROP TABLE temp.chunk_vocabulary
