"""Two columns of degrees as one place: a latitude alone puts neighbours of nobody into a group."""

from collections.abc import Mapping

import polars as pl

from crowdcover.kinds.section import toml_text
from crowdcover.kinds.table.plan.points import GRID
from crowdcover.kinds.table.starter.names import Name
from crowdcover.kinds.table.starter.proposal import Proposal
from crowdcover.kinds.table.starter.values import Values
from crowdcover.validations.recognition.words import load_words

_PLACE = "place"


def join_points(frame: pl.DataFrame, proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """The proposals with a place for each pair of a latitude and a longitude.

    Names tell the pair: `home_lat` and `home_lon` have one other word. The place stands behind it.
    """
    words = load_words()["columns"]
    latitudes = _find_degrees(frame, frozenset(words["latitude"]), 90)
    longitudes = _find_degrees(frame, frozenset(words["longitude"]), 180)
    joined = dict(proposals)
    for rest in latitudes.keys() & longitudes.keys():
        latitude, longitude = latitudes[rest], longitudes[rest]
        # A word such as `lon` may mean something else: degrees of one place are of one role.
        roles = {proposals[each].role for each in (latitude, longitude)}
        place = "_".join((*rest, _PLACE))
        if "identifier" in roles or place in proposals:
            continue
        one = {latitude: f"the latitude of {place}", longitude: f"the longitude of {place}"}
        joined |= {name: Proposal("drop", reason) for name, reason in one.items()}
        joined[place] = _propose_place(latitude, longitude)
    return _order_places(joined, proposals)


def _find_degrees(
    frame: pl.DataFrame, words: frozenset[str], most: int
) -> dict[tuple[str, ...], str]:
    """Columns of degrees by the other words of their names; none for words of two columns."""
    found: dict[tuple[str, ...], list[str]] = {}
    for column in frame:
        said = Name(column.name).words
        if len(words.intersection(said)) != 1:
            continue
        values = Values(column)
        if values.numbers is not None and not values.whole and values.within(-most, most):
            rest = tuple(word for word in said if word not in words)
            found.setdefault(rest, []).append(column.name)
    return {rest: names[0] for rest, names in found.items() if len(names) == 1}


def _propose_place(latitude: str, longitude: str) -> Proposal:
    widths = ", ".join(f"{width:g}" for width in GRID)
    return Proposal(
        "quasi",
        "a place, shown as boxes in which enough people live; it may name a home",
        (
            f"point = [{toml_text(latitude)}, {toml_text(longitude)}]",
            f"# hierarchy = {{grid = [{widths}]}}  # widths of the boxes, in degrees",
            "# floor = 500            # how many people must live in a box; else as many as k",
        ),
        ("role",),
    )


def _order_places(
    joined: Mapping[str, Proposal], proposals: Mapping[str, Proposal]
) -> dict[str, Proposal]:
    """Columns of the source in their order, then places in the order of their names."""
    made = sorted(joined.keys() - proposals.keys())
    return {name: joined[name] for name in (*proposals, *made)}
