-- The state of the candidate set, as it was published.
INSERT INTO frontier_state (one, state) VALUES (1, ?)
