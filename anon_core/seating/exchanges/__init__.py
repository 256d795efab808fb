"""Holders exchange shares of rows, so that the rows lose less."""
