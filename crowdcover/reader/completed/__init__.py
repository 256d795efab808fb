"""Completed tables: one value in each cell, and estimates from several of them."""
