"""A commented starter plan for a graph: ends of an edge, and its probability."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crowdcover.kinds.checks import WIDE, propose_limits
from crowdcover.kinds.graph.plan.checks import ChecksSection
from crowdcover.kinds.section import PlanError, begin_starter_plan, toml_text
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_leading_rows

COMMENT = "#"
_SEPARATORS = ("\t", ",", ";", " ")
_NAMES = ("u", "v", "p")
_TITLE = """\
# Starter plan for an uncertain graph: edges with probabilities. Take a mark out of `decide` once it
# is answered.
"""
_PRIVACY = """
[privacy]
k = 20                            # each vertex hides among 20 by its degree
eps = 0.0                         # share of the vertices that may hide among fewer
knows = "ceiling"                 # or "mode" or "distribution"
decide = ["k", "knows"]

[checks]                          # a release beyond a limit is not published. Change a limit, or
                                  # delete its line, if you can say why
"""
_OFFERED = """\
# Defaults: a next graph may differ so much (docs/how-to/drift.md).
# drift = {vertices = 0.3, edges = 0.3, expected_edges = 0.3, utility = 0.05}
# More limits. Take the mark away to set one."""


def propose_plan(source: Source, header: bool | None, names: Sequence[str]) -> str:
    """Propose ends and probability for a source of two or three columns; refuse any other.

    A CSV file needs to be said to have a header or none: an edge of names tells nothing of that.
    """
    if source.path is None:
        raise PlanError(
            "a starter plan of a graph is made for files; for a database write source.uri and "
            "source.query by hand"
        )
    text = source.has_option("separator")
    if text and header is None and not names:
        raise PlanError(
            "whether the first row holds names cannot be told from a list of edges; give --header, "
            "or --names U,V or --names U,V,P for a file without"
        )
    where = f"path = {toml_text(str(source.path))}\n"
    if text:
        source, comment, separator = _detect_csv_form(source, named=not names)
        where += comment + separator
    present = list(names) or Reading(source).header
    columns = [] if isinstance(present, int) else present
    if len(columns) not in (2, 3):
        number = len(columns) or present
        raise PlanError(
            f"a starter plan of a graph takes a source of two columns, or three with a "
            f"probability; this one has {number}. Write [columns] u, v and p by hand"
        )
    begin = begin_starter_plan(_TITLE, source, "graph")
    keys = zip(_NAMES, columns, strict=False)
    lines = "".join(f"{key} = {toml_text(name)}\n" for key, name in keys)
    named = f"names = [{', '.join(map(toml_text, names))}]\n" if names else ""
    bare = "header = false\n" if names else ""
    return (
        f'{begin}{where}{bare}both_ways = "refuse"              # "mean", "max" or "union" of two '
        f"directions\n\n[columns]\n{lines}{named}{_PRIVACY}"
        f"{propose_limits(ChecksSection, {}, _OFFERED, WIDE)}\n"
    )


def _detect_csv_form(source: Source, *, named: bool) -> tuple[Source, str, str]:
    """How a CSV file is written: its comments and separator, and what the plan says of them.

    `named` says whether its first row holds names.
    """
    found = [
        _count_fields(replace(source, separator=sign, comment=COMMENT)) for sign in _SEPARATORS
    ]
    # Of equally many fields the first sign counts: names hold blanks more often than tabs.
    sign = _SEPARATORS[found.index(max(found))]
    plain = replace(source, separator=sign)
    commented = _count_fields(plain) != max(found)
    # A comment line may be as wide as the rows. Where names are wanted, such a line holds them.
    if not named and not commented and isinstance(source.path, Path):
        first, row = (
            read_leading_rows(each, 1) for each in (plain, replace(plain, comment=COMMENT))
        )
        commented = first != row
    option = f"separator = {toml_text(sign)}\n" if sign != "," else ""
    comment = COMMENT if commented else ""
    line = f'comment = "{COMMENT}"                     # lines that start so are left out\n'
    return replace(source, separator=sign, comment=comment), line if commented else "", option


def _count_fields(source: Source) -> int:
    """Number of fields of the first row."""
    present = Reading(source).header
    return present if isinstance(present, int) else len(present)
