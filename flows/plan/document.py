"""A plan as one document: its TOML, the keys that --set changes, and absolute paths."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kinds import KINDS, kind_called
from kinds.section import K_FORMS, PlanError, toml_text
from tasks.source.sources import SQLITE

Replaces = Callable[[tuple[str, ...]], bool]


def read_document(path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    """The keys of a plan file, changed by key.path=value.

    Paths start at the file's folder, paths in overrides at the current one.
    """
    document = _parse(path)
    publish = document.setdefault("publish", {})
    if isinstance(publish, dict):
        document["publish"] = {"path": "releases", "vault": "vault", **publish}
    _anchor(document, path.resolve().parent)
    for override in overrides:
        addition = _parse_override(override)
        _anchor(addition, Path.cwd())
        document = _merged(document, addition, _replaces(document))
    return document


def _parse(path: Path) -> dict[str, Any]:
    """A TOML plan, or one that was frozen as JSON."""
    kind = "JSON" if path.suffix == ".json" else "TOML"
    try:
        text = path.read_text(encoding="utf-8-sig")
        document = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except OSError:
        refusal = f"the plan {path} cannot be read; give the path of a TOML file"
    except UnicodeDecodeError:
        refusal = f"the plan {path} is not UTF-8 text; convert it"
    except (ValueError, RecursionError) as error:
        place = re.search(r"line \d+,? column \d+", str(error))
        refusal = f"the plan {path} is not {kind}{f', see {place[0]}' if place else ''}; texts need quotes, tables [brackets]"
    else:
        if isinstance(document, dict):
            return document
        refusal = f"the plan {path} is no table of keys; give a TOML file"
    raise PlanError(refusal)


def _anchor(document: dict[str, Any], folder: Path) -> None:
    """Make the paths of a plan absolute, so that it means the same wherever it runs."""
    for section, key in (("source", "path"), ("publish", "path"), ("publish", "vault")):
        table = document.get(section)
        if isinstance(table, dict) and isinstance(table.get(key), str):
            table[key] = os.path.abspath(folder / _from_home(f"{section}.{key}", Path(table[key])))
    source = document.get("source")
    if isinstance(source, dict) and str(source.get("uri", "")).startswith(SQLITE):
        source["uri"] = SQLITE + os.path.abspath(folder / str(source["uri"]).removeprefix(SQLITE))


def _from_home(key: str, path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise PlanError(
            f"{key} starts at the home of a user that this machine does not know; "
            "write the path out"
        ) from None


def _parse_override(override: str) -> dict[str, Any]:
    """One key and its value, a text where it is no TOML. Quoted parts of the key may hold '='."""
    if "=" not in override or override.lstrip().startswith("="):
        raise PlanError("--set takes key.path=value, e.g. --set privacy.k=10")
    for equals in (place for place, sign in enumerate(override) if sign == "="):
        key, value = override[:equals].strip(), override[equals + 1 :]
        for text in (value, toml_text(value)):
            if "\n" in key + text:
                continue
            try:
                return tomllib.loads(f"{key} = {text}")
            except tomllib.TOMLDecodeError:
                continue
    raise PlanError(
        "--set: the key is not a TOML key path; "
        "quote parts with dots or blanks: columns.\"a b\".role='keep'"
    )


def _merged(
    base: Mapping[str, Any],
    addition: Mapping[str, Any],
    replaces: Replaces,
    where: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The base with the keys of the addition, tables merged unless one replaces the other."""
    result = dict(base)
    for key, value in addition.items():
        below, place = result.get(key), (*where, key)
        replaced = replaces(place) or (isinstance(value, dict) and _another_k(place, value))
        if isinstance(below, dict) and isinstance(value, dict) and not replaced:
            result[key] = _merged(below, value, replaces, place)
        else:
            result[key] = value
    return result


def _another_k(place: tuple[str, ...], table: Mapping[str, Any]) -> bool:
    """Whether this is another form of k: the forms exclude each other."""
    return place == ("privacy", "k") and any(form in table for form in K_FORMS)


def _replaces(document: Mapping[str, Any]) -> Replaces:
    """The places at which, for the document's kind, one table takes the place of another."""
    source = document.get("source")
    name = source.get("kind", "table") if isinstance(source, dict) else "table"
    known = isinstance(name, str) and name in KINDS
    return kind_called(name).replaces if known else lambda _: False
