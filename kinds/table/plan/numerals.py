"""columns.<name>.decimal, thousands and strip: how the numbers of a column are written."""

from collections.abc import Mapping

from crowdcover.kinds.numerals import Numerals
from crowdcover.kinds.section import PlanError

NUMERAL_KEYS = ("decimal", "thousands", "strip")


def read_numerals(
    where: str, role: str, kind: str | None, signs: Mapping[str, str | None]
) -> Numerals | None:
    """How numbers are written, checked; None where the plan does not say it."""
    stated = next((key for key in NUMERAL_KEYS if signs[key] is not None), None)
    if stated is None:
        return None
    if kind != "numeric":
        raise PlanError(f"{where}.{stated} belongs to kind = 'numeric'")
    if role == "identifier":
        raise PlanError(
            f"{where}.{stated} belongs to numbers; identifiers are compared in one spelling, "
            "whatever signs stand between their digits; leave it out"
        )
    numerals = Numerals(
        decimal=signs["decimal"] or ".",
        thousands=signs["thousands"] or "",
        strip=signs["strip"] or "",
    )
    if numerals.decimal == numerals.thousands:
        raise PlanError(
            f"{where}.thousands is the sign before a fraction, too; state "
            f"{where}.decimal = '.' or ',', the other one"
        )
    if any(sign in "+-0123456789.,'" for sign in numerals.strip):
        raise PlanError(
            f"{where}.strip holds a digit or a sign of numbers; it must hold units only, "
            "such as '$%'"
        )
    return numerals
