"""Numbers that are written for people: how the starter plan proposes to read them."""

from collections.abc import Mapping

import polars as pl

from crowdcover.kinds.numerals import Guess, find_numerals, list_numeral_keys
from crowdcover.kinds.section import toml_text
from crowdcover.kinds.table.starter.limits import format_commented_line
from crowdcover.kinds.table.starter.proposal import NUMERIC, Proposal
from crowdcover.kinds.table.starter.values import Values


def read_numerals(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Guess]]:
    """The frame with numbers as programs write them, and how they are written, by column.

    Texts of another form, such as telephone numbers, stay as they are.
    """
    guesses, columns = {}, {}
    for series in frame:
        plain = series
        if series.dtype == pl.String and not Values(series).form:
            # The alias: polars takes a name such as ^a$ for a pattern.
            guess = find_numerals(series.alias(""))
            if guess is not None:
                guesses[series.name] = guess
                plain = guess.numerals.plain(series.alias(""))
        columns[series.name] = plain
    return pl.DataFrame(columns), guesses


def state_numerals(
    proposals: Mapping[str, Proposal], guesses: Mapping[str, Guess]
) -> dict[str, Proposal]:
    """The proposals, with keys that say how numbers are written where a column is numeric."""
    return {
        name: _add_numeral_keys(proposal, guesses[name]) if name in guesses else proposal
        for name, proposal in proposals.items()
    }


def _add_numeral_keys(proposal: Proposal, guess: Guess) -> Proposal:
    keys = list_numeral_keys(guess.numerals)
    if NUMERIC not in proposal.settings or not keys:
        return proposal
    first, *more = keys.items()
    reason = f"{guess.texts:,} texts are {guess.numerals.words}"
    lines = [
        format_commented_line(f"{first[0]} = {toml_text(first[1])}", reason),
        *(f"{key} = {toml_text(sign)}" for key, sign in more),
    ]
    decide = (*proposal.decide, "thousands") if guess.unsure else proposal.decide
    return proposal._replace(settings=(*proposal.settings, *lines), decide=decide)
