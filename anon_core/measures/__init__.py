"""Judges of a release, independent of what made it."""
