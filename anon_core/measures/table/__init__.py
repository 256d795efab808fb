"""Measures of a released table."""
