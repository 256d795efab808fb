"""What a query selects, as one frame, by the driver of its database."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.places.outages import ask_again
from crowdcover.storage.source.answers import OF_SOURCE, kind_of, what_to_do
from crowdcover.storage.source.database_types import Answer
from crowdcover.storage.source.drivers import database_of
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.sources import require_distinct_names
from crowdcover.storage.source.values import FORM, as_text, call_or_refuse, unwrap_extension

AT_ONCE = 250_000  # rows whose text is held while they are hashed
UNREADABLE_TYPE = (
    "source.query selects a column of a type that cannot be read, such as an interval; "
    "cast it to text there"
)


class Answered(NamedTuple):
    """Rows of a query, the hash of their content, and types of columns that are not carried."""

    frame: pl.DataFrame
    sha256: str
    foreign: Mapping[str, str]


def query_database(uri: str, statement: str, form: int = FORM) -> Answered:
    """Run a query once; return its rows and the hash of their content.

    Rows are sorted by their texts, columns taken in the order of their names: the order in which a
    database answers decides nothing. The hash is the same for any order of rows and columns. In
    form 1 the columns are as drivers give them.
    """
    database = database_of(uri)
    assert database is not None, "plans with other addresses are refused"
    try:
        with silence_panics():
            answer = ask_again("the source", lambda: database.fetch(uri, statement, form))
    except InputError:
        raise
    except ImportError:
        words = (
            f"reading {database.title} needs the driver: pip install 'crowdcover[{database.extra}]'"
        )
    except pl.exceptions.PanicException:
        words = UNREADABLE_TYPE
    except Exception as error:
        # Drivers quote the URI, the query and cells: only what kind of error it is is named.
        words = (
            f"the database did not answer source.query ({kind_of(error)}); "
            f"{what_to_do(error, OF_SOURCE)}"
        )
    else:
        return _convert_answer(answer, form)
    raise InputError(words)


def _convert_answer(answer: Answer, form: int) -> Answered:
    """The rows with their columns as the database holds them; the hash is of what drivers give."""
    names = require_distinct_names(answer.frame.columns)
    frame = pl.DataFrame(
        {name: unwrap_extension(series) for name, series in zip(names, answer.frame, strict=True)}
    )
    # Hashed before the types are corrected: this hash names the runs that vaults hold.
    frame, sha256 = sort_and_hash_rows(frame)
    if form == 1:
        return Answered(frame, sha256, {})
    stated = dict(zip(answer.frame.columns, names, strict=True))
    types = {stated[name]: of for name, of in answer.types.items()}
    scales = {stated[name]: digits for name, digits in answer.scales.items()}
    carried, foreign = call_or_refuse(Answer(frame, types, scales).carried, UNREADABLE_TYPE)
    return Answered(carried, sha256, foreign)


def sort_and_hash_rows(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Rows in the order of their texts, and the hash of their content.

    Refused by name: columns with values that cannot be written as text.
    """
    columns = sorted(frame, key=lambda series: series.name)
    # Places as names: `sort` takes a name such as ^a$ for a pattern.
    texts = pl.DataFrame(
        {str(place): _convert_to_texts(series) for place, series in enumerate(columns)}
    )
    if frame.height:
        order = texts.with_row_index("row").sort(texts.columns)["row"]
        frame, texts = frame[order], texts[order]
    texts.columns = [series.name for series in columns]
    found = hashlib.sha256()
    for some in texts.iter_slices(AT_ONCE):
        found.update(some.write_ndjson().encode())
    return frame, found.hexdigest()


def _convert_to_texts(series: pl.Series) -> pl.Series:
    refusal = (
        f"source.query selects values of column {series.name!r} that cannot be read, such as "
        "infinite dates; cast them"
    )
    return call_or_refuse(lambda: as_text(series), refusal)
