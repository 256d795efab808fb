"""What a person types, and what follows what."""
