"""A toy kind: one value a line. Values that fewer than k lines hold are published as "*"."""
