"""The JSON Schema of plans, for editors: made from the sections and from the anonymizers' settings.

A schema says which keys there are, of which types, and which values they take. What depends on the
data or on two keys at once is refused by `crowdcover release` only.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from inspect import cleandoc
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from anon_core.anonymizers import ANONYMIZERS
from anon_core.plugins import warn_of_plugin
from crowdcover.flows.plan.plan import model_of
from crowdcover.kinds import kind_called, list_usable_kinds
from crowdcover.kinds.meanings import list_key_meanings
from crowdcover.kinds.section import PlanError, Schema, table_schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "A plan of crowdcover"
FILE = "crowdcover.{kind}.schema.json"  # beside a starter plan
LINE = "#:schema "  # of a plan; the path starts at the plan's folder
NULL = {"type": "null"}
NONE: Schema = {"not": {}}  # nothing keeps it


def plan_schema(kind: str | None = None) -> Schema:
    """The schema of the plans of one kind, or of all kinds: then `source.kind` decides."""
    head: Schema = {"$schema": DRAFT, "title": TITLE}
    if kind is not None:
        return head | _of_kind(kind)
    each = {name: _of_kind(name) for name in list_usable_kinds()}
    first, *others = each.values()
    keys = dict.fromkeys(key for whole in each.values() for key in whole["properties"])
    shared = {
        key: first["properties"][key]
        for key in keys
        if all(whole["properties"].get(key) == first["properties"].get(key) for whole in others)
    }
    # Editors complete keys outside of conditions only: those that differ by kind stand here open.
    base = {key: shared.get(key) or _build_open_table({}) for key in keys}
    base["source"] = _build_open_table({"kind": {"enum": list(each), "default": "table"}})
    own = {
        # NONE for a key that this kind lacks: `base` allows it, since another kind has it.
        name: {key: whole["properties"].get(key, NONE) for key in keys if key not in shared}
        for name, whole in each.items()
    }
    return head | {**first, "properties": base} | _choose_by_kind(own)


def format_schema(schema: Schema) -> str:
    """A schema as the text of its file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schema(path: Path, schema: Schema) -> None:
    """Write a schema to a file, in place of an older one of crowdcover.

    Refused: a file that is something else.
    """
    refuse_other(path)
    try:
        path.write_text(format_schema(schema), encoding="utf-8")
    except OSError:
        raise PlanError(f"{path} cannot be written; choose another --output") from None


def refuse_other(path: Path) -> None:
    """Refuse a file that is there and is no schema of crowdcover."""
    try:
        if not path.exists() or json.loads(path.read_text(encoding="utf-8"))["title"] == TITLE:
            return
    except (OSError, ValueError, KeyError, TypeError):
        pass  # it is something else
    raise PlanError(f"{path} is there and is no schema of crowdcover; choose another --output")


# ---------------------------------------------------------------- one kind


def _of_kind(name: str) -> Schema:
    """The schema of the plans of a kind."""
    kind = kind_called(name)
    whole = model_of(name).model_json_schema()
    schema: Schema = _resolve_references(whole, whole.get("$defs", {}))
    properties = schema["properties"]
    # Each overlay has keys of the plan; what is left out of it stands in the plan, so it is open.
    properties["env"] = {
        "type": "object",
        "additionalProperties": {"type": "object"},
        "description": "keys of one place, such as [env.prod.publish], that --env prod puts into "
        "the plan.",
    }
    if kind.versions is None:
        del properties["series"]
    source = properties["source"]
    source["properties"]["kind"] |= {"const": name}
    source["properties"]["kind"].pop("type", None)
    # A plan without source.kind is of a table, so the other kinds must be stated.
    if name != "table":
        source["properties"]["kind"].pop("default", None)
        source["required"] = ["kind", *source.get("required", [])]
    methods = {
        name: each
        for name, each in ANONYMIZERS.items()
        if each.kind == kind.name and _has_schema(name, each)
    }
    properties["anonymizer"] = {
        **_build_anonymizer_schema(methods, kind.anonymizer),
        "description": properties["anonymizer"]["description"],
    }
    return {key: schema[key] for key in ("type", "properties", "required", "additionalProperties")}


def _resolve_references(part: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema of pydantic with its references resolved, without titles; TOML has no null."""
    if isinstance(part, list):
        return [_resolve_references(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        named = definitions[part["$ref"].rpartition("/")[2]]
        # Keys beside a reference, such as a description, go before those of the definition.
        return _resolve_references(
            {**named, **{key: part[key] for key in part if key != "$ref"}}, definitions
        )
    plain: Schema = {}
    for key, value in part.items():
        # Its names are keys of plans, and no keyword of the schema: [about] has one called `title`.
        if key == "properties":
            plain[key] = {
                name: _resolve_references(each, definitions) for name, each in value.items()
            }
        elif key == "default" and (value is None or isinstance(value, dict)):
            continue  # that of a table says what its keys say
        elif key not in ("title", "$defs"):
            plain[key] = _resolve_references(value, definitions)
    if NULL in plain.get("anyOf", ()):
        left = [each for each in plain.pop("anyOf") if each != NULL]
        plain = ({"anyOf": left} if len(left) > 1 else dict(left[0])) | plain
    return plain


# ---------------------------------------------------------------- anonymizers


def _build_anonymizer_schema(methods: Mapping[str, Any], default: str) -> Schema:
    """[anonymizer]: the settings of the named method, or of the kind's own one."""
    lines = [f"{name}: {_read_first_line(method)}" for name, method in methods.items()]
    named = {"enum": list(methods), "default": default, "description": " ".join(lines)}
    schema: Schema = _build_open_table({"name": named})
    for name, method in methods.items():
        # `properties` holds where the key is absent: a plan without a name matches the default.
        required = [] if name == default else ["name"]
        schema = {
            "if": {"properties": {"name": {"const": name}}, "required": required},
            "then": table_schema(
                {"name": named} | _build_settings_schema(method), _list_required_settings(method)
            ),
            "else": schema,
        }
    # Editors explain and complete the keys that stand outside of conditions.
    return _build_open_table({"name": named} | _describe_all_settings(methods)) | {
        "allOf": [schema]
    }


def _has_schema(name: str, method: Any) -> bool:
    """Whether the settings of a method have types that editors can be told of."""
    try:
        _build_settings_schema(method)
    except Exception as error:
        if method.__module__.startswith("anon_core."):
            raise
        told = f"the settings of the method {name!r} have no schema ({type(error).__name__})"
        warn_of_plugin(told, method.__module__)
        return False
    return True


def _describe_all_settings(methods: Mapping[str, Any]) -> dict[str, Schema]:
    """The settings of all methods, each with its meaning in every method that has it."""
    meanings: dict[str, dict[str, str]] = {}
    for name, method in methods.items():
        for key, setting in _build_settings_schema(method).items():
            meanings.setdefault(key, {})[name] = setting["description"]
    return {
        key: {"description": " ".join(f"{name}: {text}" for name, text in texts.items())}
        for key, texts in meanings.items()
    }


def _build_settings_schema(method: Any) -> dict[str, Schema]:
    """The settings of an anonymizer."""
    hints, texts = get_type_hints(method), list_key_meanings(method, typed=True)
    settings = {}
    for field in fields(method):
        schema = _resolve_references(TypeAdapter(hints[field.name]).json_schema(), {})
        if field.default is not MISSING:
            schema["default"] = field.default
        settings[field.name] = schema | {"description": texts.get(field.name, "")}
    return settings


def _list_required_settings(method: Any) -> list[str]:
    def missing(field: Field[Any]) -> bool:
        return field.default is field.default_factory is MISSING

    return [field.name for field in fields(method) if missing(field)]


def _read_first_line(method: Any) -> str:
    return cleandoc(method.__doc__ or "").partition("\n")[0]


# ---------------------------------------------------------------- all kinds


def _build_open_table(properties: Schema) -> Schema:
    """A table with further keys, which another part of the schema states."""
    return {"type": "object", "properties": properties, "additionalProperties": True}


def _choose_by_kind(own: Mapping[str, Mapping[str, Schema]]) -> Schema:
    """What belongs to each kind, chosen by `source.kind`; the table's where it is not stated."""
    schema: Schema = {"properties": dict(own["table"])}
    for name, properties in own.items():
        if name != "table":
            # Without `required` the condition would hold for a plan that states no kind.
            stated = {"properties": {"kind": {"const": name}}, "required": ["kind"]}
            schema = {
                "if": {"properties": {"source": stated}, "required": ["source"]},
                "then": {"properties": dict(properties)},
                "else": schema,
            }
    return {"allOf": [schema]}
