"""How kernels are compiled: the one decorator, and vectors that numba does not form by itself."""
