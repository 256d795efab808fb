"""The text of a starter plan. It holds no cell, but for markers of missing values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from anon_core.errors import InputError
from crowdcover.kinds.base import Listener, say_nothing
from crowdcover.kinds.columns import Column
from crowdcover.kinds.section import (
    ABOUT_TO_DECIDE,
    PlanError,
    propose_release_name,
    toml_key,
    toml_text,
)
from crowdcover.kinds.table.pipeline.naming import repeats_names
from crowdcover.kinds.table.pipeline.read import read_columns
from crowdcover.kinds.table.starter.header import Header, compare_first_row, separator_of
from crowdcover.kinds.table.starter.limits import (
    format_commented_line,
    most_uniform,
    offer_mixing,
    state_limits,
)
from crowdcover.kinds.table.starter.markers import Markers, clear_markers, find_markers
from crowdcover.kinds.table.starter.names import Name
from crowdcover.kinds.table.starter.numerals import read_numerals, state_numerals
from crowdcover.kinds.table.starter.points import join_points
from crowdcover.kinds.table.starter.proposal import Proposal
from crowdcover.kinds.table.starter.proposals import count_repeated_rows, propose_role
from crowdcover.kinds.table.starter.values import SHARED_BY, Values
from crowdcover.storage.source.column_names import require_distinct_names
from crowdcover.storage.source.drivers import split_file_address
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_leading_rows

COLUMNS_TOLD = 12  # of the columns
OPENING = """\
# A starter plan. Each column has a proposed role, with its reason. Look at all of them.
# identifier: names a person, never published
# quasi: others may know it, masked until everyone hides in a crowd
# sensitive: published as it is, must not be linked to anyone
# keep: published as it is   drop: left out
# `decide` marks what only you can decide. Delete each mark once you have: a plan with a mark left
# is refused."""
_ANSWERS = {
    "sensitive": "must nobody learn whose it is? If others know it: quasi",
    "identifier": "does it name or number people? If not: drop, or quasi",
    "quasi": "may others know it? If nobody may: sensitive, or drop",
    "kind": "amounts (numeric), codes (categorical), or of people (identifier)?",
    "drop": "if nobody is named in it and you need it: sensitive, quasi or keep",
    "format": "does the day, the month or the year stand first?",
    "century": "the first of the hundred years that two digits mean",
    "timezone": "where did people live these days?",
    "thousands": "does the sign stand between thousands, or before a fraction (decimal)?",
}
CLOSING = """\
# Left out, the method is the one that loses least. It takes
# [anonymizer]
# effort = 2               # 0 to 3: less is lost, in more time; 1 where it is left out
# exact = 0.1              # more cells stay exact, the others show more values

# The same people every month? Then make versions of one series (docs/how-to/series.md): leave
# [anonymizer] out, so that the default of a series is taken, and state
# [series]
# record = "..."           # the identifier that names a record in every version
# constant = []            # carried columns that never change for a person
# Decide before the first release. Who changes gets another row. A column that changes for
# everybody each month, such as a balance, gives everybody another row each month, and its
# values may show which rows are of one person: group it in the source, or drop it.

[publish]
path = "releases"
vault = "vault"            # secrets of the release: keep it, and keep it private
"""


def propose_plan(
    source: Source,
    header: bool | None = None,
    names: Sequence[str] = (),
    tell: Listener = say_nothing,
) -> str:
    """A plan that names every column of a source with a proposed role and the reason for it.

    `header` says whether the first row of a CSV file holds names, None: look. `names` are the names
    of all columns of a file without a header, in order. Refused: a file whose first row may be
    either. `tell` hears what is done.
    """
    tell("Reading the source")
    reading, names, note = _open_source(source, header, names)
    return propose_plan_of(reading, names, propose_release_name(source), note, tell)


def propose_plan_of(
    reading: Reading,
    names: Sequence[str],
    name: str,
    note: str = "",
    tell: Listener = say_nothing,
) -> str:
    """The same of an open source: `names` of all its columns, the release's `name`.

    `note` tells what was found of the first row.
    """
    whole = read_columns(reading, names, [Column(name=name, role="drop") for name in names])
    raw = whole.filter(~repeats_names(whole.to_dict()))
    tell(f"{raw.height:,} rows and {raw.width} columns; looking for texts that mean 'not given'")
    # Markers first: one "?" makes texts of a column of numbers, and no rule for numbers holds.
    markers = find_markers(raw)
    frame, guesses = read_numerals(clear_markers(raw, markers.missing))
    united = {name for name, guess in guesses.items() if guess.numerals.strip}
    proposed = {
        column.name: propose_role(column, unit=column.name in united)
        for column in _tell_columns(frame, tell)
    }
    proposals = join_points(frame, state_numerals(proposed, guesses))
    sensitive = most_uniform(frame, proposals)
    parts = [
        OPENING,
        f"name = {toml_text(name)}",
        "",
        *ABOUT_TO_DECIDE.splitlines(),
        *_format_source_section(reading.source, note, markers),
        *_describe_repeated_headers(whole.height - raw.height),
        "",
        *(line for name, each in proposals.items() for line in _format_column_section(name, each)),
        *_format_privacy_section(frame, proposals),
        *offer_mixing(sensitive),
        "",
        *state_limits(sensitive, proposals),
        "",
        CLOSING,
    ]
    return "\n".join(parts)


def _tell_columns(frame: pl.DataFrame, tell: Listener) -> Iterator[pl.Series]:
    """The columns; which one is looked at is told, of many columns of some."""
    step = -(-frame.width // COLUMNS_TOLD)
    for place, column in enumerate(frame):
        if place % step == 0:
            tell(f"Column {place + 1} of {frame.width}: which role it may have")
        yield column


def _open_source(
    source: Source, header: bool | None, names: Sequence[str]
) -> tuple[Reading, list[str], str]:
    """A reading of a source, the names of its columns, and a note on its first row.

    Names are made up where the first row holds cells: no plan may quote a cell.
    """
    note = ""
    headed = source.has_option("header")
    if not headed and (names or header is not None):
        raise PlanError(
            "--names, --header and --no-header are about CSV files and workbooks; leave them out"
        )
    if isinstance(source.path, Path) and headed and source.path.is_file():
        if source.has_option("separator"):
            source = replace(source, separator=separator_of(source))
        if header is None and not names:
            found = compare_first_row(source)
            header, note = (
                _has_header_row(found),
                f"{found.cells} of {found.fields} first fields look like cells",
            )
        named = bool(header) and not names
        source = replace(source, header=named)
        if named and (first := read_leading_rows(source, 1)):
            require_distinct_names(first[0])  # these are names, so that a refusal may tell them
    reading = Reading(source)
    present = reading.header
    if not isinstance(present, int):
        return reading, present, note
    if names and len(names) != present:
        raise PlanError(f"--names gives {len(names)} names, the source has {present} columns")
    made_up = [f"column_{number + 1}" for number in range(present)]
    return reading, require_distinct_names(names) if names else made_up, note


def _has_header_row(found: Header) -> bool:
    """Whether the first row is names; refused where nothing tells."""
    if found.named is None:
        raise InputError(
            f"none of the {found.fields} fields of the first row tells whether they are names of "
            "columns or someone's values; say --header or --no-header"
        )
    return found.named is not False


# ---------------------------------------------------------------- sections


def _describe_repeated_headers(number: int) -> list[str]:
    """What to do about a header that stands in the file more than once."""
    if not number:
        return []
    return [
        f"# {number:,} rows repeat the names of the columns. Proposals are made without them. Take",
        "# them out of the file: a release refuses them, each would count as a person.",
    ]


def _format_source_section(source: Source, note: str, markers: Markers) -> list[str]:
    lines = ["[source]"]
    if source.path is not None:
        resolved = source.path.resolve() if isinstance(source.path, Path) else source.path
        lines.append(f"path = {toml_text(str(resolved))}")
    else:
        lines += [*_format_uri(source.uri or ""), f"query = {toml_text(source.query or '')}"]
    if source.sheet is not None:
        lines.append(f"sheet = {toml_text(source.sheet)}")
    if source.separator != ",":
        lines.append(f"separator = {toml_text(source.separator)}")
    if not source.header:
        lines.append(
            format_commented_line(
                "header = false", f"{note}; --header: they are names" if note else "as you said"
            )
        )
    if not markers.missing:
        lines.append(
            format_commented_line(
                "missing = []", "texts that mean 'not given', beside the empty one"
            )
        )
    else:
        texts = ", ".join(map(toml_text, markers.missing))
        found = f"{markers.cells:,} cells in {markers.columns} columns"
        lines.append(
            format_commented_line(
                f"missing = [{texts}]", f"{found}; read as 'not given' everywhere"
            )
        )
        lines.append(format_commented_line('decide = ["missing"]', "do they mean 'not given'?"))
    for marker, columns in markers.doubted.items():
        lines.append(
            f"# {toml_text(marker)} may mean so, too, but it may be a value in {columns} columns."
        )
    return lines


def _format_uri(uri: str) -> list[str]:
    """The URI; paths in it are absolute."""
    if (local := split_file_address(uri)) is not None:
        start, path = local
        return [f"uri = {toml_text(start + str(Path(path).resolve()))}"]
    note = '# No password stands here: ~/.pgpass, PGPASSWORD, or credentials = "env:NAME".'
    return [note, f"uri = {toml_text(uri)}"]


def _format_column_section(name: str, proposal: Proposal) -> list[str]:
    asked = []
    if marks := proposal.decide:
        answers = [_ANSWERS[proposal.role if mark == "role" else mark] for mark in marks]
        written = ", ".join(f'"{mark}"' for mark in marks)
        asked = [format_commented_line(f"decide = [{written}]", " ".join(answers))]
    role = format_commented_line(f'role = "{proposal.role}"', proposal.reason)
    return [f"[columns.{toml_key(name)}]", *asked, role, *proposal.settings, ""]


def _format_privacy_section(frame: pl.DataFrame, proposals: Mapping[str, Proposal]) -> list[str]:
    """k, and who is protected: the two decisions that every plan leaves to a person."""
    return [
        "[privacy]",
        format_commented_line('decide = ["k", "people"]', "how large a crowd, and of whom?"),
        format_commented_line(
            f"k = {SHARED_BY}", "or {column = ...}, {uniform = [lo, hi], seed = ...},"
        ),
        format_commented_line("", "{by = ..., levels = {...}, default = ...}"),
        *_describe_people(frame, proposals),
    ]


def _describe_people(frame: pl.DataFrame, proposals: Mapping[str, Proposal]) -> list[str]:
    shared = {
        name: rows
        for name, proposal in proposals.items()
        if proposal.role == "identifier" and (rows := count_repeated_rows(frame[name]))
    }
    named = [name for name in shared if not Values(frame[name]).has_person_numbers]
    notes = _names_in_common(named, frame, shared)
    for name in named:
        del shared[name]
    if not shared:
        alone = "# No other value of an" if named else "# No value of an"
        return [*notes, f"{alone} identifier repeats. Each row counts as one person. Is that so?"]
    # A name of people first, then the order of the columns.
    name = min(shared, key=lambda name: (not Name(name).of_a_person, list(shared).index(name)))
    people = frame[name].alias("").drop_nulls().n_unique()
    return [
        f"# {shared[name]:,} of {frame.height:,} rows share the {toml_key(name)} of another row: "
        f"{people:,} distinct.",
        "# If it names people, rows of one person must not hide each other. Take one line:",
        *_list_person_options(name),
        *notes,
    ]


def _names_in_common(
    named: Sequence[str], frame: pl.DataFrame, shared: Mapping[str, int]
) -> list[str]:
    """Identifiers that are names: people share them, so they number nobody."""
    return [
        line
        for name in named
        for line in (
            f"# {shared[name]:,} of {frame.height:,} rows share the {toml_key(name)} of another "
            "row. A name numbers nobody:",
            f'# set role = "drop" for {toml_key(name)}, or state rows_are_people = true.',
        )
    ]


def _list_person_options(name: str) -> list[str]:
    return [
        f"# person = {toml_text(name)}    # crowds count people",
        "# rows_are_people = true    # the promise is about rows, not about people",
        f'# Or set role = "drop" for {toml_key(name)}, if it is no key of people: people share it.',
    ]
