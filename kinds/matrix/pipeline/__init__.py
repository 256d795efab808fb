"""From a source to the released rows of a matrix: the makers' side."""
