"""How many rows of a column hold each kind of direct identifiers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.validations.recognition.addresses import (
    find_emails,
    find_handles,
    find_ips,
    find_macs,
    find_positions,
    find_urls,
)
from crowdcover.validations.recognition.cells import Cells
from crowdcover.validations.recognition.kinds import Kind
from crowdcover.validations.recognition.names import find_documents, find_names
from crowdcover.validations.recognition.numbers import find_numbers
from crowdcover.validations.recognition.phones import find_phones
from crowdcover.validations.recognition.prose import find_notes

Recogniser = Callable[[Cells], NDArray[np.bool_]]


def _find_devices(cells: Cells) -> NDArray[np.bool_]:
    return find_macs(cells) | find_numbers(cells, "device")


def _find_handles(cells: Cells) -> NDArray[np.bool_]:
    return find_handles(cells) | find_numbers(cells, "handle")


RECOGNISERS: Mapping[Kind, Recogniser] = {
    "email": find_emails,
    "phone": find_phones,
    "iban": partial(find_numbers, kind="iban"),
    "card": partial(find_numbers, kind="card"),
    "national": partial(find_numbers, kind="national"),
    "document": find_documents,
    "ip": find_ips,
    "device": _find_devices,
    "url": find_urls,
    "handle": _find_handles,
    "coordinates": find_positions,
    "name": find_names,
    "text": find_notes,
}


def count_rows(
    name: str, texts: pl.Series, rows: NDArray[np.int64], beside: Iterable[str] = ()
) -> dict[Kind, int]:
    """For each kind that a column holds: how many rows have a cell that looks like it.

    Parameters
    ----------
    name : str
        Of the column: it may say what its digits are.
    texts : String (n,)
        Distinct cells, none of them missing.
    rows : int64 (n,)
        How many rows have each of them.
    beside : iterable of str
        The names of all columns: `home_x` is one of two coordinates only where `home_y` stands.
    """
    return count_rows_of_columns([Cells.of(name, texts, rows, beside)])[0]


def count_rows_of_columns(columns: Sequence[Cells]) -> list[dict[Kind, int]]:
    """The same for several columns, in their order.

    Kind by kind: polars keeps the patterns of few kinds compiled, and the large ones take 20 ms.
    """
    counts: list[dict[Kind, int]] = [{} for _ in columns]
    for kind, recognise in RECOGNISERS.items():
        for cells, found in zip(columns, counts, strict=True):
            at = recognise(cells)
            if at.any():
                found[kind] = int(cells.rows[at].sum())
    return counts
