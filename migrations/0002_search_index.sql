-- The full-text index holds its texts' words and places, not the texts: contentless, in full detail.
-- Lesser detail or no column sizes would give wrong bm25 scores without an error.
CREATE VIRTUAL TABLE chunk_fts USING fts5 (
    title, text,
    content = '',
    tokenize = 'porter unicode61 remove_diacritics 1 categories ''L* N* Co Mn Mc'''
);

-- How many chunks hold a word, for idf: asking the index costs milliseconds, this table microseconds.
CREATE TABLE term (
    term TEXT PRIMARY KEY,
    chunks INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
