-- Which tables, indexes, triggers and views are there?
SELECT type, name, sql FROM sqlite_schema ORDER BY type, name
