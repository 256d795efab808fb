"""Counts, frequencies and means from what cells allow and how likely each level is."""
