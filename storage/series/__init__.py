"""Releases of one source over time: their versions, and those that were taken back."""
