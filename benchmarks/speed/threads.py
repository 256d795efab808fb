"""Speed-up by threads, and whether the bytes stay equal.

python -m benchmarks.threads [SET] [--records N] [--iterations N]
"""

import argparse

import numba

from benchmarks import in_child, tables

COUNTS = (1, 2, 4, 8)


def main(name, options):
    runs = {}
    for count in COUNTS:
        if count > numba.config.NUMBA_NUM_THREADS:
            most = numba.config.NUMBA_NUM_THREADS
            print(f"left out: {count} threads and more, this machine has {most}")
            break
        runs[count] = in_child(
            f"threads_{count}", "benchmarks.one_run", name, "--threads", count, *options
        )
        if "seconds" not in runs[count]:  # left out, as its line says
            return
        print(f"speed_up_{count}: {float(runs[1]['seconds']) / float(runs[count]['seconds']):.2f}")
    print(f"bytes_equal: {len({run['sha256'] for run in runs.values()}) == 1}")


def parsed():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads")
    parser.add_argument("set", nargs="?", default="adult", choices=tables.SETS)
    parser.add_argument("--records", type=int)
    parser.add_argument("--iterations", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    given = parsed()
    chosen = [("--records", given.records), ("--iterations", given.iterations)]
    main(given.set, [part for option in chosen if option[1] is not None for part in option])
