-- What does the file state of itself? By column name: a damaged file may have another number of rows.
SELECT * FROM generation ORDER BY one
