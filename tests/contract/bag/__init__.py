"""A small kind of data: one value per line. A value on fewer than k lines is published as "*"."""
