-- What does the candidate set say of itself?
SELECT state FROM frontier_state
