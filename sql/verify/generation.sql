SELECT * FROM generation ORDER BY one
