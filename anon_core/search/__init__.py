"""The exact search for the nearest records under an adaptive dissimilarity."""
