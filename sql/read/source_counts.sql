SELECT source, count(*) FROM chunk GROUP BY source ORDER BY source
