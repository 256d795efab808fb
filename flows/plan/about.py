"""[about] of the plan: what a reader should know of the data; it is published as it stands."""

import re
from datetime import date, datetime
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from crowdcover.kinds.section import MarkedSection

_LONGEST = 300
_ID = r"\(*[A-Za-z0-9][A-Za-z0-9.+-]*\)*"
LICENCE = re.compile(rf"https?://[^\s\"<>\\^`{{|}}]+|{_ID}( (AND|OR|WITH) {_ID})*")


def _check_text(value: Any) -> Any:
    """A text in one line; a date of TOML as ISO text."""
    # A datetime is a date to Python, and would bring a time of day.
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and not (
        value.strip() and len(value) <= _LONGEST and value.isprintable()
    ):
        raise ValueError(
            f"must be a text in one line, of 1 to {_LONGEST} characters; it is published as it is"
        )
    return value


def _check_licence(value: Any) -> Any:
    """An SPDX expression such as CC-BY-4.0, or an address."""
    text = _check_text(value)
    if isinstance(text, str) and not LICENCE.fullmatch(text):
        raise ValueError(
            "must be an SPDX licence such as CC-BY-4.0, an expression of several, or an address "
            "that starts with https://"
        )
    return text


def _check_day(value: Any) -> Any:
    """A day as ISO text."""
    text = _check_text(value)
    if isinstance(text, str):
        try:
            # `fromisoformat` alone also reads 20271231 and 2027-W01-1.
            if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
                return date.fromisoformat(text).isoformat()
        except ValueError:
            pass  # such as February 30
        raise ValueError("must be a day such as 2027-12-31")
    return text


_Text = Annotated[
    str,
    BeforeValidator(
        _check_text,
        json_schema_input_type=Annotated[str, Field(min_length=1, max_length=_LONGEST)] | date,
    ),
]
Licence = Annotated[
    str,
    BeforeValidator(
        _check_licence,
        json_schema_input_type=Annotated[str, Field(min_length=1, max_length=_LONGEST)],
    ),
]
Day = Annotated[str, BeforeValidator(_check_day, json_schema_input_type=date)]


class AboutSection(MarkedSection):
    """[about]; every key is optional.

    Attributes
    ----------
    title : what catalogues call the release.
    publisher : who publishes it.
    licence : of the published rows, an SPDX name such as CC-BY-4.0 or an address.
    population : whom the source is about.
    as_of : date or period of the source.
    recipient : for whom the release is made; the page says that crowdcover cannot know who gets it.
    contact : who answers questions about the release.
    answers_until : the last day of that.
    """

    questions: ClassVar = {
        "title": "what is the release called?",
        "recipient": "who gets it?",
        "contact": "who answers questions about it?",
    }

    title: _Text | None = None
    publisher: _Text | None = None
    licence: Licence | None = None
    population: _Text | None = None
    as_of: _Text | None = None
    recipient: _Text | None = None
    contact: _Text | None = None
    answers_until: Day | None = None

    @property
    def claims(self) -> dict[str, dict[str, str]]:
        """The manifest's section; nothing if the plan states nothing."""
        stated = self.model_dump(exclude_none=True)
        return {"about": stated} if stated else {}
