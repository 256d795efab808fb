"""Uncertain graphs: edges with probabilities, released so that degrees point to nobody."""
