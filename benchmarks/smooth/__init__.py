"""Smooth anonymity of sparse rows, measured beside the paper's figures and other methods."""
