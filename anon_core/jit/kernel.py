"""The one decorator of all kernels."""

from numba import njit

# nogil lets a caller's progress bar live; cache keeps the compiled code beside the source for the next process.
kernel = njit(cache=True, nogil=True, error_model="numpy")
parallel_kernel = njit(cache=True, nogil=True, error_model="numpy", parallel=True)
