SELECT count(*) FROM chunk
