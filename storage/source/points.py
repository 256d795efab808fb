"""Places: a column of boxes that is made of two columns of degrees while a source is read.

What stages, samples and series keep is the finest box.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import polars as pl

from anon_core.errors import InputError
from anon_core.specs.boxes import BOX, MOST, name_side, read_step
from crowdcover.storage.source.values import as_text, map_texts


@dataclass(frozen=True)
class Point:
    """A column of boxes: its name, the two columns that it is made of, and the boxes' width."""

    name: str
    latitude: str
    longitude: str
    step: float


def list_read_names(needed: Sequence[str], points: Sequence[Point]) -> list[str]:
    """The columns of a source that are needed, of points those they are made of."""
    made = {point.name: (point.latitude, point.longitude) for point in points}
    return list(dict.fromkeys(each for name in needed for each in made.get(name, (name,))))


def name_boxes(frame: pl.DataFrame, point: Point, missing: Sequence[str]) -> pl.Series:
    """The finest box of each row's place, see `name_box`; null where it has none.

    `frame` has the two columns of degrees, `missing` the texts that mean "not given".
    """
    step = read_step(point.step)
    named = zip((point.latitude, point.longitude), MOST, strict=True)
    latitude, longitude = (_name_sides(frame, name, step, most, missing) for name, most in named)
    before, between, _ = BOX.split("{}")
    return (before + latitude + between + longitude).alias(point.name)


def _name_sides(
    frame: pl.DataFrame, name: str, step: Decimal, most: int, missing: Sequence[str]
) -> pl.Series:
    absent = {"", *(text.strip() for text in missing)}
    # As in other columns of numbers, a marker such as -9 is -9.0, too.
    degrees = {number for text in absent if (number := _read_number(text)) is not None}

    def name_text(text: str | None) -> str | None:
        if text is None or (stripped := text.strip()) in absent:
            return None
        number = _read_number(stripped)
        if number in degrees:
            return None
        if number is None or abs(number) > most:
            return ""
        return name_side(number, step, most)

    def name_texts(texts: pl.Series) -> pl.Series:
        return pl.Series([name_text(text) for text in texts.to_list()], dtype=pl.String)

    # By place: polars takes a name such as ^a$ for a pattern.
    given = as_text(frame.to_series(frame.columns.index(name))).alias("")
    sides = map_texts(given, name_texts)
    if wrong := int((sides == "").sum()):
        raise InputError(
            f"column {name!r}: {wrong} of {len(sides)} values are no degrees from -{most} to "
            f"{most}; write them as 47.53, and name texts that mean 'not given' in source.missing"
        )
    return sides


def _read_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
