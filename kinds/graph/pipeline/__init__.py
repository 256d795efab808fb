"""From a source to the released edges of a graph: the makers' side."""
