SELECT type, name, sql FROM sqlite_schema ORDER BY type, name
