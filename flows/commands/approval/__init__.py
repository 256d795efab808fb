"""Commands by which people decide."""
