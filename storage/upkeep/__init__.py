"""A vault as a whole: its states, backup, verification, pruning, keys."""
