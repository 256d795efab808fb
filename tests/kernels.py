"""Compile the kernels of makers and auditor in two processes, before test workers ask for them.

numba keeps the machine code; two workers and the ranks of their jobs would all compile it at once.
"""

import sys
from multiprocessing import get_context

from kinds.table import warm


def compile_kernels(step):
    """Call the kernels of one step of kinds/table/warm.py on its small table."""
    getattr(warm, step)(warm.tiny_table())


def main():
    """Run both steps at once; returns 1 if one fails."""
    fresh = get_context("spawn")
    steps = ("compile_makers", "compile_judge")
    processes = [fresh.Process(target=compile_kernels, args=(step,)) for step in steps]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main())
