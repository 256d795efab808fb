"""Uncertain graphs: which vertices an edge may join, and how likely."""
