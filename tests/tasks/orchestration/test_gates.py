"""A border's verdict is judged once, kept, shown, and not believed once it was changed."""

import json

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.storage.vault.files import file_sha256
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.run import Release, Stored
from crowdcover.storage.vault.vault import Vault
from crowdcover.storage.vault.verdicts import VERDICT
from crowdcover.tasks.orchestration import gates as verdicts
from crowdcover.tasks.orchestration.gates import (
    PAGE,
    close_gates,
    judge_stage,
    pass_gate,
    refusals_shown,
    write_verdicts_page,
)
from crowdcover.validations.verdicts import Outcome, Verdict

INPUTS = [Stored(path=None, sha256="ab" * 32)]


@pytest.fixture
def run(tmp_path):
    return Vault(tmp_path / "vault").run("3f" * 32, "5a" * 32)


def verdict(suite="ingested", *, success=True, words="No value is missing."):
    return Verdict(
        suite,
        (Outcome("expect_so", "age", success, words), Outcome("expect_rows", None, success=True)),
    )


class Border:
    """Judges as it is told, and counts how often."""

    def __init__(self, run, stage="validate-ingested", **said):
        self.run, self.stage, self.said, self.times = run, stage, said, 0

    def __call__(self, inputs=INPUTS):
        def judge(folder):
            self.times += 1
            (folder / "beside").write_text("x")
            return {"shape": [7], "fact": 1}, [verdict(**self.said)]

        return judge_stage(self.run, self.stage, inputs, judge)


def page(run):
    return (run.path / PAGE).read_text(encoding="utf-8")


def test_it_is_judged_once_and_shown(run):
    border = Border(run)
    stored, (said,) = border()
    assert said == verdict()
    assert stored.shape == (7,)
    assert stored.facts == {"fact": 1}
    assert border() == (stored, (said,))
    assert border.times == 1
    assert "No value is missing." in page(run)
    assert run.path.name in page(run)
    assert "3f" * 32 in page(run)


def test_only_the_owner_can_read_it(run):
    Border(run)()
    paths = [run.path / PAGE, run.path / "validate-ingested" / VERDICT]
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o600, 0o600]
    assert (run.path / PAGE).parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (run.path / PAGE).parent.iterdir()] == ["index.html"]


def test_other_inputs_are_judged_anew(run):
    border = Border(run)
    border()
    border([Stored(path=None, sha256="cd" * 32)])
    assert border.times == 2


def test_a_refusal_is_shown_and_judged_again(run):
    border = Border(run, success=False)
    _, (said,) = border()
    assert not said.success
    assert "Refused" in page(run)
    border()
    assert border.times == 2
    border.said = {"success": True}
    assert border()[1][0].success
    assert "Refused" not in page(run)
    border()
    assert border.times == 3


def test_what_stands_behind_a_refusal_is_of_another_day(run):
    Border(run)()
    Border(run, "check", suite="released", words="Every key is long.")()
    assert "Every key is long." in page(run)
    verdicts.drop_stage(run, "validate-ingested")
    Border(run, success=False)()
    assert "Every key is long." not in page(run)


def test_a_page_that_is_lost_is_written_again(run):
    border = Border(run)
    border()
    before = page(run)
    (run.path / PAGE).unlink()
    border()
    assert page(run) == before
    (run.path / PAGE).write_text("changed")
    write_verdicts_page(run)
    assert page(run) == before


def changed(text):
    document = json.loads(text)
    document["verdicts"][0]["outcomes"][0]["words"] = "Nothing is expected."
    return json.dumps(document)


def open_gate(text):
    return text.replace('"success": false', '"success": true')


@pytest.mark.parametrize("spoil", [changed, lambda text: text[:-9], lambda _: "[]", lambda _: ""])
def test_a_verdict_that_was_changed_is_not_believed(run, spoil):
    border = Border(run)
    border()
    path = run.path / "validate-ingested" / VERDICT
    path.write_text(spoil(path.read_text()))
    write_verdicts_page(run)
    assert "No value is missing." not in page(run)
    assert "Nothing is expected." not in page(run)
    assert "not reached" in page(run)
    _, (said,) = border()
    assert said == verdict()
    assert border.times == 2
    assert "No value is missing." in page(run)


def test_a_refusal_that_was_turned_round_is_judged_again(run):
    border = Border(run, success=False)
    border()
    path = run.path / "validate-ingested" / VERDICT
    path.write_text(open_gate(path.read_text()))
    _, (said,) = border()
    assert not said.success
    assert border.times == 2


def test_a_verdict_of_no_known_form_is_judged_again_even_if_its_hash_is_right(run):
    border = Border(run)
    border()
    folder = run.path / "validate-ingested"
    (folder / VERDICT).write_text("{}")
    record = json.loads((folder / "stage.json").read_text())
    record["files"][VERDICT] = file_sha256(folder / VERDICT)
    (folder / "stage.json").write_text(json.dumps(record))
    border()
    assert border.times == 2


def test_a_stage_of_before_there_were_verdicts_is_judged_again(run):
    run.once(
        "validate-ingested", INPUTS, lambda _: {"verdict": "ingested: 4 of 4 expectations hold"}
    )
    border = Border(run)
    border()
    assert border.times == 1


def test_a_judge_that_breaks_leaves_the_page_as_it_was(run):
    Border(run)()
    before = page(run)

    def break_down(_):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        judge_stage(run, "check", INPUTS, break_down)
    assert page(run) == before


def test_a_gate_says_what_was_found(run):
    with pass_gate(run, "beside") as found:
        found += ["two releases", "7 people"]
    assert "two releases; 7 people" in page(run)
    assert "Refused" not in page(run)


@pytest.mark.parametrize("passing", [pass_gate, refusals_shown])
@pytest.mark.parametrize("refusal", [GuaranteeError, SecondReleaseError])
def test_a_gate_that_stays_shut_says_so_in_the_words_of_the_refusal(run, passing, refusal):
    with pytest.raises(refusal, match="too many"), passing(run, "alike"):
        raise refusal("too many rows")
    assert "Refused: the source compared with the last release" in page(run)
    assert "too many rows" in page(run)
    close_gates(run)
    write_verdicts_page(run)
    assert "too many rows" not in page(run)


def test_whoever_waits_or_breaks_at_a_gate_was_not_refused(run):
    Border(run)()
    before = page(run)
    with pytest.raises(WaitingError), pass_gate(run, "approved"):
        raise WaitingError("waits")
    with refusals_shown(run, "approved"):
        pass
    assert page(run) == before


@pytest.mark.parametrize(
    "spoiled",
    ["", "[]", "{", '{"kept": {}}', '{"kept": {"verdict": {"suite": "kept", "outcomes": []}}}'],
)
def test_what_gates_said_is_not_read_if_it_is_not_whole(run, spoiled):
    (run.path / "gates.json").write_text(spoiled)
    Border(run)()
    assert "No value is missing." in page(run)
    assert "the last release" not in page(run)


def test_a_gate_is_passed_anew_each_time(run):
    with pytest.raises(GuaranteeError), pass_gate(run, "kept"):
        raise GuaranteeError("less")
    with pass_gate(run, "kept") as found:
        found.append("as much")
    assert "Refused" not in page(run)
    assert "as much" in page(run)


def test_the_page_names_the_releases_of_its_run(run, tmp_path):
    Border(run)()
    assert "nothing so far" in page(run)
    run.mark_released(Release(tmp_path / "people" / "v3", {}, published=True))
    write_verdicts_page(run)
    assert "people v3" in page(run)
