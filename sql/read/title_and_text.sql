-- For coverage alone: what does this chunk hold? Its words are counted, none leaves.
SELECT title, text FROM chunk WHERE ordinal = ?
