"""The levels of each column, and what codebook.json must say of them."""
