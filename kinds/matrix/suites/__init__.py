"""What a matrix must look like at each check."""
