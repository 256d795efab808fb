"""Messages for plans that pydantic refuses: the key, what it must be, and what it was.

A value is told where no cell and no secret can be: keys that are `Unshown` stay so.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.plan.rules import PlanRules

MOST_SHOWN = 40  # characters of a value
_WORDS = re.compile("[A-Za-z _-]+")  # a password has other signs
_SECRET = ("credentials", "signing_key")  # a person may have put a secret itself there
_REQUIRED = {  # by pydantic's type of error: what a key must be
    "string_type": "be a text",
    "bool_type": "be true or false",
    "int_type": "be a whole number",
    "float_type": "be a number",
    "list_type": "be a list",
    "dict_type": "be a table",
    "model_type": "be a table",
    "too_short": "not be empty",
    "string_pattern_mismatch": "be letters, digits and these signs, which job scripts take "
    "unquoted: . _ - / : , = @ % +",
}


def explain_validation_error(
    error: ValidationError, model: type[BaseModel], rules: PlanRules
) -> str:
    """One message for all errors of a plan; what several keys have in common is said once."""
    lines = []
    for item in error.errors(include_url=False):
        location = [str(part) for part in item["loc"]]
        where = ".".join(location)
        if item["type"] == "extra_forbidden":
            allowed = _list_allowed_keys(item["loc"][:-1], model)
            near = did_you_mean(location[-1], allowed)
            lines.append(f"unknown key {where}; allowed: {', '.join(allowed)}{near}")
        elif item["type"] == "missing":
            lines.append(f"{where} is missing; it is required")
        elif (line := rules.explain(location)) is not None:
            lines.append(line)
        else:
            was = _describe_input(item) if _may_be_shown(item["loc"], model) else ""
            lines.append(f"{where} must {_describe_rule(item)}{was}")
    return "; ".join(dict.fromkeys(lines))


def describe_setting_rule(error: Exception) -> str:
    """What one setting of an anonymizer must be."""
    if not isinstance(error, ValidationError):
        return "be a text, a number, true or false, or a list of these"
    item = error.errors(include_url=False)[0]
    return _describe_rule(item) + _describe_input(item)


def _describe_rule(item: Any) -> str:
    message: str = item["msg"].removeprefix("Value error, must ").removeprefix("Input should ")
    return _REQUIRED.get(item["type"], message)


def _describe_input(item: Any) -> str:
    """What the value was, if it is short, and which of the possible texts is near it."""
    value = item["input"]
    if isinstance(value, (bool, int, float)):
        return f"; it is {json.dumps(value)}"
    if not isinstance(value, str) or len(value) > MOST_SHOWN or not _WORDS.fullmatch(value):
        return ""
    if item["type"] in ("model_type", "dict_type"):
        return ""  # a password may stand in it
    expected = str(item.get("ctx", {}).get("expected", ""))
    near = did_you_mean(value, re.findall("'([^']*)'", expected))
    return f"; it is {value!r}{near}"


def _may_be_shown(location: Sequence[int | str], model: type[BaseModel]) -> bool:
    """Whether no key on the way to a value may hold cells or a secret."""
    for part in location:
        if str(part).endswith(_SECRET):
            return False
        if part in model.model_fields:
            field = model.model_fields[str(part)]
            # An `Unshown` key has repr=False.
            if not field.repr:
                return False
            # Column names and list positions are no fields: the section stays the same there.
            model = _table_of(field.annotation) or model
    return True


def _list_allowed_keys(location: Sequence[int | str], model: type[BaseModel]) -> list[str]:
    """The keys of the table at this location; column names and list positions are skipped."""
    for part in location:
        if part in model.model_fields:
            model = _table_of(model.model_fields[str(part)].annotation) or model
    # What `crowdcover plan` writes comes last: nobody types it.
    return sorted(model.model_fields, key="decide".__eq__)


def _table_of(annotation: Any) -> type[BaseModel] | None:
    """The section class in a key's type: the type itself, or the items of a list or table."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((table for part in get_args(annotation) if (table := _table_of(part))), None)
