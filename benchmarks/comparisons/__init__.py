"""Ours beside methods and figures of others."""
