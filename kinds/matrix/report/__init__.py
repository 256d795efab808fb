"""How a released matrix looks to a reader: words, numbers, pictures."""
