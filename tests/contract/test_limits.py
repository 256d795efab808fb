"""A limit of [checks] is one declaration: section, schema, docs, starter, check, audit follow."""

import json
from pathlib import Path

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.cli import main
from crowdcover.flows.plan.plan import model_of
from crowdcover.flows.plan.schema import plan_schema
from crowdcover.flows.release import release
from crowdcover.kinds import KINDS, kind_called
from crowdcover.kinds.checks import (
    WIDE,
    LimitsSection,
    align_comment,
    declare_limit,
    propose_limits,
)
from crowdcover.kinds.judge.limits import StarterLine, read_number
from crowdcover.kinds.section import Share
from tests.contract.bag.kind import BagKind
from tests.support.commands import call

DOCS = Path(__file__).parents[2] / "docs/plan.md"


class ToyChecks(LimitsSection):
    """[checks] of a bag."""

    min_shown: Share | None = declare_limit(
        name="shown lines",
        sense="at least",
        expected="At least a share of {required} of the lines is shown.",
        shortfall="a share of {shown} of the lines is shown, below checks.{key} = {required}",
        numbers=read_number("utility", "shown", form=".2f"),
        description="the share of the lines that must be shown.",
        example="0.9",
        documented="that shows a smaller share of the lines",
        remedy="lower k",
        starter=StarterLine(1, "0.5", "half of the lines must be shown.\nRefused? Lower k"),
    )


def format_limit_rows(section):
    """The limits as rows of a table in the docs."""
    limits = section.list_limits().items()
    return [f"| `{key} = {limit.example}` | {limit.documented} |" for key, limit in limits]


def format_limit_lines(section):
    """The limits as commented lines of a plan in the docs."""
    return [
        align_comment(f"{key} = {limit.example}", limit.documented, WIDE)
        for key, limit in section.list_limits().items()
    ]


@pytest.fixture
def limited(bag, monkeypatch):
    """A plan of a bag with this value of the toy limit."""
    sections = {**BagKind.sections, "checks": (ToyChecks, ToyChecks())}
    monkeypatch.setattr(BagKind, "sections", sections)
    model_of.cache_clear()
    plain = bag.read_text()

    def stated(value):
        bag.write_text(f"{plain}[checks]\nmin_shown = {value}\n")
        return bag

    yield stated
    model_of.cache_clear()


def test_section_and_schema_have_it(limited, capsys):
    assert plan_schema("bag")["properties"]["checks"]["properties"] == {
        "min_shown": {
            "maximum": 1,
            "minimum": 0,
            "type": "number",
            "description": "the share of the lines that must be shown.",
        }
    }
    with pytest.raises(SystemExit) as ended:
        main(["release", str(limited(2))])
    assert ended.value.code == 2
    assert "checks.min_shown must be less than or equal to 1" in capsys.readouterr().err


def test_docs_and_starter_have_it():
    assert format_limit_rows(ToyChecks) == [
        "| `min_shown = 0.9` | that shows a smaller share of the lines |"
    ]
    (line,) = format_limit_lines(ToyChecks)
    assert line == "min_shown = 0.9                   # that shows a smaller share of the lines"
    assert propose_limits(ToyChecks, {}, "# More", 18) == (
        "min_shown = 0.5   # half of the lines must be shown.\n"
        "                  # Refused? Lower k\n"
        "# More"
    )


def test_check_and_audit_have_it(limited, capsys):
    refused = "a share of 0.50 of the lines is shown, below checks.min_shown = 0.99"
    with pytest.raises(GuaranteeError, match=f"^publication refused; {refused}; lower k; every"):
        release.fn(str(limited(0.99)))
    folder = Path(release.fn(str(limited(0.5))))
    (claim,) = json.loads((folder / "manifest.json").read_text())["checks"]
    assert claim == {"measure": "shown lines", "about": None, "required": 0.5, "found": 0.5}
    code, text, _ = call(capsys, "audit", folder, "--plan", limited(0.99))
    assert (code, refused in " ".join(text.split())) == (4, True)
    code, text, _ = call(capsys, "audit", folder, "--plan", limited(0.5))
    assert (code, "checks of the plan" in text) == (0, True)


@pytest.mark.parametrize("kind", list(KINDS))
def test_docs_state_the_limits_of_every_kind(kind):
    section = kind_called(kind).sections["checks"][0]
    lines = format_limit_rows(section) if kind == "table" else format_limit_lines(section)
    page = DOCS.read_text("utf-8").splitlines()
    assert [line for line in lines if line not in page] == []
