-- How many words stand in the index but are not found there? A scan reads its pages one after the other; a search
-- goes through the table of pages, chunk_fts_idx, and finds nothing where that is empty or wrong.
SELECT count(*)
FROM temp.chunk_words AS scanned
LEFT JOIN temp.chunk_words AS found ON found.term = scanned.term
WHERE found.doc IS NOT scanned.doc OR found.cnt IS NOT scanned.cnt
