"""Time and memory against n: python -m benchmarks.growth [SET] [--records N...] [--iterations N].

Each n runs in a process of its own; the exponents are slopes of log time against log n.
"""

import argparse

from benchmarks import exponent, in_child

SIZES = {
    "open-payments": (30_000, 60_000, 120_000, 240_000),
    "poker": (25_000, 50_000, 100_000),
    "census": (40_000, 80_000, 160_000),
    "cms": (90_000, 180_000, 360_000),
}
MEASURED = (
    "seconds",
    "seconds_per_iteration",
    "processor_seconds",
    "processor_seconds_per_iteration",
)
MEASURED += ("seconds_of_first_iteration", "memory_added_MiB", "distinct_rows")


def main(name, sizes, options):
    runs = {}
    for n in sizes:
        run = in_child(f"{name}_{n}", "benchmarks.one_run", name, "--records", n, *options)
        if "seconds" in run:  # else left out, as its line says
            run["processor_seconds_per_iteration"] = float(run["processor_seconds"]) / int(
                run["iterations"]
            )
            run["seconds_of_first_iteration"] = run["seconds_of_iterations"].split()[0]
            run["memory_added_MiB"] = max(
                1.0, float(run["peak_memory_MiB"]) - float(run["memory_before_MiB"])
            )
            runs[n] = run
    if len(runs) > 1:
        for what in MEASURED:
            amounts = [float(run[what]) for run in runs.values()]
            print(f"{name}.exponent_of_{what}: {exponent(list(runs), amounts):.2f}")


def parsed():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("set", nargs="?", default="open-payments", choices=SIZES)
    parser.add_argument("--records", type=int, nargs="+")
    parser.add_argument("--iterations", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    given = parsed()
    main(
        given.set,
        given.records or SIZES[given.set],
        ["--iterations", given.iterations] if given.iterations else [],
    )
