SELECT ordinal, title, text FROM chunk ORDER BY ordinal
