"""Which public columns are flagged as direct identifiers, and what the search costs.

Every column of every table, hierarchy and list of edges in CROWDCOVER_DATA is searched as if it
were published; then tables of one size are searched, best of three.
"""

import gzip
import io
import os
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from crowdcover.validations.recognition.recognise import count_rows

DATA = Path(os.environ.get("CROWDCOVER_DATA", "../shared/data"))
OTHERS = (".json", ".md", ".mat", ".names")
PLAIN = ("adult.data", "adult.test", "poker", "tail", "hierarchy", "adult_", ".txt", ".inf")
NAMED = ("arx_adult", "adult_int")
SAID = (
    "pain", "left", "knee", "came", "again", "seen", "after", "treatment", "no", "further", "visit",
    "blood", "pressure", "high", "changed", "reports", "sleep", "poor", "since", "two", "weeks",
)  # fmt: skip
ROWS = 300_000


def tables() -> Iterator[tuple[Path, pl.DataFrame]]:
    """Each file as text, by its name in the folder; lines of comments are left out."""
    for path in sorted(DATA.rglob("*")):
        if not path.is_file() or path.suffix in OTHERS:
            continue
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
        lines = [line for line in raw.decode(errors="replace").splitlines() if line.strip()]
        lines = [line for line in lines if not line.startswith("#")]
        named = path.name.startswith(NAMED) or not any(part in path.name for part in PLAIN)
        quoted = path.name.startswith(("open", "google"))
        frame = pl.read_csv(
            io.StringIO("\n".join(lines)),
            separator=next((sign for sign in ";\t," if sign in lines[0]), " "),
            has_header=named,
            infer_schema=False,
            truncate_ragged_lines=True,
            quote_char='"' if quoted else None,
        )
        yield path.relative_to(DATA), frame


def found_in(name: str, column: pl.Series, beside: Sequence[str] = ()) -> dict[str, int]:
    cells = column.str.strip_chars().alias("text").drop_nulls()
    times = cells.filter(cells != "").value_counts(name="rows")
    rows = times["rows"].to_numpy().astype(np.int64)
    return {**count_rows(name, times["text"], rows, beside)}


def seconds(frame: pl.DataFrame) -> float:
    """Of the search of all columns, best of three."""
    took = []
    for _ in range(3):
        start = time.perf_counter()
        for name in frame.columns:
            found_in(name, frame[name])
        took.append(time.perf_counter() - start)
    return min(took)


def notes(rows: int) -> pl.DataFrame:
    """Free text of 6 to 19 words, half of it with a date, a time and a pressure."""
    rng = random.Random(5)
    texts = [" ".join(rng.choices(SAID, k=rng.randrange(6, 20))) for _ in range(rows)]
    measured = f"12.03.2014 at 10:10, RR {{}}/{90}"
    return pl.DataFrame(
        {"note": [f"{text} {measured.format(at % 90 + 90)}" if at % 2 else text
                  for at, text in enumerate(texts)]}
    )  # fmt: skip


def main() -> None:
    columns = files = 0
    for path, frame in tables():
        columns, files = columns + frame.width, files + 1
        for name in frame.columns:
            if found := found_in(name, frame[name], frame.columns):
                print(f"{path} {name}: {found}")
        if path.name == "arx_adult.csv.gz":
            print(f"{frame.height:,} x {frame.width}: {seconds(frame):.2f} s")
    print(f"{columns} columns of {files} files")
    print(f"{ROWS:,} x 1, free text: {seconds(notes(ROWS)):.1f} s")


if __name__ == "__main__":
    main()
