"""Triangles of a graph: counted, listed, expected; on one machine, or shuffled between many."""
