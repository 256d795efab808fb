"""One suite for each border that data crosses."""
