"""Auditors: they judge releases and never make one.

They share with the anonymizers only `specs` (what a plan states), `errors`, `promise` and `jit`
(how numba compiles and runs kernels). Encoding, demands, the codebook and cells are computed here
anew.
"""
