"""What changes from one version of a series to the next: rows that stay, rows that go."""
