-- In how many chunks does each word of the index stand?
INSERT INTO term (term, chunks) SELECT term, doc FROM temp.chunk_vocabulary ORDER BY term
