"""The stages: one verb, one file."""
