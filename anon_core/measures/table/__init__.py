"""The audit of a table: levels of the source, released cells, crowds, diversity and attacks."""
