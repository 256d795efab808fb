"""The docs: short lines, links that lead somewhere, every command, key and exit code."""

import argparse
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.flows import cli
from crowdcover.flows.outcome import CODES
from crowdcover.flows.plan.about import AboutSection
from crowdcover.flows.plan.compute import ComputeSection
from crowdcover.flows.plan.publish.publishing import PublishSection
from crowdcover.kinds import KINDS, kind_called, words_called

ROOT = Path(__file__).parent.parent
LONGEST = 100
PAGES = sorted(
    [
        path
        for pattern in ("*.md", "docs/**/*.md", "deploy/**/*.md", "benchmarks/results/*.md")
        for path in ROOT.glob(pattern)
    ],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)
TEXTS = [
    *PAGES,
    *(
        path
        for folder in ("deploy", "examples", "docs/pictures")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".toml", ".sbatch", ".svg")
    ),
]
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)$", re.MULTILINE)
# Words of the project that no reader knows; plan keys, file names and decisions may have them.
OWN_WORDS = re.compile(
    r"\b(puzzlers?|passers?-by|witness\w*|pulled|held back|lots?|verdicts?|the house|whoever)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def named(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


def anchors(page):
    """What a heading of a page is called in a link, as GitHub names it."""
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


def keys(section):
    """The keys of a section of the plan, those of its tables included."""
    found = set()
    for name, field in section.model_fields.items():
        found.add(name)
        found |= {key for table in tables(field.annotation) for key in keys(table)}
    return found


def tables(annotation):
    """The sections that a key holds: one, a list or a table of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [table for part in get_args(annotation) for table in tables(part)]


def coded(page):
    """All that stands in code on a page: its fenced blocks and its inline code."""
    return "\n".join(CODE.findall((ROOT / page).read_text(encoding="utf-8")))


def commands():
    """Each command's parser by name."""
    (choices,) = (
        action
        for action in cli.build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return choices.choices


@named(TEXTS)
def test_no_line_is_long(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    long = [number for number, line in enumerate(lines, 1) if len(line) > LONGEST]
    assert not long


@named(PAGES)
def test_links_lead_somewhere(path):
    prose = CODE.sub("", path.read_text(encoding="utf-8"))
    for target in (first or second for first, second in LINK.findall(prose)):
        if target.startswith(("http://", "https://")):
            continue
        place, _, anchor = target.partition("#")
        page = (path.parent / place).resolve() if place else path
        assert page.is_file(), target
        assert page.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors(page), target


@named([path for path in PAGES if "decisions" not in path.parts and path.name != "CHANGELOG.md"])
def test_words_are_those_of_the_field(path):
    prose = CODE.sub("", path.read_text(encoding="utf-8"))
    assert OWN_WORDS.findall(prose) == []


def test_every_page_is_linked_from_another():
    linked = set()
    for path in PAGES:
        for first, second in LINK.findall(path.read_text(encoding="utf-8")):
            place = (first or second).partition("#")[0]
            if place and (page := (path.parent / place).resolve()) != path:
                linked.add(page)
    assert [path for path in PAGES if path not in linked] == [ROOT / "README.md"]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_key_of_the_plan_stands_on_its_page(kind):
    page = coded("docs/plan.md")
    expected = keys(AboutSection) | keys(ComputeSection) | keys(PublishSection)
    for annotation, _ in kind_called(kind).sections.values():
        for table in tables(annotation):
            expected |= keys(table)
    for maker in ANONYMIZERS.values():
        expected |= {field.name for field in fields(maker)}
    assert [key for key in sorted(expected) if not re.search(rf"\b{key}\b", page)] == []


@pytest.mark.parametrize("name", sorted(ANONYMIZERS))
def test_every_anonymizer_stands_on_the_plans_page(name):
    assert f'name = "{name}"' in coded("docs/plan.md")


FINDINGS = {name for kind in KINDS for name in words_called(kind).messages.name_entries("findings")}


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_every_finding_of_an_audit_stands_among_the_guarantees(name):
    rows = re.findall(
        r"^\| (.+?) \|", (ROOT / "docs/guarantees.md").read_text("utf-8"), re.MULTILINE
    )
    assert name in {finding.strip() for row in rows for finding in row.split(",")}


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_and_option_stands_on_its_page(name):
    page = coded("docs/commands.md")
    assert f"crowdcover {name} " in page or f"crowdcover {name}`" in page
    options = {option for action in commands()[name]._actions for option in action.option_strings}
    missing = {option for option in options if option.startswith("--") and option not in page}
    assert missing <= {"--help"}


@pytest.mark.parametrize(("package", "page"), [("crowdcover", "reader"), ("anon_core", "core")])
def test_every_public_name_stands_in_the_reference(package, page):
    text = (ROOT / f"docs/api/{page}.md").read_text(encoding="utf-8")
    listed = re.findall(rf"^::: {package}\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(import_module(package).__all__)


def test_every_exit_code_stands_on_its_page():
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    stated = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert {code for _, code in CODES} | {0, 1, 130} <= stated
