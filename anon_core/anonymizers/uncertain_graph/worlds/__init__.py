"""What the sampled worlds of a graph say: which edges matter, and the one that is most typical."""
