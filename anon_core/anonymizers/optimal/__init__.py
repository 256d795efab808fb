"""Anonymizers that look for classes of least loss."""
