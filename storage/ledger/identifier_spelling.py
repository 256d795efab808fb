"""One spelling of each identifier, so that a person is one person however files spell them.

Two files seldom write the same identifiers alike: a spreadsheet makes 1000.0 of 1000, one database
writes UUIDs in capitals, one system composes accents that another leaves apart. Digests are made of
the spelling given here, so that ledger, series and requests to withdraw know a person again.
"""

import unicodedata
from decimal import Decimal
from functools import cache

import polars as pl

from crowdcover.storage.source.values import as_text

FORM = 2  # of spellings; digests of form 1 are of texts as files spell them
_DIGITS = r"^[1-9][0-9]*$"  # the one spelling of most numbers
_WHOLE = r"^[+-]?(?:0|[1-9][0-9]*)(?:[.,]0*)?$"  # leading zeros have a meaning
# Digits in groups of three. One point before three digits may stand before a fraction as well.
LEAD = r"^[+-]?[1-9][0-9]{0,2}"
_GROUPED = rf"{LEAD}(?:(?:,[0-9]{{3}})+|(?:['\u2019][0-9]{{3}})+|(?: [0-9]{{3}})+)(?:\.0*)?$"
POINTED = rf"{LEAD}(?:(?:\.[0-9]{{3}}){{2,}}(?:,0*)?|\.[0-9]{{3}},0*)$"
EITHER = rf"{LEAD}\.[0-9]{{3}}$"
POWER = r"^[+-]?[0-9](?:\.[0-9]+[eE]\+?|[eE]\+)[0-9]{1,3}$"  # as programs print large numbers
UUID = r"^(?:urn:uuid:)?\{?[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\}?$"
_PARTS = ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))  # of a UUID: where each begins, its length
# Blanks and hyphens that look like one, and marks that look like nothing.
BLANK = r"[\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+"
HYPHEN = r"[\u2010\u2011\u2212]"
_NOTHING = r"[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]"
AT_ONCE = 250_000  # identifiers whose folded texts are held
LAST_DIGIT = 0x1FFFF  # no script has digits beyond


def normalize_spelling(values: pl.Series) -> pl.Series:
    """Return identifiers as texts in their one spelling; null where there is none.

    Whole numbers have digits only, with a sign if negative: 1000, 1000.0, +1000, 1,000, 1e+03 and
    the number 1000 are one. Leading zeros stay: 007 is not 7. So does 1.000, which may mean 1 or
    1000. UUIDs are in small letters with dashes. Other texts are in Unicode's form NFKC with the
    digits 0 to 9, without blanks around them and with plain single blanks inside; their case stays.
    A text of blanks is none.
    """
    texts = spell_plainly(values).alias("")
    # Types without exponents and groups: the plain spelling is the only one.
    if values.dtype.is_numeric() and not values.dtype.is_float():
        return texts.alias(values.name)
    if texts.str.contains(_DIGITS).all():
        return texts.alias(values.name)
    given = _fold_characters(texts)
    text, small = pl.col("text"), pl.col("text").str.to_lowercase()
    grouped = text.str.replace_all(r"[,'\u2019 ]", "")
    pointed = text.str.replace_all(r"\.", "")
    bare = small.str.strip_prefix("urn:uuid:").str.replace_all(r"[{}-]", "")
    dashed = pl.concat_str(*(bare.str.slice(*part) for part in _PARTS), separator="-")
    spelt = (
        given.to_frame("text")
        .select(
            # First: 1.000 must stay as it is, and _WHOLE below would make 1 of it.
            pl.when(text.str.contains(EITHER))
            .then(text)
            .when(text.str.contains(_GROUPED))
            .then(_extract_digits(grouped))
            .when(text.str.contains(POINTED))
            .then(_extract_digits(pointed))
            .when(text.str.contains(_WHOLE))
            .then(_extract_digits(text))
            .when(small.str.contains(UUID))
            .then(dashed)
            .otherwise(text)
        )
        .to_series()
    )
    # Few cells have an exponent: only these go through Decimal, one by one.
    powers = spelt.str.contains(POWER).fill_null(value=False).arg_true()
    digits_of = [_write_out(power) for power in spelt.gather(powers).to_list()]
    whole = spelt.scatter(powers, digits_of)
    return whole.set(whole == "", None).alias(values.name)


def _fold_characters(texts: pl.Series) -> pl.Series:
    """Texts with one sign for each of those that look alike."""
    if texts.str.contains(r"[^\x00-\x7f]").any():
        texts = (
            texts.str.replace_all(_NOTHING, "")
            .str.normalize("NFKC")
            .str.replace_many(_digits_of_scripts())
            .str.replace_all(HYPHEN, "-")
        )
    return texts.str.replace_all(BLANK, " ").str.strip_chars()


@cache
def _digits_of_scripts() -> dict[str, str]:
    """The digits of other scripts, such as Arabic ones, and those of ASCII that they mean."""
    signs = map(chr, range(0x80, LAST_DIGIT))
    return {each: str(unicodedata.digit(each)) for each in signs if each.isdecimal()}


def _extract_digits(number: pl.Expr) -> pl.Expr:
    """The digits of whole numbers without zeros behind the point."""
    digits = number.str.strip_prefix("+").str.replace(r"[.,]0*$", "")
    return pl.when(digits == "-0").then(pl.lit("0")).otherwise(digits)


def _write_out(power: str) -> str:
    """A number with an exponent as its digits; as it is where it is no whole number."""
    number = Decimal(power)
    return str(int(number)) if number == int(number) else power


def spell_plainly(values: pl.Series) -> pl.Series:
    """Return values as texts, equal numbers alike: 5, 5.0, the decimal 5.00 and "5".

    Texts stay as they are: the spelling of form 1.
    """
    text = as_text(values.alias(""))  # polars takes a name such as ^a$ for a pattern
    if values.dtype.is_float() or values.dtype.is_decimal():
        text = text.str.replace(r"(\.\d*?)0+$", "${1}").str.strip_suffix(".")
    return text.alias(values.name)


def count_respelt(values: pl.Series) -> int:
    """Count the distinct identifiers that differ from another one in spelling only."""
    given = values.alias("")  # polars takes a name such as ^a$ for a pattern
    plain, normal = spell_plainly(given), normalize_spelling(given)
    if plain.equals(normal):
        return 0
    return plain.drop_nulls().n_unique() - normal.drop_nulls().n_unique()


def count_ambiguous(values: pl.Series) -> int:
    """Count the identifiers such as 1.000, which may mean 1 or 1000; numbers by type are clear."""
    if values.dtype != pl.String:
        return 0
    return sum(
        int(_fold_characters(values.alias("").slice(at, AT_ONCE)).str.contains(EITHER).sum())
        for at in range(0, len(values), AT_ONCE)
    )
