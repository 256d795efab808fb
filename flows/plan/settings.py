"""The settings of [anonymizer]: their types, and to which method each belongs."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.flows.plan.refusals import describe_setting_rule
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import PlanError


def list_settings(name: str) -> set[str]:
    """The settings that an anonymizer has."""
    return {field.name for field in dataclasses.fields(ANONYMIZERS.settings_of(name))}


def list_field_metadata(anonymizer: Any, what: str) -> dict[str, Any]:
    """What the metadata of an anonymizer's settings say; see `Anonymizer`."""
    fields = dataclasses.fields(anonymizer)
    return {field.name: field.metadata[what] for field in fields if what in field.metadata}


def validate_settings(method: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an anonymizer, each checked against the type of its field."""
    hints = get_type_hints(method)
    fields = {field.name: field for field in dataclasses.fields(method)}
    checked = {}
    for key, value in settings.items():
        if key not in fields:
            allowed = ["name", *fields]
            raise PlanError(
                f"unknown key anonymizer.{key}; allowed: {', '.join(allowed)}"
                + did_you_mean(key, allowed)
            )
        try:
            # As JSON, since TOML has one kind of list and 2 is a number wherever 2.0 is.
            checked[key] = TypeAdapter(hints[key]).validate_json(json.dumps(value), strict=True)
        # TypeError: TOML has dates, which JSON lacks.
        except (ValidationError, TypeError) as error:
            refusal = f"anonymizer.{key} must {describe_setting_rule(error)}"
        else:
            continue
        raise PlanError(refusal)
    for name, field in fields.items():
        if name not in checked and field.default is field.default_factory is dataclasses.MISSING:
            raise PlanError(f"anonymizer.{name} is missing; it is required")
    return checked
