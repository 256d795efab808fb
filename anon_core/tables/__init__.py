"""Tables as arrays: columns, codebook, packed records, cells, demands."""
