"""The versions of a series of tables."""
