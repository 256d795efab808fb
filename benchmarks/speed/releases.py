"""Whole releases by each method: python -m benchmarks.releases [SET...] [--methods METHOD...].

`crowdcover release`, then `crowdcover audit`, each in a process of its own, of Adult (30,162
records under examples/adult-ncp.toml) and of the three NIST excerpts of the American Community
Survey (43,130 records under examples/acs.toml). Prints exit codes, seconds of the wall and of the
processor, NCP and exact cells.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from anon_core.anonymizers import ANONYMIZERS
from benchmarks import ROOT, data_file, processor, tables

METHODS = [name for name, each in ANONYMIZERS.items() if each.kind == "table"]


def survey(folder):
    """All people of the three excerpts, as one file."""
    path = folder / "acs.parquet"
    tables.survey().write_parquet(path)
    return path


SETS = {  # name: example, its source
    "adult": ("adult-ncp.toml", lambda _: data_file("adult/adult.data.gz")),
    "acs": ("acs.toml", survey),
}


def main(names, methods):
    for name in names:
        for method in methods:
            with tempfile.TemporaryDirectory() as folder:
                example, source = SETS[name]
                measure(f"{name}.{method}", example, source(Path(folder)), method, Path(folder))


def measure(prefix, example, source, method, folder):
    """Release, then audit; print what came of it."""
    # [anonymizer] of an example may hold settings of its own method.
    plan = folder / example
    text = (ROOT / "examples" / example).read_text(encoding="utf-8")
    before, _, after = text.partition("[anonymizer]")
    rest = after[after.index("\n[") :] if after else ""
    plan.write_text(f'{before}\n[anonymizer]\nname = "{method}"\n{rest}', encoding="utf-8")
    places = [
        f"source.path={source}",
        f"publish.path={folder / 'releases'}",
        f"publish.vault={folder / 'vault'}",
    ]
    sets = [word for place in places for word in ("--set", place)]
    code, out = command(f"{prefix}.release", "release", plan, *sets)
    if code:
        return
    release = out.split()[-1]
    command(f"{prefix}.audit", "audit", release, "--plan", plan, *sets)
    manifest = json.loads((Path(release) / "manifest.json").read_text(encoding="utf-8"))
    print(f"{prefix}.ncp: {manifest['utility']['gcp']:.5f}")
    print(f"{prefix}.exact: {manifest['utility']['cells_exact']:.4f}", flush=True)


def command(prefix, *arguments):
    """Run crowdcover; print its exit code and seconds; return the code and what it printed."""
    began, before = time.perf_counter(), processor()
    words = [sys.executable, "-m", "crowdcover.flows.cli", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    print(f"{prefix}.exit_code: {done.returncode}")
    spent = processor() - before
    print(f"{prefix}.seconds: {time.perf_counter() - began:.1f}, processor {spent:.1f}", flush=True)
    if done.returncode:
        print(done.stderr[-2000:])
    return done.returncode, done.stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", choices=[*SETS, []])
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    given = parser.parse_args()
    main(given.sets or SETS, given.methods)
