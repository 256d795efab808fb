"""What the page shows of a plan: its columns with their values, its questions, its settings."""

import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple, get_args

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.flows.page.edits import (
    PlanTable,
    list_columns,
    list_known_limits,
    list_marked_sections,
    list_stated_limits,
    list_stated_texts,
    name_answer,
    name_limit,
    name_missing_text,
    name_question,
    parse_plan,
)
from crowdcover.flows.page.source_values import SourceValues, ValueCounts
from crowdcover.flows.plan.about import AboutSection
from crowdcover.flows.plan.settings import list_settings
from crowdcover.kinds import KINDS, kind_called
from crowdcover.kinds.section import MarkedSection
from crowdcover.reports.messages import capitalize_first


class ColumnRow(NamedTuple):
    """A column of the plan as the page lists it."""

    name: str
    role: str
    kind: str
    reason: str
    examples: Sequence[str]
    counts: ValueCounts | None
    is_open: bool


class QuestionRow(NamedTuple):
    """An open question: its field, the section, and what is to decide.

    `answer` is the field of an answer in words, where there is one. `stated` is what the plan says
    so far; `texts` are the fields of texts that a person may take out of a list, with the texts.
    """

    field: str
    answer: str
    section: str
    mark: str
    words: str
    stated: str
    texts: tuple[tuple[str, str], ...]


class LimitRow(NamedTuple):
    """A limit of the section checks that is a number: its field, and what the plan says of it."""

    field: str
    key: str
    value: str
    words: str


class PlanView(NamedTuple):
    """The plan as its page shows it."""

    name: str
    kind: str
    columns: tuple[ColumnRow, ...]
    questions: tuple[QuestionRow, ...]
    k: str  # empty where it is no single number
    effort: str | None  # None where the method has none
    approval: str
    people: str
    person: str
    identifiers: tuple[str, ...]
    mix: str  # the column of which crowds shall show different values; empty: none
    sensitive: tuple[str, ...]
    notes: tuple[str, ...]  # what the starter found about people
    limits: tuple[LimitRow, ...]


def view_plan(text: str, values: SourceValues) -> PlanView:
    """What the page shows of a plan; refused where the text is no TOML."""
    document = parse_plan(text)
    source, privacy = _table_of(document, "source"), _table_of(document, "privacy")
    kind, k = str(source.get("kind", "table")), privacy.get("k")
    columns = tuple(
        ColumnRow(
            name,
            str(column["role"]),
            str(column.get("kind", "")),
            _read_comment(column, "role"),
            values.examples.get(name, ()),
            values.counts.get(name),
            "decide" in column,
        )
        for name, column in list_columns(document)
    )
    people = "rows_although" if privacy.get("rows_are_people") else "rows"
    return PlanView(
        name=str(document.get("name", "")),
        kind=kind,
        columns=columns,
        questions=tuple(_list_questions(document, kind)),
        k=str(k) if isinstance(k, int) else "",
        effort=_read_effort(document, kind),
        approval=str(_table_of(document, "publish").get("approval", "none")),
        people="person" if "person" in privacy else people,
        person=str(privacy.get("person", "")),
        identifiers=tuple(each.name for each in columns if each.role == "identifier"),
        mix=str(privacy.get("mix", "")),
        sensitive=tuple(each.name for each in columns if each.role == "sensitive"),
        notes=tuple(_list_own_comments(privacy)),
        limits=tuple(_list_column_limits(_table_of(document, "checks"), kind)),
    )


def _list_questions(document: PlanTable, kind: str) -> Iterator[QuestionRow]:
    """Every open question, in the words of the refusal and of the plan."""
    sections = {
        "about": (AboutSection, ...),
        **(kind_called(kind).sections if kind in KINDS else {}),
    }
    for place, section in list_marked_sections(document):
        words = _find_questions(sections.get(place[0], ((), None))[0])
        for mark in dict.fromkeys(map(str, section["decide"])):
            yield QuestionRow(
                name_question(place, mark),
                name_answer(place, mark),
                place[-1],
                mark,
                words.get(mark, ""),
                str(stated) if isinstance(stated := section.get(mark), (str, int)) else "",
                tuple(
                    (name_missing_text(text), text)
                    for text in list_stated_texts(place, section, mark)
                ),
            )


def _find_questions(annotation: Any) -> Mapping[str, str]:
    """The questions of the section that a type holds."""
    if isinstance(annotation, type) and issubclass(annotation, MarkedSection):
        return annotation.questions
    found: dict[str, str] = {}
    for each in get_args(annotation):
        found |= _find_questions(each)
    return found


def _list_column_limits(checks: PlanTable, kind: str) -> Iterator[LimitRow]:
    """The limits that are numbers, in the words of the reference."""
    known = list_known_limits(kind)
    for key in list_stated_limits(checks):
        words = known[key].description if key in known else ""
        remedy = f" Refused? {capitalize_first(known[key].remedy)}." if key in known else ""
        yield LimitRow(name_limit(key), key, str(checks[key]), f"{words}{remedy}")


def _read_effort(document: PlanTable, kind: str) -> str | None:
    """The effort that the plan states; None where its method has no such setting."""
    stated = _table_of(document, "anonymizer")
    default = kind_called(kind).anonymizer if kind in KINDS else ""
    name = str(stated.get("name", default))
    # The default of a series is another one.
    if name not in ANONYMIZERS or "effort" not in list_settings(name) or "series" in document:
        return None
    return str(stated.get("effort", ""))


def _table_of(document: Mapping[str, Any], key: str) -> PlanTable:
    section = document.get(key)
    return section if isinstance(section, MutableMapping) else {}


def _read_comment(section: PlanTable, key: str) -> str:
    """The comment on the line of a key."""
    trivia = getattr(section[key], "trivia", None)
    return "" if trivia is None else trivia.comment.removeprefix("#").strip()


def _list_own_comments(section: PlanTable) -> Iterator[str]:
    """The comments of a section that stand on lines of their own, from the first column on."""
    body = getattr(getattr(section, "value", None), "body", ())
    for key, item in body:
        trivia = None if key is not None else getattr(item, "_trivia", None)
        if trivia is not None and trivia.comment and not trivia.indent:
            words = trivia.comment.removeprefix("#").strip()
            if re.match(r"\w+ = ", words) is None:  # a key that may be taken
                yield words.removesuffix(" Take one line:")  # the page has fields for them
