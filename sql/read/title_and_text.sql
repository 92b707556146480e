SELECT title, text FROM chunk WHERE ordinal = ?
