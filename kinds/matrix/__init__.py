"""The kind "matrix": users x items, who holds which item."""
