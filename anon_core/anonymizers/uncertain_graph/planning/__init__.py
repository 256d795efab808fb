"""Expected degrees: which to move, and the edges that then change."""
