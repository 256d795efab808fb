"""Tables I-III of Khan et al.: python -m benchmarks.paper_tables [SET...] [--records N] [...].

Each set runs in a process of its own, its lines beside the paper's figures: Table II on one thread
(2.3 GHz Haswell), Table III on 32 cores. census, poker and cms are drawn, see benchmarks.tables;
the Facebook networks are run with every cover, and with k-member clustering.
"""

import argparse

from benchmarks import in_child

PAPER = {  # records, features, seconds, utility
    "caltech36": (768, 101, 10, None),
    "reed98": (962, 139, 22, None),
    "haverford76": (1446, 145, 55, None),
    "simmons81": (1518, 140, 45, None),
    "adult": (32_561, 101, 15, 0.904),
    "adult-zeros": (32_561, 101, 15, 0.904),
    "census": (158_285, 68, 13 * 60, 0.871),
    "poker": (500_000, 95, 46 * 60, 0.813),
    "cms": (745_280, 512, 6 * 3600 + 11 * 60, 0.793),
}
FACEBOOK = ("caltech36", "reed98", "haverford76", "simmons81")
COVERS = ("lse", "s-lse", "b-matching", "exact")  # mce runs by default


def paper(name):
    for what, value in zip(("records", "features", "seconds", "utility"), PAPER[name], strict=True):
        if value is not None:
            print(f"{name}.paper_{what}: {value}")


def compare(name, arguments):
    paper(name)
    small = name in FACEBOOK
    options = ["--threads", 1 if small else arguments.threads]
    for option in ("records", "iterations"):
        if (value := getattr(arguments, option)) is not None:
            options += [f"--{option}", value]
    ours = in_child(name, "benchmarks.one_run", name, *options)
    if "seconds" in ours and arguments.records is None:
        print(f"{name}.paper_seconds_over_ours: {PAPER[name][2] / float(ours['seconds']):.1f}")
    if small:
        for cover in COVERS:
            in_child(f"{name}.{cover}", "benchmarks.one_run", name, *options, "--cover", cover)
        method = ("--anonymizer", "k-member")
        in_child(f"{name}.k-member", "benchmarks.one_run", name, *options, *method)


def parsed():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper_tables")
    parser.add_argument("sets", nargs="*", choices=PAPER, metavar="SET", help=", ".join(PAPER))
    parser.add_argument("--records", type=int)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--threads", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    given = parsed()
    for chosen in given.sets or PAPER:
        compare(chosen, given)
