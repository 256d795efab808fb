"""What a value means, however it is written: 1, 1.0, "1" and numpy's 1 are one number."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Exponents have three digits at most: the exact fraction of 1e999999999 would fill the memory.
_NUMERAL = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)  # 01 is none
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?", re.ASCII)
TRUTHS = {text: truth for truth in (True, False) for text in (f"{truth}", f"{truth}".lower())}
TRUTHS |= {text.upper(): truth for text, truth in TRUTHS.items()}
Meaning = tuple[str, Any] | None


def unwrap_numpy_value(value: Any) -> Any:
    """A value of numpy as the value of Python that it is; floats stay as short as they are."""
    if isinstance(value, np.generic | np.ndarray) and not isinstance(value, np.floating):
        return value.item()
    return value


def find_meaning(value: Any) -> Meaning:
    """The number, moment, truth value or text that a value is; None for others, such as None.

    A float is the shortest text that is read as this float: 0.1 is "0.1".
    """
    value = unwrap_numpy_value(value)
    # Before numbers: in Python, True is a whole number.
    if isinstance(value, bool):
        return "truth", value
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, dt.date):
        midnight = dt.datetime.combine(value, dt.time())
        return "moment", value if isinstance(value, dt.datetime) else midnight
    exact = _number_of(value)
    return None if exact is None else ("number", exact)


def _number_of(value: Any) -> Fraction | None:
    if isinstance(value, float | np.floating):
        return Fraction(str(value)) if np.isfinite(value) else None
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    return Fraction(value) if isinstance(value, Rational) else None


def _of_text(text: str) -> Meaning:
    if _NUMERAL.fullmatch(text):
        return "number", Fraction(text)
    if text in TRUTHS:
        return "truth", TRUTHS[text]
    if MOMENT.fullmatch(text):
        try:
            return "moment", dt.datetime.fromisoformat(text)
        except ValueError:  # 2024-02-30
            pass
    return "text", text


def find_same_values(values: Sequence[Any], value: Any) -> NDArray[np.bool_]:
    """Which of the values are the one that is asked for, bool (values,).

    A text is a value of this very text, if there is one. Else what is asked for is all values of
    its meaning.
    """
    if isinstance(value, str) and (same := np.array([each == value for each in values])).any():
        return same
    wanted = find_meaning(value)
    if wanted is None:
        return np.zeros(len(values), dtype=np.bool_)
    meanings = [find_meaning(each) for each in values]
    if wanted[0] == "truth" and not any(each and each[0] == "truth" for each in meanings):
        wanted = "number", Fraction(wanted[1])  # of a column of 0 and 1
    return np.array([each == wanted for each in meanings], dtype=np.bool_)


def list_condition_values(condition: Any) -> list[Any]:
    """The values that a condition names: those of a collection, or the one that it is."""
    single = isinstance(condition, str | bytes) or not isinstance(condition, Iterable)
    if single or (isinstance(condition, np.ndarray) and not condition.ndim):
        return [condition]
    return list(condition)
