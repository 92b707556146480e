-- Applied last, when everything is in place: no row enters, changes or leaves any more. As in the guards,
-- sha256() makes every write of a plain shell fail.

CREATE TRIGGER chunk_sealed BEFORE INSERT ON chunk
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER frontier_candidate_sealed BEFORE INSERT ON frontier_candidate
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER generation_sealed_insert BEFORE INSERT ON generation
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER generation_sealed_update BEFORE UPDATE ON generation
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER generation_sealed_delete BEFORE DELETE ON generation
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER term_sealed_insert BEFORE INSERT ON term
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER term_sealed_update BEFORE UPDATE ON term
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER term_sealed_delete BEFORE DELETE ON term
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER alias_sealed_insert BEFORE INSERT ON alias
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER alias_sealed_update BEFORE UPDATE ON alias
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER alias_sealed_delete BEFORE DELETE ON alias
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER frontier_state_sealed_insert BEFORE INSERT ON frontier_state
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER frontier_state_sealed_update BEFORE UPDATE ON frontier_state
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER frontier_state_sealed_delete BEFORE DELETE ON frontier_state
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER frontier_source_sealed_insert BEFORE INSERT ON frontier_source
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER frontier_source_sealed_update BEFORE UPDATE ON frontier_source
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER frontier_source_sealed_delete BEFORE DELETE ON frontier_source
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER locked_proven_sealed_insert BEFORE INSERT ON locked_proven
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER locked_proven_sealed_update BEFORE UPDATE ON locked_proven
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;

CREATE TRIGGER locked_proven_sealed_delete BEFORE DELETE ON locked_proven
WHEN sha256('') IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the file is sealed: build a new one'); END;
