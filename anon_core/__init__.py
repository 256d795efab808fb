"""The algorithms: numpy, numba and scipy; no orchestration, no files, no clocks."""
