"""Uncertain graphs in which vertices hide among k by their degree."""
