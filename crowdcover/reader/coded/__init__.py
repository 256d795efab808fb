"""A column of a release as its codebook writes it: levels, cells, texts of both."""
