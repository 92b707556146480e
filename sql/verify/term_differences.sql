-- Words whose count differs between the table and the index, either way.
SELECT (SELECT count(*) FROM (SELECT term, chunks FROM term EXCEPT SELECT term, doc FROM temp.chunk_vocabulary))
     + (SELECT count(*) FROM (SELECT term, doc FROM temp.chunk_vocabulary EXCEPT SELECT term, chunks FROM term))
