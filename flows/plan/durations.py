"""Durations as plans say them: 2h30m."""

import re
from datetime import timedelta

UNITED = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
LONGEST = timedelta(days=1000)


def duration(text: str) -> timedelta | None:
    """What such a text says; None if it says nothing, or nothing of use."""
    found = UNITED.fullmatch(text)
    return None if found is None else lasting(*found.groups())


def lasting(*parts: str | None) -> timedelta | None:
    """Days, hours, minutes and seconds, digits or nothing each; None if that is no time at all or too long."""
    if any(len(part or "") > 6 for part in parts):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in parts)
    whole = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return whole if timedelta() < whole < LONGEST else None
