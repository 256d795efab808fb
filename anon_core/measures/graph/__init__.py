"""What is measured of a graph, whose edges may be uncertain."""
