"""A commented starter plan for a matrix: who is a user, what is an item."""

from collections.abc import Sequence

from crowdcover.kinds.checks import WIDE, propose_limits
from crowdcover.kinds.matrix.plan.checks import ChecksSection
from crowdcover.kinds.section import PlanError, begin_starter_plan, toml_text
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source

_TITLE = """\
# Starter plan for a sparse matrix, users x items. Take a mark out of `decide` once it is answered.
"""
_PRIVACY = """
[privacy]
k = 5                             # each released row equals at least k - 1 others
decide = ["k"]

# A patent may cover this method: US 11,727,147 B2 (2023), US 12,164,673 B2 (2024). Have a person
# look who knows patents before you use a release. This is no legal advice. docs/how-to/matrix.md
[anonymizer]
name = "smooth"

[checks]                          # a release beyond a limit is not published. Change a limit, or
                                  # delete its line, if you can say why
"""
MORE = "# More limits. Take the mark away to set one."
DRIFT = """\
# Defaults: a next source may differ so much (docs/how-to/drift.md).
# drift = {rows = 0.3, items = 0.3, entries = 0.3, utility = 0.05}
"""


def propose_plan(source: Source, header: bool | None, names: Sequence[str]) -> str:
    """Propose users and items for arrays, or for a source of two columns; refuse any other.

    A CSV file needs to be said to have a header or none: two columns of names tell nothing of that.
    """
    if source.holds_arrays:
        columns = f'layout = "csr"\n\n[columns]\n{_format_keyed_line()}'
        return f"{_begin_plan(source)}{columns}{_format_privacy()}"
    if source.has_option("separator") and header is None and not names:
        raise PlanError(
            "whether the first row holds names cannot be told from a list of edges; give --header, "
            "or --names USER,ITEM for a file without"
        )
    begin = _begin_plan(source)
    present = list(names) or Reading(source).header
    if isinstance(present, int) or len(present) != 2:
        number = present if isinstance(present, int) else len(present)
        raise PlanError(
            f"a starter plan of a matrix takes a source of two columns, users and items; this one "
            f"has {number}. Write [columns] user and item by hand, or use source.layout = 'table'"
        )
    user, item = map(toml_text, present)
    named = f"names = [{user}, {item}]\n" if names else ""
    bare = "header = false\n" if names else ""
    return (
        f'{begin}{bare}layout = "edges"                  # one row an entry\n'
        'repeated = "refuse"               # "merge" counts an entry once\n\n'
        f"[columns]\nuser = {user}                      # never published\nitem = {item}\n"
        f"{named}{_format_keyed_line()}{_format_privacy()}"
    )


def _begin_plan(source: Source) -> str:
    """The plan down to its file. A database has too many forms of addresses for a first plan."""
    if source.path is None:
        raise PlanError(
            "a starter plan of a matrix is made for files; for a database write source.uri and "
            "source.query by hand"
        )
    begin = begin_starter_plan(_TITLE, source, "matrix")
    return f"{begin}path = {toml_text(str(source.path))}\n"


def _format_privacy() -> str:
    return f"{_PRIVACY}{propose_limits(ChecksSection, {}, MORE, WIDE)}\n{DRIFT}"


def _format_keyed_line() -> str:
    return "# keyed = true                   # if items are people: they then get fresh keys\n"
