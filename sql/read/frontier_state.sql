SELECT state FROM frontier_state
