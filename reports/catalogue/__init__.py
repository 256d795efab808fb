"""How catalogues see a release: one file for each of their formats."""
