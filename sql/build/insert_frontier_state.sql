INSERT INTO frontier_state (one, state) VALUES (1, ?)
