"""Smooth k-anonymity of sparse rows: groups of at least k, and the items of their majority."""
