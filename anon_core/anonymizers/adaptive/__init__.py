"""Adaptive anonymity by iterated b-edge covers (Khan et al.)."""
