"""The kinds of data: all that differs between a table, a matrix and a graph."""
