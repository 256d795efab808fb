"""What a table must look like at each check."""
