-- How many chunks are there?
SELECT count(*) FROM chunk
