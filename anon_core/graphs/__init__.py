"""Vertices, edges, weights: the exact b-nearest closure and the b-edge cover on it."""
