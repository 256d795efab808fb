"""Compile the kernels of makers and auditor in two processes, before test workers ask for them.

numba keeps the machine code; two workers and the ranks of their jobs would all compile it at once.
"""

import sys
from multiprocessing import get_context
from typing import get_args

from anon_core.anonymizers import Freeform, KMember, Optimal
from anon_core.anonymizers.freeform.segments import Method
from anon_core.engines import local
from kinds.table import warm

FURTHER = (
    *(Freeform(method=method, exchanges=False) for method in get_args(Method)),
    Optimal(),
    KMember(),
)


def compile_makers():
    """Call the kernels of a release on the small table of kinds/table/warm.py."""
    warm.compile_makers(warm.tiny_table())


def compile_others():
    """Call those of an audit, and of the methods that a release by default does not call."""
    table = warm.tiny_table()
    warm.compile_judge(table)
    for method in FURTHER:
        local.run(method, table)


def main():
    """Run both steps at once; returns 1 if one fails."""
    fresh = get_context("spawn")
    processes = [fresh.Process(target=step) for step in (compile_makers, compile_others)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main())
