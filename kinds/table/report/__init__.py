"""How a released table looks to a reader: words, numbers, pictures."""
