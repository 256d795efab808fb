"""What a kind says of a plan alone, without the source: nothing here needs numba."""
