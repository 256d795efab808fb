"""Attacks that guess hidden columns of people of Adult, as in steveng9/Reconstruction."""
