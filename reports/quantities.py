"""Numbers and times as text; a missing number reads "not stated", never as a good value."""

import math
import numbers
import re
from datetime import UTC, datetime
from typing import Any, TypeGuard

from anon_core.errors import escape_unprintable

NOT_STATED = "not stated"
_SENTENCE_ENDS = re.compile(r"(?<=[.?]) (?=[A-Z0-9])")


def is_number(number: Any) -> TypeGuard[float]:
    """Whether something is a finite number."""
    return isinstance(number, numbers.Real) and math.isfinite(number)


def convert_to_float(number: Any) -> float:
    """A number as a float; nan where there is none."""
    return float(number) if is_number(number) else math.nan


def count(number: Any) -> str:
    """An integer with commas between thousands."""
    return f"{int(number):,}" if is_number(number) else NOT_STATED


def count_noun(number: Any, noun: str) -> str:
    """An integer with its noun, as `1 row` and `2 rows`."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def percent(share: Any) -> str:
    """A share in percent; only 1 reads 100 %, only 0 reads 0 %."""
    if not is_number(share):
        return NOT_STATED
    text = f"{100 * share:.1f} %"
    # Rounding must not turn few people into none, nor nearly all into all.
    if share > 0 and text == "0.0 %":
        return "under 0.1 %"
    return "over 99.9 %" if share < 1 and text == "100.0 %" else text


def one_in(chance: Any) -> str:
    """A chance as `1 in 12`, rounded up; in percent if it is 0, above 1/2 or missing."""
    if not is_number(chance) or not 0 < chance <= 0.5:
        return percent(chance)
    # People are rounded down, which never makes a chance look smaller. The addend undoes rounding:
    # 1 / (1 / 93) is below 93.
    people = 1 / chance + 1e-9
    return (
        f"1 in {math.floor(people):,}"
        if people >= 20 or people % 1 < 0.1
        else f"1 in {math.floor(people * 10) / 10}"
    )


def utility(share: Any) -> str:
    """A utility with three digits; 1.000 only if nothing is hidden."""
    if not is_number(share):
        return NOT_STATED
    # 0.9996 would read 1.000, as if nothing were hidden.
    return f"{min(share, 0.999) if share < 1 else share:.3f}"


def digits(number: Any) -> str:
    """A number that is neither a count nor a share."""
    return f"{number:.2f}" if is_number(number) else NOT_STATED


def points(change: Any) -> str:
    """A change of a share, in percentage points."""
    return f"{100 * change:.1f}" if is_number(change) else NOT_STATED


def count_share(share: float, records: int) -> int:
    """How many of these at most, where their share was published in thousandths, rounded up."""
    return round(share * 1000) * records // 1000  # in whole numbers: floats may end just below one


def seconds(duration: Any) -> str:
    """A duration as people write it."""
    if not is_number(duration):
        return NOT_STATED
    # Limits a little below 100 and 10: above them, rounding would show a digit too many.
    if duration < 99.5:
        return f"{duration:.2f} s" if duration < 9.95 else f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def size(number_of_bytes: Any) -> str:
    """Bytes in binary units."""
    if not is_number(number_of_bytes):
        return NOT_STATED
    amount, unit = float(number_of_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        # Not 1024: 1,000 to 1,023 would take four digits.
        if amount < 1000:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"


def moment(text: Any) -> str:
    """An ISO time in UTC, to the minute."""
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return NOT_STATED
    # A time without a zone is not called UTC: nobody stated it.
    if time.tzinfo is None:
        return f"{time:%Y-%m-%d %H:%M}"
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def printable(text: Any) -> str:
    """Text from outside, with escapes for signs that could rewrite a terminal or a page."""
    return escape_unprintable(str(text))


def take_first_sentence(text: str) -> str:
    """The first sentence of a text of several."""
    return _SENTENCE_ENDS.split(text, maxsplit=1)[0]
