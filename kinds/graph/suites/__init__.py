"""What a graph must look like at each check."""
