"""How many rows of a column hold each kind of direct identifiers."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tasks.recognition.addresses import emails, handles, ips, macs, positions, urls
from tasks.recognition.cells import Cells
from tasks.recognition.kinds import Kind
from tasks.recognition.names import documents, names
from tasks.recognition.numbers import found_numbers
from tasks.recognition.phones import phones
from tasks.recognition.prose import notes

Recogniser = Callable[[Cells], NDArray[np.bool_]]


def _devices(cells: Cells) -> NDArray[np.bool_]:
    return macs(cells) | found_numbers(cells, "device")


def _handles(cells: Cells) -> NDArray[np.bool_]:
    return handles(cells) | found_numbers(cells, "handle")


RECOGNISERS: Mapping[Kind, Recogniser] = {
    "email": emails,
    "phone": phones,
    "iban": partial(found_numbers, kind="iban"),
    "card": partial(found_numbers, kind="card"),
    "national": partial(found_numbers, kind="national"),
    "document": documents,
    "ip": ips,
    "device": _devices,
    "url": urls,
    "handle": _handles,
    "coordinates": positions,
    "name": names,
    "text": notes,
}


def count_rows(name: str, texts: pl.Series, rows: NDArray[np.int64]) -> dict[Kind, int]:
    """For each kind that a column holds: how many rows have a cell that looks like it.

    Parameters
    ----------
    name : str
        Of the column: it may say what its digits are.
    texts : String (n,)
        Distinct cells, none of them missing.
    rows : int64 (n,)
        How many rows have each of them.
    """
    cells = Cells.of(name, texts, rows)
    found = {kind: recognise(cells) for kind, recognise in RECOGNISERS.items()}
    return {kind: int(rows[at].sum()) for kind, at in found.items() if at.any()}
