-- For the index alone: the words of which chunks go into it?
SELECT ordinal, title, text FROM chunk ORDER BY ordinal
