"""How a released graph looks to a reader: words, numbers, pictures."""
