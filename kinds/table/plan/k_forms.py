"""The forms of privacy.k of a table: their keys, the types of these, their JSON Schema."""

from typing import Any

from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import K_FORMS, PlanError, Schema, table_schema

K_RULE = (
    "must be a whole number, {uniform = [lo, hi], seed = s}, {column = name} "
    "or {by = name, levels = {...}, default = number}"
)
K_KEYS: dict[str, tuple[type, str]] = {
    "column": (str, "the name of a column"),
    "by": (str, "the name of a column"),
    "levels": (dict, "a table of whole numbers"),
    "default": (int, "a whole number"),
    "optional": (list, "true, or a list of names of levels"),
    "uniform": (list, "[lowest, highest], two whole numbers"),
    "seed": (int, "a whole number"),
}
K_TYPES: dict[type, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    dict: {"type": "object", "additionalProperties": {"type": "integer"}},
    list: {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
}
OPTIONAL: Schema = {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]}


def _k_schema(key: str) -> Schema:
    """The JSON Schema of a key of privacy.k."""
    return OPTIONAL if key == "optional" else K_TYPES[K_KEYS[key][0]]


K_SCHEMA: Schema = {
    "anyOf": [
        {"type": "integer", "minimum": 1},
        *(
            table_schema({key: _k_schema(key) for key in (form, *keys)}, [form])
            for form, keys in K_FORMS.items()
            # K_FORMS has the forms of all kinds, also one that no table has.
            if form in K_KEYS
        ),
    ]
}


def require_k_type(key: str, value: Any) -> None:
    """Refuse an unknown key of privacy.k, or a value of another type."""
    if key not in K_KEYS:
        near = did_you_mean(key, K_KEYS)
        raise PlanError(f"unknown key privacy.k.{key}; allowed: {', '.join(K_KEYS)}{near}")
    wanted, description = K_KEYS[key]
    if key == "optional":
        listed = isinstance(value, list) and all(isinstance(name, str) for name in value)
        if not (listed or isinstance(value, bool)):
            raise PlanError(f"privacy.k.optional must be {description}")
        return
    numbers = value.values() if isinstance(value, dict) else value
    listed = isinstance(value, (dict, list))
    # Not isinstance: true and false are whole numbers to it.
    wrong = type(value) is not wanted
    wrong |= listed and any(type(number) is not int for number in numbers)
    if wrong or (key == "uniform" and len(value) != 2):
        raise PlanError(f"privacy.k.{key} must be {description}")
