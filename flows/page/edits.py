"""Change a plan as the forms of the page say; a person's comments and the order of keys stay.

A key is written only where the form differs from the plan, so a form without a change leaves every
byte as it was.
"""

import json
import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Comment, Null, Table

from crowdcover.kinds import KINDS, kind_called
from crowdcover.kinds.checks import LimitsSection
from crowdcover.kinds.judge.limits import Limit
from crowdcover.kinds.section import PlanError, toml_key
from crowdcover.kinds.table.plan.columns import QUASI_ONLY
from crowdcover.kinds.table.plan.numerals import NUMERAL_KEYS

COLUMN_ROLES = ("identifier", "quasi", "sensitive", "keep", "drop")
KINDS_OF_VALUES = ("numeric", "date", "categorical", "binary")
UNPUBLISHED = ("identifier", "drop")
# Settings that belong to one kind of values: they go when the kind changes.
_OF_KIND = (
    *("bins", "encoding", "order", "optional", "range", "carry", "rare"),
    *("hierarchy", "cells", "floor"),
    *("format", "timezone", "century", "round", "step", "top", "bottom", *NUMERAL_KEYS),
)
_OF_PUBLISHED = ("step", "top", "bottom", "allow", "note", "public", *NUMERAL_KEYS)
_PEOPLE = ("rows", "rows_although", "person")  # of the question who one person is
# Sent with the texts: of a box that is not ticked, a form sends nothing.
MISSING_ASKED = "missing-asked"
PlanTable = MutableMapping[str, Any]


def parse_plan(text: str) -> PlanTable:
    """The plan as tables that keep their comments; refused where tomlkit cannot read it."""
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        line = getattr(error, "line", None)
    place = "" if line is None else f", see line {line}"
    # Behind the handler: a parser's error quotes the plan, and would be the context.
    raise PlanError(f"the plan is not TOML{place}; texts need quotes, tables [brackets]")


def apply_form(text: str, form: Mapping[str, str]) -> tuple[str, list[str]]:
    """The plan with what a form states, and the settings that went because of it."""
    document = parse_plan(text)
    gone = []
    for name, column in list_columns(document):
        gone += _change_column(name, column, form)
    _change_settings(document, form)
    _answer_questions(document, form)
    return tomlkit.dumps(document), gone


def list_columns(document: Mapping[str, Any]) -> Iterator[tuple[str, PlanTable]]:
    """The columns of a plan that have a role, by name."""
    columns = document.get("columns")
    for name, column in columns.items() if isinstance(columns, MutableMapping) else ():
        if isinstance(column, MutableMapping) and "role" in column:
            yield str(name), column


def list_marked_sections(
    document: Mapping[str, Any],
) -> Iterator[tuple[tuple[str, ...], PlanTable]]:
    """The sections with open questions, by their place."""
    places: list[tuple[tuple[str, ...], Any]] = [
        *(((key,), document.get(key)) for key in ("about", "source", "privacy")),
        *((("columns", name), column) for name, column in list_columns(document)),
    ]
    columns = document.get("columns")
    if isinstance(columns, MutableMapping) and isinstance(columns.get("decide"), list):
        places.append((("columns",), columns))
    for place, section in places:
        if isinstance(section, MutableMapping) and isinstance(section.get("decide"), list):
            yield place, section


def name_question(place: tuple[str, ...], mark: str) -> str:
    """The name of the field that says that a question is decided."""
    return f"decided:{json.dumps([*place, mark])}"


def name_answer(place: tuple[str, ...], mark: str) -> str:
    """The name of the field that takes the answer of a question in words; empty: there is none."""
    return f"about:{mark}" if place == ("about",) else ""


def list_stated_texts(place: tuple[str, ...], section: PlanTable, mark: str) -> list[str]:
    """The texts that may mean that a value is not given, where a question is about them."""
    stated = section.get("missing")
    is_asked = (place, mark) == (("source",), "missing") and isinstance(stated, list)
    return [str(text) for text in stated] if is_asked else []  # type: ignore[union-attr]


def name_missing_text(text: str) -> str:
    """The name of the field that keeps a text which means that a value is not given."""
    return f"missing:{text}"


def list_stated_limits(checks: PlanTable) -> list[str]:
    """The limits of the section that are numbers."""
    return [
        str(key)
        for key, value in checks.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    ]


def list_known_limits(kind: str) -> dict[str, Limit]:
    """The limits that the section of a kind has, by key; none of a kind that is not known."""
    section = kind_called(kind).sections["checks"][0] if kind in KINDS else LimitsSection
    known: dict[str, Limit] = section.list_limits()
    return known


def name_limit(key: str) -> str:
    """The name of the field of a limit."""
    return f"limit:{key}"


def _change_column(name: str, column: PlanTable, form: Mapping[str, str]) -> list[str]:
    """Set role and kind of a column; settings that no longer belong to it go."""
    role, kind = form.get(f"role:{name}", column["role"]), form.get(f"kind:{name}")
    if role not in COLUMN_ROLES or (kind and kind not in KINDS_OF_VALUES):
        raise PlanError(
            f"columns.{toml_key(name)}: the role must be one of {', '.join(COLUMN_ROLES)}, "
            f"the kind one of {', '.join(KINDS_OF_VALUES)}"
        )
    gone: set[str] = set()
    if role != column["role"]:
        gone |= set(QUASI_ONLY) if role != "quasi" else set()
        gone |= set(_OF_PUBLISHED) if role in UNPUBLISHED else set()
        column["role"] = role
    if kind is not None and kind != column.get("kind", ""):
        gone |= set(_OF_KIND)
        if kind:
            column["kind"] = kind
        else:
            del column["kind"]
    removed = [key for key in column if key in gone]
    for key in removed:
        del column[key]
    return [f"columns.{toml_key(name)}.{key}" for key in removed]


def _change_settings(document: PlanTable, form: Mapping[str, str]) -> None:
    """Set the main settings: name, k, effort, approval, and who one person is."""
    privacy = document.get("privacy")
    if (name := form.get("name")) is not None and name != document.get("name"):
        document["name"] = name
    if isinstance(privacy, MutableMapping) and isinstance(privacy.get("k"), int):
        k = form.get("k", str(privacy["k"])).strip()
        if not re.fullmatch(r"[0-9]{1,9}", k):
            raise PlanError("privacy.k must be a whole number, such as 5")
        if int(k) != privacy["k"]:
            privacy["k"] = int(k)
    if (effort := form.get("effort")) is not None:
        _set_effort(document, effort)
    if (approval := form.get("approval")) is not None:
        _set_approval(document, approval)
    if isinstance(privacy, MutableMapping) and form.get("people") in _PEOPLE:
        _set_people(privacy, form)
    if isinstance(privacy, MutableMapping) and (mix := form.get("mix")) is not None:
        _set_mix(privacy, mix)
    if isinstance(checks := document.get("checks"), MutableMapping):
        source = document.get("source")
        kind = source.get("kind", "table") if isinstance(source, MutableMapping) else ""
        _set_limits(checks, form, list_known_limits(str(kind)))


def _set_effort(document: PlanTable, effort: str) -> None:
    stated = document.get("anonymizer", {})
    if effort == str(stated.get("effort", "")):
        return
    if not effort:
        del stated["effort"]
    elif effort in ("0", "1", "2", "3"):
        document.setdefault("anonymizer", tomlkit.table())["effort"] = int(effort)
    else:
        raise PlanError("anonymizer.effort must be 0, 1, 2 or 3")


def _set_approval(document: PlanTable, approval: str) -> None:
    if approval not in ("none", "required"):
        raise PlanError("publish.approval must be 'none' or 'required'")
    if approval != document.get("publish", {}).get("approval", "none"):
        document.setdefault("publish", tomlkit.table())["approval"] = approval


def _set_people(privacy: PlanTable, form: Mapping[str, str]) -> None:
    """Set which rows are of one person."""
    people, person = form["people"], form.get("person", "")
    stated: dict[str, str | bool] = {"person": person} if people == "person" else {}
    if people == "rows_although":
        stated["rows_are_people"] = True
    for key in ("person", "rows_are_people"):
        if key in stated and privacy.get(key) != stated[key]:
            privacy[key] = stated[key]
        elif key not in stated and privacy.get(key):
            del privacy[key]


def _set_mix(privacy: PlanTable, mix: str) -> None:
    """Set the column of which crowds shall show different values; empty: none."""
    if mix and mix != privacy.get("mix"):
        privacy["mix"] = mix
    elif not mix and "mix" in privacy:
        del privacy["mix"]


def _set_limits(checks: PlanTable, form: Mapping[str, str], known: Mapping[str, Limit]) -> None:
    """Set the limits that are numbers; an empty field takes the limit out of the plan."""
    for key in list_stated_limits(checks):
        shown = str(checks[key])
        given = form.get(name_limit(key), shown).strip()
        if given == shown:  # such as 1e-05 or nan, which no field takes
            continue
        if given and not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,15})?", given):
            raise PlanError(f"checks.{key} must be a number, such as 0.05")
        if given and float(given) == checks[key]:
            continue
        starter = known[key].starter if key in known else None
        if starter is not None:
            _drop_comment(checks, key, f"{starter.comment}\n{starter.otherwise}".splitlines())
        if not given:
            del checks[key]
        else:
            checks[key] = float(given) if "." in given else int(given)


def _drop_comment(checks: PlanTable, key: str, lines: list[str]) -> None:
    """Drop the starter's comment of a limit: it is of the number that was there."""
    if not isinstance(checks, Table):  # inline tables have no comments
        return
    body = checks.value.body
    at = next(place for place, (name, _) in enumerate(body) if name is not None and name.key == key)
    own = body[at][1].trivia
    if own.comment[2:] in lines:
        own.comment_ws = own.comment = ""
    for place in range(at + 1, len(body)):
        item = body[place][1]
        if not isinstance(item, Comment) or item.trivia.comment[2:] not in lines:
            break
        body[place] = (None, Null())


def _answer_questions(document: PlanTable, form: Mapping[str, str]) -> None:
    """Take the marks away that a person has decided."""
    for place, section in list(list_marked_sections(document)):
        marks = section["decide"]
        if "missing" in marks and MISSING_ASKED in form:
            _keep_missing_texts(place, section, form)
        answers = {str(mark): form.get(name_answer(place, str(mark)), "").strip() for mark in marks}
        section.update({mark: answer for mark, answer in answers.items() if answer})
        left = [
            mark
            for mark in marks
            if not answers[str(mark)] and name_question(place, str(mark)) not in form
        ]
        if not left:
            del section["decide"]
        elif len(left) < len(marks):
            section["decide"] = left


def _keep_missing_texts(
    place: tuple[str, ...], section: PlanTable, form: Mapping[str, str]
) -> None:
    """Take texts out of the list that a person no longer ticks."""
    texts = list_stated_texts(place, section, "missing")
    kept = [text for text in texts if name_missing_text(text) in form]
    if kept != texts:
        section["missing"] = kept
