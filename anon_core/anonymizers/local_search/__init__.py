"""Local search: even seats from the best of several starts, narrowed by exchanges of shares."""
