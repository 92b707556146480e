-- How many chunks does each source have?
SELECT source, count(*) FROM chunk GROUP BY source ORDER BY source
