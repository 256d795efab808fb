"""From a source to the released rows of a table: the makers' side."""
