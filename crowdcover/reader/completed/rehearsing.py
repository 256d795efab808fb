"""A completed table, released again: how far masking moves what is estimated.

The completed table takes the place of the source, whose figures are then known. What a release of
it lacks of them is about what the release lacks of the source's: indirect inference.

C. Gouriéroux, A. Monfort and E. Renault, Indirect Inference, Journal of Applied Econometrics 8,
1993.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.columns import Column, find_levels, take_series

if TYPE_CHECKING:
    from anon_core.anonymizers.base import Anonymizer


def release_table_again(
    manifest: Mapping[str, Any],
    codebook: Mapping[str, Any],
    columns: Mapping[str, Column],
    table: pl.DataFrame,
    k: float,
    seed: int,
) -> pl.DataFrame:
    """Release a completed table by the method, the levels and the k of its release.

    Parameters
    ----------
    manifest, codebook : mapping
        As they were published.
    columns : mapping of str to Column
        Of the release, each but the key.
    table : polars.DataFrame
        One of its completed tables.
    k : float
        What each row demands, which counts as a person.
    seed : int
        The same seed gives the same rows.

    Returns
    -------
    polars.DataFrame
        As `table`, in another order, cells of quasi-identifiers as text.

    Raises
    ------
    ReleaseError
        It is a version of a series, or its method is not installed.
    """
    from anon_core.engines import local
    from anon_core.errors import AnonymityError
    from anon_core.seating.matching import random_matching
    from anon_core.tables.cells import write_cells
    from anon_core.tables.codebook import codebook_from_json
    from anon_core.tables.records import BinaryTable

    if "batches" in codebook:
        raise ReleaseError(
            "a version of a series cannot be rehearsed: its rows are of several releases; ask with "
            "rehearsals=0, and read the errors as too small"
        )
    book = codebook_from_json(codebook)
    names = [attribute.name for attribute in book.attributes]
    codes = np.stack([find_levels(columns[name], take_series(table, name)) for name in names])
    records = BinaryTable(
        book,
        codes.astype(np.int32),
        np.full(table.height, round(k), dtype=np.int32),
        np.array([a.hide_missing for a in book.attributes])[:, None] & (codes == 0),
    )
    generator = np.random.default_rng(seed)
    try:
        masked = local.run(
            _build_method(manifest), records, tie_order=generator.permutation(table.height)
        )
    except AnonymityError as error:
        raise ReleaseError(f"this release cannot be rehearsed: {error}") from None
    seat = random_matching(
        masked, lambda count: generator.integers(0, 2**32, count, dtype=np.uint32)
    )
    cells = write_cells(records, masked.hidden)
    return table[np.argsort(seat)].with_columns(
        pl.Series(name, texts.tolist(), dtype=pl.String) for name, texts in cells.items()
    )


def _build_method(manifest: Mapping[str, Any]) -> "Anonymizer[Any]":
    """The method that the manifest names, with its settings; else the default."""
    from anon_core.anonymizers import ANONYMIZERS

    settings = manifest.get("anonymizer", {"name": "local-search"})
    method = ANONYMIZERS.get(settings["name"])
    if method is None:
        raise ReleaseError(
            f"the method {settings['name']!r} of this release is not installed, so it cannot be "
            "rehearsed; install its package, or ask with rehearsals=0"
        )
    known: Any = fields(method)
    return method(
        **{each.name: settings[each.name] for each in known if each.init and each.name in settings}
    )
