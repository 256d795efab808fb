"""The rules: a role for a column, from its name and its values.

Rules are tried in their order. A guess errs to the safe side: a column that may name someone is not
published, numbers that may be codes get no intervals, and what may be sensitive is asked about.
"""

import polars as pl

from crowdcover.kinds.dates import ISO_DATE, has_short_year
from crowdcover.kinds.section import toml_text
from crowdcover.kinds.table.layout import KEY
from crowdcover.kinds.table.starter import number_rules
from crowdcover.kinds.table.starter.code_shapes import add_tree, propose_for_branches
from crowdcover.kinds.table.starter.contacts import CARD_NUMBERS, FEWEST, PHONES
from crowdcover.kinds.table.starter.moments import order_of
from crowdcover.kinds.table.starter.names import Name
from crowdcover.kinds.table.starter.proposal import (
    LONG_TEXT,
    MOST_LEVELS,
    NUMERIC,
    Proposal,
    build_category_proposal,
    describe_counts,
)
from crowdcover.kinds.table.starter.values import FEW, Values
from crowdcover.storage.source.values import is_csv_type

_NEARLY_ALL = 0.8  # so many distinct texts a row name the row
FLAGS = 3  # values of a yes or no, one of them "not known"
CALENDAR = (
    '# hierarchy = {calendar = ["month", "quarter", "year", "decade"]}  '
    "# in place of bins: cells are these"
)
CENTURY = 1930  # 30 is 1930, 29 is 2029: more people were born since than before


def propose_role(series: pl.Series, *, unit: bool = False) -> Proposal:
    """The role of one column; reasons hold counts, never values.

    `unit`: the values are numbers that were written with one, such as €.
    """
    name, values = Name(series.name), Values(series, unit=unit)
    if series.name in (KEY, ""):
        taken = "a release has a column of this name already"
        return Proposal("drop", taken if series.name else "a released column needs a name")
    for rule in _RULES:
        if proposal := rule(name, values):
            return add_tree(name, values, proposal)
    return add_tree(name, values, build_category_proposal(name, values))


def count_repeated_rows(series: pl.Series) -> int:
    """Rows that share their value with another row."""
    return int(Values(series).present.is_duplicated().sum())


# ---------------------------------------------------------------- nothing to publish


def _propose_for_empty(_name: Name, values: Values) -> Proposal | None:
    if values.number == 0:
        return Proposal("drop", f"no value in {values.rows:,} rows")
    if not is_csv_type(values.present.dtype):
        return Proposal("drop", "neither text nor number nor date")
    if values.distinct == 1 and values.number == values.rows:
        return Proposal("drop", f"one value in all {values.rows:,} rows tells nothing")
    return None


def _propose_for_identifier(name: Name, values: Values) -> Proposal | None:
    numbers = name.place or name.coded or name.measured or name.is_counted
    if values.form and not (values.form == PHONES and numbers and not name.identifies):
        # Some code of nine digits is a telephone number of some country, too.
        few = values.form == CARD_NUMBERS and values.distinct < FEWEST
        unsure = few or (values.form == PHONES and values.numbers is not None)
        unsure = unsure and not name.identifies
        reason = f"{values.form}: {describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",) if unsure else ())
    if _yes_or_no(name, values) or values.formats:
        return None
    counts = values.numbers is not None and name.is_counted and name.is_only_a_name
    if (name.identifies and not counts) or (name.only_who and values.distinct > FEW):
        # Few values for many rows: perhaps categories under a name that misleads.
        unsure = values.distinct <= FEW < values.rows
        reason = f"names or numbers someone, by its name: {describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",) if unsure else ())
    return _propose_for_names(name, values)


def _yes_or_no(name: Name, values: Values) -> bool:
    """`is_recid` tells of a new offence; with more values, `recid` is the number of a record."""
    return (name.flags or name.recidivism) and values.distinct <= FLAGS


def _propose_for_names(name: Name, values: Values) -> Proposal | None:
    """Names of people in cells, where the name of the column says nothing else."""
    if name.place or name.coded or name.sensitive:
        return None
    named = values.listed_names or (0 if name.known else values.full_names)
    if not named or (values.distinct <= FEW and not values.listed_names):
        return None
    reason = f"written like names of people: {named:,} of {describe_counts(values)}"
    return Proposal("identifier", reason, decide=("role",))


def _propose_for_contacts(name: Name, values: Values) -> Proposal | None:
    """Texts that hold names or contacts: nobody may publish them."""
    if name.note and values.is_text and values.distinct > FEW:
        reason = (
            f"notes by its name, so free text{_describe_contacts(values)}: "
            f"{describe_counts(values)}"
        )
        return Proposal("drop", reason)
    if not values.held:
        return None
    reason = f"texts{_describe_contacts(values)}: {describe_counts(values)}"
    long = values.length > LONG_TEXT or values.distinct > MOST_LEVELS
    return Proposal("drop", reason, decide=() if long else ("role",))


def _describe_contacts(values: Values) -> str:
    found = ", ".join(f"{what} in {number:,}" for what, number in values.held)
    return f" with {found}" if found else ""


def _propose_for_weight(name: Name, values: Values) -> Proposal | None:
    if not name.weighs or values.numbers is None:
        return None
    return number_rules.propose_for_weights(values)


def _propose_for_firm(name: Name, values: Values) -> Proposal | None:
    if not name.of_a_firm:
        return None
    return Proposal("drop", f"names or numbers a firm, no person: {describe_counts(values)}")


def _propose_for_own_value(name: Name, values: Values) -> Proposal | None:
    """A text or number of its own for every row, or a short text for nearly every row."""
    if values.percentages or values.unit:
        return None
    whole = values.whole and not (name.measured or name.is_counted or name.sensitive)
    nearly = values.distinct > max(FEW, _NEARLY_ALL * values.number)
    if not (values.is_unshared and whole) and (values.numbers is not None or not nearly):
        return None
    if values.numbers is None and values.length > LONG_TEXT:
        return Proposal(
            "drop", f"free text: {describe_counts(values)}, {values.length:.0f} characters"
        )
    every = "every row" if values.is_unshared else "nearly every row"
    reason = f"a value of its own for {every}: {describe_counts(values)}"
    return Proposal("identifier", reason, decide=("role",) if values.like_times else ())


# ---------------------------------------------------------------- dates, sensitive columns


def _propose_for_date(_name: Name, values: Values) -> Proposal | None:
    if not values.formats:
        return None
    form = values.formats[0]
    reason = f"dates: {describe_counts(values)}"
    settings, decide = ['kind = "date"'], []
    if form not in ("", ISO_DATE):
        settings.append(f"format = {toml_text(form)}")
    short = has_short_year(form)  # then any of the three numbers may be the year
    if short or len({order_of(each) for each in values.formats}) > 1:
        decide.append("format")
    if short:
        reason = f"dates with years of two digits: {describe_counts(values)}"
        settings.append(f"century = {CENTURY}")
        decide.append("century")
    if values.in_utc:
        reason = f"moments: {describe_counts(values)}"
        settings.append('timezone = "UTC"')
        decide.append("timezone")
    return Proposal("quasi", reason, (*settings, 'bins = "deciles"', CALENDAR), tuple(decide))


def _propose_for_worded_time(name: Name, values: Values) -> Proposal | None:
    """Days, weeks and months in words, which a release takes for categories."""
    if not values.has_worded_times or name.identifies:
        return None
    reason = (
        f"times that no format reads; write 2024-01-31 to group them: {describe_counts(values)}"
    )
    if values.scarce > values.number / 2 or values.distinct > MOST_LEVELS:
        return Proposal("drop", reason, decide=("role",))
    return Proposal("quasi", reason, ('kind = "categorical"',), ("role",))


def _propose_for_sensitive(name: Name, values: Values) -> Proposal | None:
    numeric = values.numbers is not None
    topic = name.sensitive or ("money" if name.is_money and numeric else "")
    if not topic:
        return None
    if name.numbers_something and not _yes_or_no(name, values):
        reason = f"its name says a number of something about {topic}: {describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",))
    if not numeric and (values.distinct > MOST_LEVELS or values.length > LONG_TEXT):
        return None
    reason = f"its name says {topic}: {describe_counts(values)}"
    return Proposal("sensitive", reason, (NUMERIC,) if numeric else (), ("role",))


def _propose_for_money(name: Name, values: Values) -> Proposal | None:
    """Amounts as of money; a name that says another thing goes first."""
    if name.coded or name.measured or name.is_counted or not (number := values.round_amounts):
        return None
    reason = f"shaped like money: {number:,} of {values.rows:,} rows hold multiples of 100"
    return Proposal("sensitive", reason, (NUMERIC,), ("role",))


_RULES = (
    _propose_for_empty,
    _propose_for_identifier,
    _propose_for_weight,
    _propose_for_firm,
    # Before values of their own: moments differ in nearly every row and are no identifiers.
    _propose_for_date,
    _propose_for_worded_time,
    _propose_for_own_value,
    _propose_for_contacts,
    _propose_for_sensitive,
    _propose_for_money,
    number_rules.propose_for_percentages,
    number_rules.propose_for_ages,
    number_rules.propose_for_unit,
    propose_for_branches,
    number_rules.propose_for_fractions,
    number_rules.propose_for_codes,
    number_rules.propose_for_amounts,
    number_rules.propose_by_shape,
    number_rules.propose_for_unknown_numbers,
)
