"""Sources, and the plans that are proposed for them."""

import csv
import datetime
import gzip
import io

import polars as pl

from crowdcover.kinds.table.starter.writing import propose_plan
from crowdcover.storage.source.sources import Source

MARK = "zq7"


def store(frame, folder, kind, name="people"):
    path = folder / f"{name}.{kind}"
    content = io.BytesIO()
    if kind.startswith("csv"):
        text = io.StringIO()
        csv.writer(text).writerows([frame.columns, *frame.rows()])
        content.write(text.getvalue().encode())
    else:
        (frame.write_parquet if kind == "parquet" else frame.write_ipc)(content)
    path.write_bytes(
        gzip.compress(content.getvalue()) if kind.endswith(".gz") else content.getvalue()
    )
    return path


def written(path, header=None, names=()):
    """The text of the starter plan of a file."""
    return propose_plan(Source(path=path), header, names)


def decided(text):
    """A plan as proposed, its marks taken out and its rows called people."""
    lines = [line for line in text.splitlines() if not line.startswith("decide = ")]
    return "\n".join(lines).replace("[privacy]\n", "[privacy]\nrows_are_people = true\n")


def people(n=40):
    return pl.DataFrame(
        {
            "patient.id": [f"{MARK}-{i}" for i in range(n)],
            "first name": [f"{MARK} {i % 7}" for i in range(n)],
            "Größe (cm)": [150.5 + i % 30 for i in range(n)],
            'the "job"': [f"{MARK} job {i % 4}" for i in range(n)],
            "visit": [
                str(datetime.date(2020, 1, 1) + datetime.timedelta(days=3 * i)) for i in range(n)
            ],
            "sex": ["fm"[i % 2] for i in range(n)],
            "wards": [i % 5 for i in range(n)],
            "serial": list(range(7000, 7000 + n)),
            "empty": [None] * n,
            "[x]": [f"{MARK}{i % 3}" if i % 5 else None for i in range(n)],
        }
    )
