"""Boxes of the earth: aligned squares of degrees in which points lie."""

import re
from decimal import Decimal

MOST = (90, 180)  # degrees of latitude and of longitude
_SIDE = r"(-?\d+(?:\.\d+)?) to -?\d+(?:\.\d+)?"
_BOX = re.compile(f"lat {_SIDE} lon {_SIDE}")
BOX = "lat {} lon {}"  # of its two sides


def name_side(degrees: Decimal, step: Decimal, most: int) -> str:
    """The interval of this width that holds a latitude or longitude: `47 to 48`.

    `step` divides `most`. A bound belongs to the interval above it, `most` to the last one.
    """
    whole, rest = divmod(degrees, step)
    place = min(whole - (rest < 0), most / step - 1)
    return f"{place * step + 0:f} to {(place + 1) * step + 0:f}"  # + 0: no -0


def name_box(corner: tuple[Decimal, Decimal], step: Decimal) -> str:
    """The box of this width that holds a latitude and a longitude: `lat 47 to 48 lon 11 to 12`."""
    return BOX.format(*(name_side(at, step, most) for at, most in zip(corner, MOST, strict=True)))


def find_corner(box: str, step: Decimal) -> tuple[Decimal, Decimal] | None:
    """The least latitude and longitude of a box of this width; None for other texts."""
    found = _BOX.fullmatch(box)
    if found is None:
        return None
    corner = Decimal(found[1]), Decimal(found[2])
    return corner if name_box(corner, step) == box else None


def read_step(step: float) -> Decimal:
    """A width in decimals, in which 0.3 is three times 0.1, with no zero at its end."""
    return Decimal(repr(step)).normalize()
