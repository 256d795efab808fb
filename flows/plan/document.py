"""Read a plan as one document: TOML, the changes of --set, absolute paths."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crowdcover.flows.plan.named_overlay import Overlay
from crowdcover.flows.plan.overlays import take_overlay
from crowdcover.flows.plan.variables import expand_variables
from crowdcover.kinds import KINDS, rules_called
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import K_FORMS, PlanError, toml_text
from crowdcover.storage.places.place import STARTS, is_remote
from crowdcover.storage.source.drivers import split_file_address
from crowdcover.storage.vault.files import read_private

STATED_TWICE = re.compile("Cannot (overwrite|declare|mutate|redefine)|Duplicate")  # of tomllib
FROZEN_SUFFIX = ".json"  # how the names of frozen plans end
EACH = "*"  # any key
ON_DISK = (  # no addresses of object storage
    ("source", "vertices"),
    ("privacy", "k", "path"),
    ("purpose", "path"),
    ("columns", EACH, "hierarchy"),
    ("columns", EACH, "hierarchy", "path"),
    ("columns", EACH, "floor", "population"),
)
PATHS = (
    *ON_DISK,
    ("source", "path"),
    ("publish", "path"),
    ("publish", "vault"),
    ("publish", "reports"),
)
Replaces = Callable[[tuple[str, ...]], bool]


def read_document(path: Path, overrides: Sequence[str], text: str | None = None) -> dict[str, Any]:
    """Read the keys of a plan file, changed by overrides such as `key.path=value`.

    An `Overlay` among them chooses a part of [env], which changes the file before the others do.

    Variables of the environment are put in first, where they may stand: see `variables`. Paths in
    the file start at its folder, paths in overrides at the current folder. `text` is what the file
    will hold, of a plan that is not written yet.
    """
    document = _parse_plan(path, read_plan_text(path) if text is None else text)
    overlay = take_overlay(document, overrides)
    document = _merge_tables(document, overlay, _find_merge_rule(document))
    if path.suffix != FROZEN_SUFFIX:  # there they were put in when it was frozen
        expand_variables(document)
    publish = document.setdefault("publish", {})
    if isinstance(publish, dict):
        # Before paths are made absolute: these defaults start at the plan's folder, too.
        document["publish"] = {"path": "releases", "vault": "vault", **publish}
    _make_paths_absolute(document, path.resolve().parent)
    for override in overrides:
        if isinstance(override, Overlay):
            continue
        addition = _parse_override(override)
        expand_variables(addition)
        _make_paths_absolute(addition, Path.cwd())
        # The rule is that of the kind, which an override before this one may have changed.
        document = _merge_tables(document, addition, _find_merge_rule(document))
    return document


def read_plan_text(path: Path) -> str:
    """The text of a plan file, decrypted: frozen plans of an encrypted vault are encrypted."""
    try:
        return read_private(path).decode("utf-8-sig")
    except OSError:
        refusal = f"the plan {path} cannot be read; give the path of a TOML file"
    except UnicodeDecodeError:
        refusal = f"the plan {path} is not UTF-8 text; convert it"
    raise PlanError(refusal)


def _parse_plan(path: Path, text: str) -> dict[str, Any]:
    """Parse a TOML plan, or a frozen plan in JSON."""
    kind = "JSON" if path.suffix == FROZEN_SUFFIX else "TOML"
    try:
        document = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = re.search(r"line \d+,? column \d+", str(error))
        remedy = (
            "it states a key or a table twice; keep one of them"
            if STATED_TWICE.match(str(error))
            else "texts need quotes, tables [brackets]"
        )
        refusal = f"the plan {path} is not {kind}{f', see {place[0]}' if place else ''}; {remedy}"
    else:
        if isinstance(document, dict):
            return document
        refusal = f"the plan {path} is no table of keys; give a TOML file with [sections]"
    # After the handlers: a parser's error quotes the plan, and would be the context of this one.
    raise PlanError(refusal)


def _make_paths_absolute(document: dict[str, Any], folder: Path) -> None:
    """Make the paths of a plan absolute, so that it can run from any folder."""
    for place in PATHS:
        for found, table in _find_tables(document, place[:-1]):
            key, name = place[-1], ".".join((*found, place[-1]))
            if isinstance(table.get(key), str):
                if "://" in table[key]:
                    _refuse_address(name, place, table[key])
                    continue
                table[key] = os.path.abspath(folder / _from_home(name, Path(table[key])))
    source = document.get("source")
    uri = str(source.get("uri", "")) if isinstance(source, dict) else ""
    # SQLite and DuckDB: their address holds a path, which starts at the same folder.
    if isinstance(source, dict) and (local := split_file_address(uri)) is not None:
        start, path = local
        source["uri"] = start + os.path.abspath(folder / path)


def _find_tables(
    table: Any, place: Sequence[str], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The tables at a place, each with its own keys; EACH in the place is any key."""
    if not isinstance(table, dict):
        return
    if not place:
        yield before, table
        return
    for key in table if place[0] == EACH else place[:1]:
        yield from _find_tables(table.get(key), place[1:], (*before, key))


def _refuse_address(key: str, place: tuple[str, ...], address: str) -> None:
    """Refuse what is no address of object storage; an address of the web may be a secret."""
    if not is_remote(address):
        raise PlanError(
            f"{key} is an address that is not read; give a path, or an address that starts with "
            f"{' or '.join(STARTS)}. Download what lies in the web, and name the file"
        )
    if place in ON_DISK:
        raise PlanError(f"{key} must be a local file; copy the table to this machine")
    if not address.partition("://")[2].strip("/"):
        raise PlanError(f"{key} names no bucket; give s3://bucket/key")


def _from_home(key: str, path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise PlanError(
            f"{key} starts at the home folder of a user whom this machine does not know; "
            "give the full path"
        ) from None


def _parse_override(override: str) -> dict[str, Any]:
    """Parse one key and its value; a value that is not TOML is a text.

    Quoted parts of the key may contain '='.
    """
    if "=" not in override or override.lstrip().startswith("="):
        raise PlanError("--set takes key.path=value, e.g. --set privacy.k=10")
    for equals in (place for place, sign in enumerate(override) if sign == "="):
        key, value = override[:equals].strip(), override[equals + 1 :]
        # First as TOML, then as a text: so `--set name=people` needs no quotes.
        for text in (value, toml_text(value)):
            # A line end would let the value state further keys.
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


def _merge_tables(
    base: Mapping[str, Any],
    addition: Mapping[str, Any],
    replaces: Replaces,
    where: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The base with the keys of the addition; tables are merged unless `replaces` says not to."""
    result = dict(base)
    for key, value in addition.items():
        below, place = result.get(key), (*where, key)
        replaced = replaces(place) or (isinstance(value, dict) and _another_k(place, value))
        if isinstance(below, dict) and isinstance(value, dict) and not replaced:
            result[key] = _merge_tables(below, value, replaces, place)
        else:
            result[key] = value
    return result


def _another_k(place: tuple[str, ...], table: Mapping[str, Any]) -> bool:
    """Whether the table states a form of k; it replaces the old form of k."""
    return place == ("privacy", "k") and any(form in table for form in K_FORMS)


def _find_merge_rule(document: Mapping[str, Any]) -> Replaces:
    """The kind's rule: at which keys a table replaces another instead of being merged."""
    source = document.get("source")
    name = source.get("kind", "table") if isinstance(source, dict) else "table"
    known = isinstance(name, str) and name in KINDS
    return rules_called(name).replaces if known else lambda _: False


def find_kind_name(document: Mapping[str, Any]) -> str:
    """The kind that [source] names; "table" where it names none."""
    source = document.get("source")
    name = source.get("kind", "table") if isinstance(source, dict) else "table"
    if not isinstance(name, str) or name not in KINDS:
        near = did_you_mean(name, KINDS) if isinstance(name, str) else ""
        raise PlanError(f"source.kind is not known; allowed: {', '.join(KINDS)}{near}")
    return name
