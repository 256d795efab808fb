"""b-edge covers: closure, reverse delete, LSE, b-Suitor."""
