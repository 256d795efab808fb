"""Sparse matrices as arrays: who holds which item."""
