"""Measurements of uncertain graphs."""
