"""The rules: a role for a column, from its name and its values.

Rules are tried in their order. A guess errs to the safe side: a column that may name someone is not
published, numbers that may be codes get no intervals, and what may be sensitive is asked about.
"""

from typing import NamedTuple

import polars as pl

from kinds.dates import ISO_DATE, has_short_year
from kinds.section import toml_text
from kinds.table.layout import KEY
from kinds.table.starter.contacts import CARD_NUMBERS, FEWEST, PHONES
from kinds.table.starter.moments import order_of
from kinds.table.starter.names import Name
from kinds.table.starter.values import FEW, SHARED_BY, Values
from storage.source.values import is_csv_type

MOST_LEVELS = 500  # past this a category is hardly ever shared by a crowd
LONG_TEXT = 60  # characters on average: free text
NEARLY_ALL = 0.8  # so many distinct texts a row name the row
GROUPS = 12  # up to so many numbered levels of an age or a time are coded groups
NUMERIC = 'kind = "numeric"'
FLAGS = 3  # values of a yes or no, one of them "not known"
OLDEST = 130
CENTURY = 1930  # 30 is 1930, 29 is 2029: more people were born since than before
BORN = (1850, 2100)
# The same for every table: edges from the data would say how old the oldest person is.
DECADES = "bins = {edges = [10, 20, 30, 40, 50, 60, 70, 80, 90]}"
DECADES_OF_BIRTH = (
    "bins = {edges = [1920, 1930, 1940, 1950, 1960, 1970, 1980, 1990, 2000, 2010, 2020]}"
)


class Proposal(NamedTuple):
    """A role with its reason, the settings that belong to it, and what is asked about it."""

    role: str
    reason: str
    settings: tuple[str, ...] = ()
    decide: tuple[str, ...] = ()


def propose_role(series: pl.Series, *, unit: bool = False) -> Proposal:
    """The role of one column; reasons hold counts, never values.

    `unit`: the values are numbers that were written with one, such as €.
    """
    name, values = Name(series.name), Values(series, unit=unit)
    if series.name in (KEY, ""):
        taken = "a release has a column of this name already"
        return Proposal("drop", taken if series.name else "a released column needs a name")
    for rule in RULES:
        if proposal := rule(name, values):
            return proposal
    return _propose_category(name, values)


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
        reason = f"{values.form}: {_describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",) if unsure else ())
    if _yes_or_no(name, values) or values.formats:
        return None
    counts = values.numbers is not None and name.is_counted and name.is_only_a_name
    if (name.identifies and not counts) or (name.only_who and values.distinct > FEW):
        unsure = values.distinct <= FEW < values.rows
        reason = f"names or numbers someone, by its name: {_describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",) if unsure else ())
    return _propose_for_names(name, values)


def _yes_or_no(name: Name, values: Values) -> bool:
    """`is_recid` tells of a new offence; with more values, `recid` is the number of a record."""
    return (name.flags or name.recidivism) and values.distinct <= FLAGS


def _propose_for_names(name: Name, values: Values) -> Proposal | None:
    """Names of people in cells, where the name of the column says nothing else."""
    if name.place or name.coded or name.sensitive:
        return None
    named = values.count_listed_names or (0 if name.known else values.full_names)
    if not named or (values.distinct <= FEW and not values.count_listed_names):
        return None
    reason = f"written like names of people: {named:,} of {_describe_counts(values)}"
    return Proposal("identifier", reason, decide=("role",))


def _propose_for_contacts(name: Name, values: Values) -> Proposal | None:
    """Texts that hold names or contacts: nobody may publish them."""
    if name.note and values.is_text and values.distinct > FEW:
        reason = (
            f"notes by its name, so free text{_describe_contacts(values)}: "
            f"{_describe_counts(values)}"
        )
        return Proposal("drop", reason)
    if not values.held:
        return None
    reason = f"texts{_describe_contacts(values)}: {_describe_counts(values)}"
    long = values.length > LONG_TEXT or values.distinct > MOST_LEVELS
    return Proposal("drop", reason, decide=() if long else ("role",))


def _describe_contacts(values: Values) -> str:
    found = ", ".join(f"{what} in {number:,}" for what, number in values.held)
    return f" with {found}" if found else ""


def _propose_for_weight(name: Name, values: Values) -> Proposal | None:
    if not name.weighs or values.numbers is None:
        return None
    reason = f"a sampling weight by its name: {_describe_counts(values)}"
    return Proposal("drop", reason)


def _propose_for_firm(name: Name, values: Values) -> Proposal | None:
    if not name.of_a_firm:
        return None
    return Proposal("drop", f"names or numbers a firm, no person: {_describe_counts(values)}")


def _propose_for_own_value(name: Name, values: Values) -> Proposal | None:
    """A text or number of its own for every row, or a short text for nearly every row."""
    if values.percentages or values.unit:
        return None
    whole = values.whole and not (name.measured or name.is_counted or name.sensitive)
    nearly = values.distinct > max(FEW, NEARLY_ALL * values.number)
    if not (values.is_unshared and whole) and (values.numbers is not None or not nearly):
        return None
    if values.numbers is None and values.length > LONG_TEXT:
        return Proposal(
            "drop", f"free text: {_describe_counts(values)}, {values.length:.0f} characters"
        )
    every = "every row" if values.is_unshared else "nearly every row"
    reason = f"a value of its own for {every}: {_describe_counts(values)}"
    return Proposal("identifier", reason, decide=("role",) if values.like_times else ())


# ---------------------------------------------------------------- dates, sensitive columns


def _propose_for_date(_name: Name, values: Values) -> Proposal | None:
    if not values.formats:
        return None
    form = values.formats[0]
    reason = f"dates: {_describe_counts(values)}"
    settings, decide = ['kind = "date"'], []
    if form not in ("", ISO_DATE):
        settings.append(f"format = {toml_text(form)}")
    short = has_short_year(form)  # then any of the three numbers may be the year
    if short or len({order_of(each) for each in values.formats}) > 1:
        decide.append("format")
    if short:
        reason = f"dates with years of two digits: {_describe_counts(values)}"
        settings.append(f"century = {CENTURY}")
        decide.append("century")
    if values.in_utc:
        reason = f"moments: {_describe_counts(values)}"
        settings.append('timezone = "UTC"')
        decide.append("timezone")
    return Proposal("quasi", reason, (*settings, 'bins = "deciles"'), tuple(decide))


def _propose_for_worded_time(name: Name, values: Values) -> Proposal | None:
    """Days, weeks and months in words, which a release takes for categories."""
    if not values.has_worded_times or name.identifies:
        return None
    reason = (
        f"times that no format reads; write 2024-01-31 to group them: {_describe_counts(values)}"
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
        reason = f"its name says a number of something about {topic}: {_describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",))
    if not numeric and (values.distinct > MOST_LEVELS or values.length > LONG_TEXT):
        return None
    reason = f"its name says {topic}: {_describe_counts(values)}"
    return Proposal("sensitive", reason, (NUMERIC,) if numeric else (), ("role",))


def _propose_for_money(name: Name, values: Values) -> Proposal | None:
    """Amounts as of money; a name that says another thing goes first."""
    if name.coded or name.measured or name.is_counted or not (number := values.round_amounts):
        return None
    reason = f"shaped like money: {number:,} of {values.rows:,} rows hold multiples of 100"
    return Proposal("sensitive", reason, (NUMERIC,), ("role",))


# ---------------------------------------------------------------- numbers


def _propose_for_ages(name: Name, values: Values) -> Proposal | None:
    """Ages and years of birth, in groups that people use."""
    if name.coded or not (name.age or name.birth) or _is_recoded(values):
        return None
    groups, what = (DECADES, "ages") if name.age else (DECADES_OF_BIRTH, "years of birth")
    low, high = (0, OLDEST) if name.age else BORN
    if not values.within(low, high) or (name.birth and not values.whole):
        return None
    return _propose_numeric(values, f"{what} by the name", groups=groups)


def _is_recoded(values: Values) -> bool:
    """Numbered groups, or numbers that a program gave in the order of the rows."""
    groups = values.is_gapless and values.distinct <= GROUPS
    return groups or (values.in_order_of_rows and not values.is_ascending)


def _propose_for_percentages(name: Name, values: Values) -> Proposal | None:
    """Percentages in whole numbers, or with their sign."""
    if values.percentages:
        return Proposal(
            "drop", f"percentages with a sign: {_describe_counts(values)}", decide=("role",)
        )
    spread = values.within(0, 100) and values.is_gapless and values.levels[-1] == 100
    if spread and not (name.measured or name.is_counted or name.coded):
        return _propose_numeric(values, "from 0 or 1 to 100, so perhaps percentages", "kind")
    return None


def _propose_for_unit(name: Name, values: Values) -> Proposal | None:
    if not values.unit or values.numbers is None or name.coded:
        return None
    return _propose_numeric(values, "numbers with a unit, so amounts")


def _propose_for_fractions(name: Name, values: Values) -> Proposal | None:
    if values.numbers is None or values.whole or name.coded:
        return None
    if name.position:
        return _propose_numeric(values, "a position, which may name a home", ask="role")
    return _propose_numeric(values, "with fractions, so amounts")


def _propose_for_codes(name: Name, values: Values) -> Proposal | None:
    """Whole numbers that stand for things: by their name, or numbered by a program."""
    if values.numbers is None:
        return None
    if name.coded and not name.is_counted:
        return _propose_category(name, values, "codes by the name")
    if values.distinct > GROUPS and _is_recoded(values):
        ask = ("kind",) if values.distinct > FEW else ()
        return _propose_category(name, values, "numbered in the order of the rows, so codes", ask)
    if name.measured and values.is_gapless and values.distinct <= GROUPS:
        return _propose_category(name, values, "groups with numbers by name and values")
    return None


def _propose_for_amounts(name: Name, values: Values) -> Proposal | None:
    """Whole numbers whose name tells that intervals make sense, and few of any name."""
    if values.numbers is None:
        return None
    if name.measured or name.is_counted:
        ask = "role" if name.of_a_body else ""
        return _propose_numeric(values, "amounts by the name", ask)
    if values.distinct <= FEW:
        return _propose_category(name, values, "few, so codes or counts")
    return _propose_numeric(values, "some negative") if values.negative else None


def _propose_by_shape(_name: Name, values: Values) -> Proposal | None:
    """Whole numbers that only their shape explains."""
    if values.numbers is None:
        return None
    if values.smooth and not (values.is_ascending and values.is_gapless):
        return _propose_numeric(
            values, "neighbours are about as frequent, so perhaps amounts", "kind"
        )
    if values.is_gapless:
        reason = f"numbered without a gap, perhaps people: {_describe_counts(values)}"
        return Proposal("identifier", reason, decide=("role",))
    return None


def _propose_for_unknown_numbers(name: Name, values: Values) -> Proposal | None:
    """Whole numbers that neither name nor shape explains."""
    if values.numbers is None:
        return None
    if values.distinct <= MOST_LEVELS and values.scarce < values.number / 2:
        return _propose_category(name, values, "with gaps, so perhaps codes", ("kind",))
    if values.long_tail:
        return _propose_numeric(values, "most small and some large, so perhaps amounts", "kind")
    reason = f"may number people or things: {_describe_counts(values)}"
    return Proposal("identifier", reason, decide=("role",))


def _propose_numeric(
    values: Values, what: str, ask: str = "", groups: str = 'bins = "deciles"'
) -> Proposal:
    settings = (NUMERIC, 'bins = "none"' if values.distinct <= FEW else groups)
    return Proposal("quasi", f"{what}: {_describe_counts(values)}", settings, (ask,) if ask else ())


# ---------------------------------------------------------------- categories


def _propose_category(
    name: Name, values: Values, what: str = "", decide: tuple[str, ...] = ()
) -> Proposal:
    what = f"{what}: " if what else "a place: " if name.place else ""
    long = values.numbers is None and values.length > LONG_TEXT
    if values.distinct > MOST_LEVELS:
        return Proposal("drop", f"{what}{_describe_counts(values)}, too many to share with a crowd")
    if values.distinct > FEW and values.scarce > values.number / (20 if long else 2):
        scarce = f"{values.scarce:,} rows share theirs with fewer than {SHARED_BY - 1} others"
        return Proposal("drop", f"{what}{_describe_counts(values)}; {scarce}")
    if not (name.known or name.place or decide) and (looks := _describe_suspicion(values)):
        what, decide = f"{what}{looks}: ", ("role",)
    kind = "binary" if values.distinct == 2 else "categorical"
    return Proposal("quasi", f"{what}{_describe_counts(values)}", (f'kind = "{kind}"',), decide)


def _describe_suspicion(values: Values) -> str:
    """Why categories may be names or numbers of people; empty if nothing says so."""
    if values.full_names:
        return "capital words, which may be names"
    if values.is_uncased:
        return "words of a script without capitals, which may be names"
    return "long numbers, which may be of people" if values.long_numbers else ""


def _describe_counts(values: Values) -> str:
    what = "values"
    if values.formats:
        what = "dates"
    elif values.numbers is not None:
        what = "whole numbers" if values.whole else "numbers"
    elif values.present.dtype == pl.String:
        what = "texts"
    return f"{values.distinct:,} distinct {what} in {values.number:,} rows"


RULES = (
    _propose_for_empty,
    _propose_for_identifier,
    _propose_for_weight,
    _propose_for_firm,
    _propose_for_date,
    _propose_for_worded_time,
    _propose_for_own_value,
    _propose_for_contacts,
    _propose_for_sensitive,
    _propose_for_money,
    _propose_for_percentages,
    _propose_for_ages,
    _propose_for_unit,
    _propose_for_fractions,
    _propose_for_codes,
    _propose_for_amounts,
    _propose_by_shape,
    _propose_for_unknown_numbers,
)
