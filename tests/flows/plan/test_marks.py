"""Open questions of a plan: all refused at once, gone without a trace once they are decided."""

import json
import tomllib

import pytest

from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from tests.support.plans import PLAN, refused

OPEN = (
    PLAN.replace('role = "sensitive"', 'role = "sensitive"\ndecide = ["role"]')
    .replace('kind = "categorical"', 'kind = "categorical"\ndecide = ["kind", "role"]')
    .replace("k = 5", 'k = 5\ndecide = ["k", "people"]')
    .replace('path = "people.csv"', 'path = "people.csv"\nmissing = ["NA"]\ndecide = ["missing"]')
)


def of(text, tmp_path, *overrides):
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return ReleasePlan.load(path, overrides)


def test_all_open_questions_are_named_with_their_answers(tmp_path):
    words = refused("leaves 6 questions of `crowdcover plan` open", lambda: of(OPEN, tmp_path))
    for part in (
        "role of columns.job, columns.income: may others know",
        "kind of columns.job: are the numbers",
        "missing of source: do these texts",
        "k of privacy: among how many",
        "people of privacy: is each row one person",
        "then delete it from the key `decide`",
    ):
        assert part in words
    assert "\n" not in words
    assert "NA" not in words


def test_each_question_alone_is_refused(tmp_path):
    lines = OPEN.splitlines()
    marked = [number for number, line in enumerate(lines) if line.startswith("decide")]
    assert len(marked) == 4
    for kept in marked:
        one = [line for number, line in enumerate(lines) if number not in marked or number == kept]
        with pytest.raises(PlanError, match=r"leaves \d questions? of"):
            of("\n".join(one), tmp_path)


def test_a_decided_plan_is_the_plan_without_questions(tmp_path):
    plain = of(PLAN, tmp_path)
    decided = of(
        OPEN.replace('["kind", "role"]', "[]").replace('missing = ["NA"]\n', ""),
        tmp_path,
        "source.decide=[]",
        "columns.income.decide=[]",
        "privacy.decide=[]",
    )
    assert decided.sha256 == plain.sha256
    frozen = json.loads(decided.freeze(tmp_path / "vault" / "plans").read_text())
    assert '"decide"' not in json.dumps(frozen)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("columns.income", "columns.income.decide must name open questions of: role, kind, format"),
        ("privacy", "privacy.decide must name open questions of: k, people"),
        ("source", "source.decide must name open questions of: missing"),
    ],
)
def test_unknown_questions(tmp_path, section, words):
    with pytest.raises(PlanError, match=words):
        of(PLAN, tmp_path, f'{section}.decide=["zq7"]')


def test_names_are_written_as_in_the_plan(tmp_path):
    text = PLAN + '[columns."a b\\u001b"]\nrole = "drop"\ndecide = ["role"]\n'
    assert "a b\x1b" in tomllib.loads(text)["columns"]
    refused(r'role of columns."a b\\u001b"', lambda: of(text, tmp_path), "\x1b")
