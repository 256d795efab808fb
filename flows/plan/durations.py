"""Durations in plans, such as 2h30m."""

import re
from datetime import timedelta

# Every part may be absent, so the empty text matches: its sum is 0, which is refused.
UNITED = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_LONGEST = timedelta(days=1000)


def parse_duration(text: str) -> timedelta | None:
    """Parse a duration; None if it is none, or one that `sum_duration_parts` refuses."""
    parts = UNITED.fullmatch(text)
    return None if parts is None else sum_duration_parts(*parts.groups())


def sum_duration_parts(*parts: str | None) -> timedelta | None:
    """Add up days, hours, minutes and seconds; None for 0, 1000 days or more, or over 6 digits."""
    # Longer numbers of days could overflow `timedelta`.
    if any(len(part or "") > 6 for part in parts):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in parts)
    whole = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return whole if timedelta() < whole < _LONGEST else None
