-- Rows enter with a digest that holds, and then never change. Each guard calls sha256(), which only
-- the builder has: in a plain shell every write to a row of these tables fails. Full-text tables can have
-- no trigger; what is written there, the digest beside the file and the audit see.
CREATE TRIGGER chunk_digest BEFORE INSERT ON chunk
WHEN sha256(NEW.text) IS NOT NEW.sha256
BEGIN SELECT RAISE(ABORT, 'the digest does not match the text'); END;

CREATE TRIGGER frontier_candidate_digest BEFORE INSERT ON frontier_candidate
WHEN sha256(NEW.content) IS NOT NEW.content_sha256
BEGIN SELECT RAISE(ABORT, 'the digest does not match the content'); END;

CREATE TRIGGER chunk_no_update BEFORE UPDATE ON chunk
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'chunks never change: build a new file'); END;

CREATE TRIGGER chunk_no_delete BEFORE DELETE ON chunk
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'chunks never go: build a new file'); END;

CREATE TRIGGER frontier_candidate_no_update BEFORE UPDATE ON frontier_candidate
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'candidates never change: build a new file'); END;

CREATE TRIGGER frontier_candidate_no_delete BEFORE DELETE ON frontier_candidate
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'candidates never go: build a new file'); END;
