"""What a release tells: its cells as the sets that they are, and answers from them."""
