"""How kernels are compiled: the one decorator; vectors, and numbers drawn by what they are for."""
