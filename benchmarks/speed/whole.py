"""A whole release, from a CSV file to what was published and checked, against the number of rows.

    python -m benchmarks.whole [RECORDS...] [--table NAME] [--owned ROWS] [--set KEY=VALUE...]
                               [--parquet | --postgres URI]

`payments`: drawn as in benchmarks/tables.py, each to a person of its own, under the columns of
examples/openpayments.toml, k = 5. With `--owned` people are drawn who own so many rows in the mean,
and hide among people. `poker`: drawn hands, all distinct, under benchmarks/poker.toml, k = 10.
With `--parquet` or `--postgres` the rows are put into a file of that form, or into a table of that
database, as texts, and released from there.
Prints seconds and memory of each stage, and of the whole command; then exponents, the slopes of log
amount against log rows.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
from adbc_driver_postgresql import dbapi

from benchmarks import ROOT, exponent, processor, tables

EXAMPLE = ROOT / "examples/openpayments.toml"
HANDS = ROOT / "benchmarks/poker.toml"
PERSON = 'person = "Physician_Profile_ID"\n'
METHOD = '[anonymizer]\nname = "adaptive"\nweights = "columns"\n'
AT_ONCE = 500_000  # rows that are written at once
LONGEST = 63  # characters of a name in PostgreSQL: it cuts longer ones
LOOK = 0.1  # seconds between two looks at the memory of a command


def main(table, sizes, owned, sets, parquet, uri):
    runs = {}
    for records in sizes:
        with tempfile.TemporaryDirectory() as folder:
            plan = draw_table(table, records, owned, Path(folder))
            if parquet:
                move_to_parquet(plan)
            if uri:
                move_to_postgres(plan, uri)
            found = measure_release(plan, sets)
        for name, amount in found.items():
            print(f"{records}.{name}: {amount:.1f}", flush=True)
        if found:
            runs[records] = found
    if len(runs) > 1:
        for name in next(iter(runs.values())):
            amounts = [max(run[name], 0.1) for run in runs.values()]
            print(f"exponent_of_{name}: {exponent(list(runs), amounts):.2f}")


def draw_table(table, records, owned, folder):
    """Write a table and its plan side by side; return the plan's path."""
    source, plan = folder / "source.csv", folder / f"{table}.toml"
    if table == "poker":
        draw_hands(records, source)
        text = HANDS.read_text(encoding="utf-8").replace("k = 5", "k = 10")
    else:
        draw_payments(records, owned, source)
        text = plan_payments(owned)
    plan.write_text(text, encoding="utf-8")
    print(f"{records}.source_MiB: {source.stat().st_size / 2**20:.0f}", flush=True)
    return plan


def scan_texts(plan):
    """The rows of a plan's file, which may have no header."""
    file = plan.with_name("source.csv")
    return pl.scan_csv(file, infer_schema=False, has_header=plan.stem != "poker")


def move_to_parquet(plan):
    """Put the rows of a plan's file into another one, and let the plan name that."""
    scan_texts(plan).sink_parquet(plan.with_name("source.parquet"))
    plan.with_name("source.csv").unlink()
    path = f'path = "{plan.with_name("source.parquet")}"'
    plan.write_text(re.sub("(?m)^path = .*", path, plan.read_text(encoding="utf-8"), count=1))


def move_to_postgres(plan, uri):
    """Put the rows of a plan's file into a table of its name, and let the plan select them."""
    table, file, rows = plan.stem, plan.with_name("source.csv"), scan_texts(plan)
    names = rows.collect_schema().names()
    rows, mode = rows.rename({name: name[:LONGEST] for name in names}), "create"
    with closing(dbapi.connect(uri)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(f"drop table if exists {table}")
        for some in rows.collect_batches(chunk_size=AT_ONCE):
            cursor.adbc_ingest(table, some.to_arrow(), mode=mode)
            mode = "append"
        connection.commit()
    file.unlink()
    source = f'uri = "{uri}"\nquery = "select * from {table}"'
    text = re.sub("(?m)^path = .*", source, plan.read_text(encoding="utf-8"))
    for name in names:
        text = text.replace(name, name[:LONGEST])
    plan.write_text(text, encoding="utf-8")


def measure_release(plan, sets=()):
    """Release a table of `draw_table`: seconds and MiB by stage, and of the command as a whole."""
    folder = plan.parent
    places = [
        *([f"source.path={folder / 'source.csv'}"] if (folder / "source.csv").exists() else []),
        f"publish.path={folder / 'releases'}",
        f"publish.vault={folder / 'vault'}",
        *sets,
    ]
    words = [word for place in places for word in ("--set", place)]
    command = [sys.executable, "-m", "crowdcover.flows.cli", "release", str(plan), *words]
    began, before = time.perf_counter(), processor()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        anonymous = watch_memory(run.pid)
        printed = run.communicate()[0]
    whole, spent = time.perf_counter() - began, processor() - before
    if run.returncode:
        print(f"failed: exit code {run.returncode}")
        return {}
    stages = {
        path.parent.name: json.loads(path.read_text(encoding="utf-8"))
        for path in folder.glob("vault/runs/*/*/stage.json")
    }
    release = Path(printed.split()[-1])
    manifest = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    seconds = {f"{name}_seconds": stage["seconds"] for name, stage in stages.items()}
    memory = {f"{name}_MiB": stage["peak_memory_bytes"] / 2**20 for name, stage in stages.items()}
    return {
        **seconds,
        **memory,
        "seconds": whole,
        "processor_seconds": spent,
        "peak_MiB": max(anonymous) / 2**20,
        "cells_exact_percent": 100 * manifest["utility"]["cells_exact"],
    }


def watch_memory(process):
    """Look at what a process holds until it ends; return the growing list of looks, in bytes.

    Pages that the system may drop at any time, those of mapped files, do not count.
    """
    looks = [0]

    def look():
        status = Path(f"/proc/{process}/status")
        while True:
            try:
                text = status.read_text(encoding="ascii")
            except OSError:
                return
            if "RssAnon:" not in text:  # it has ended
                return
            looks.append(int(text.split("RssAnon:")[1].split()[0]) * 2**10)
            time.sleep(LOOK)

    threading.Thread(target=look, daemon=True).start()
    return looks


def plan_payments(owned):
    """The example's plan by the default method; without `person` if each row is of another one."""
    text = EXAMPLE.read_text(encoding="utf-8")
    for left_out in (METHOD,) if owned > 1 else (METHOD, PERSON):
        assert left_out in text
        text = text.replace(left_out, "")
    return text


def draw_hands(records, path):
    """Write drawn poker hands: suit and rank of each card, and the class of the hand."""
    drawn = tables.poker(records).codes
    frame = pl.DataFrame({str(place): codes for place, codes in enumerate(drawn)})
    frame.write_csv(path, include_header=False)


def draw_payments(records, owned, path):
    """Write drawn payments, each with a number of its own; the person's number is drawn, too."""
    frame = tables.read("openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz")
    rows = tables.payment_rows(frame, records)
    own = np.arange(records)
    of = own if owned == 1 else np.random.default_rng(1).integers(0, records // owned, records)
    with path.open("wb") as file:
        for first in range(0, records, AT_ONCE):
            part = {names: row[first : first + AT_ONCE] for names, row in rows.items()}
            drawn = {name: frame[name][row] for names, row in part.items() for name in names}
            others = {
                name: pl.Series(number[first : first + AT_ONCE] + 10_000_000)
                for name, number in (("Physician_Profile_ID", of), ("Record_ID", own))
            }
            rest = [name for name in frame.columns if name not in {*drawn, *others}]
            at = next(iter(part.values()))
            drawn |= {name: frame[name][at] for name in rest}
            whole = pl.DataFrame({**drawn, **others}).select(frame.columns)
            whole.write_csv(file, include_header=first == 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole")
    parser.add_argument("records", nargs="*", type=int, default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--table", choices=("payments", "poker"), default="payments")
    parser.add_argument("--owned", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], dest="sets")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--parquet", action="store_true")
    place.add_argument("--postgres", metavar="URI", default="")
    given = parser.parse_args()
    sizes = given.records or [100_000, 1_000_000, 10_000_000]
    main(given.table, sizes, given.owned, given.sets, given.parquet, given.postgres)
