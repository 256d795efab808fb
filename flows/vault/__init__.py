"""What changes a vault at a person's word."""
