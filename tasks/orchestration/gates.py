"""The verdicts of a run's checks, and the page in the vault that shows them.

A check that is a stage keeps verdict.json. A gate is a check of more than the run: of other
releases, or of a person's approval. Every attempt repeats the gates; gates.json keeps their
verdicts.
The page is written from these files when one of them changes, before a refusal is raised.
The next run repeats a check that refused, because the cause may be gone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError
from crowdcover.kinds import kind_called, words_called
from crowdcover.reports import markdown
from crowdcover.reports.pages import verdicts as pages
from crowdcover.storage.vault.build import CODE_VERSION
from crowdcover.storage.vault.files import remove_folder, write_json, write_private
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.storage.vault.verdicts import (
    GATES_FILE,
    VERDICT,
    of_gates,
    of_stage,
    read_verdict_file,
)
from crowdcover.tasks.orchestration.events import key_of, plan_name
from crowdcover.tasks.orchestration.stage import show_in_prefect
from crowdcover.validations.verdicts import Outcome, Verdict, verdict_from_json, verdict_to_json

PAGE = "docs/index.html"
_GATES = {
    "alike": "The data differ from those of the last release by no more than checks.drift allows.",
    "kept": "The release keeps less than the last one by no more than checks.drift allows.",
    "beside": "No other release shows these people; or the intersection of all such releases "
    "leaves every crowd as large as demanded.",
    "approved": "A person has approved these files and these numbers.",
}

Judge = Callable[[Path], tuple[Mapping[str, Any], Sequence[Verdict]]]


def judge_stage(
    run: Run, stage: str, inputs: Sequence[Stored], judge: Judge
) -> tuple[Stored, tuple[Verdict, ...]]:
    """Judge a stage once, keep its verdicts, and show them. The caller refuses.

    `judge(folder)` returns facts and verdicts.
    """

    def make(folder: Path) -> Mapping[str, Any]:
        facts, verdicts = judge(folder)
        write_json(
            folder / VERDICT,
            {**_build_origin(), "verdicts": [verdict_to_json(verdict) for verdict in verdicts]},
        )
        return facts

    found = read_verdict_file(run.path / stage)
    # `once` would keep a refusal for ever, also where its cause is gone.
    if found is None or not all(verdict.success for verdict in found[1]):
        drop_stage(run, stage)
    # Read back, since the verdicts may be those that an earlier run stored.
    stored = run.once(stage, inputs, make)
    found = read_verdict_file(stored.path)
    assert found is not None
    write_verdicts_page(run)
    documents, words = found[0]["verdicts"], words_called(run.kind)
    show_in_prefect(
        key_of("verdict", plan_name(), stage),
        markdown.render_check(documents, words),
        markdown.verdict_titles(documents, words),
    )
    return stored, found[1]


@contextmanager
def pass_gate(run: Run, name: str) -> Iterator[list[str]]:
    """Show whether the work inside refuses, and why. The list takes details of a success."""
    details: list[str] = []
    with refusals_shown(run, name):
        yield details
    _keep_gate(run, name, "; ".join(details), success=True)


@contextmanager
def refusals_shown(run: Run, name: str) -> Iterator[None]:
    """Show a refusal of the work inside, and nothing of a success."""
    try:
        yield
    except (GuaranteeError, SecondReleaseError) as refusal:
        # Other errors say nothing of the release, so they are no verdict.
        _keep_gate(run, name, str(refusal), success=False)
        raise


def close_gates(run: Run) -> None:
    """Drop the verdicts of the gates: they depend on more than the run."""
    (run.path / GATES_FILE).unlink(missing_ok=True)


def drop_stage(run: Run, stage: str) -> None:
    """Drop a stage with its verdict."""
    remove_folder(run.path / stage)


def describe_page_place(run: Run) -> str:
    """Say where the page is, for the message of a refusal."""
    return f"every result lies in the vault: {run.path.name}/{PAGE}"


def write_verdicts_page(run: Run) -> None:
    """Write the page of a run from the verdicts that its stages keep."""
    checks: list[dict[str, Any]] = []
    gates = of_gates(run)
    for name in _list_verdict_names(run):
        entries = [gates[name]] if name in gates else of_stage(run.path / name)
        checks += entries
        if not all(verdict_from_json(each["verdict"]).success for each in entries):
            break  # later verdicts are of an earlier attempt
    facts = {
        "run": run.path.name,
        "plan_sha256": run.plan_sha256,
        "releases": [
            f"{release.folder.parent.name} {release.folder.name}" for release in run.ever_visible()
        ],
    }
    page = run.path / PAGE
    page.parent.mkdir(mode=0o700, exist_ok=True)
    write_private(page, pages.render_verdicts_page(facts, checks, words_called(run.kind)).encode())


def _list_verdict_names(run: Run) -> list[str]:
    """The stages and gates that have verdicts, in the order of the flow."""
    checked = [f"validate-{check}" for check in kind_called(run.kind).checked]
    return ["alike", *checked, "check", "require", "versions", "kept", "beside", "approved"]


def _keep_gate(run: Run, name: str, detail: str, *, success: bool) -> None:
    verdict = Verdict(name, (Outcome(name, None, success, _GATES[name], detail),))
    write_json(
        run.path / GATES_FILE,
        {**of_gates(run), name: {**_build_origin(), "verdict": verdict_to_json(verdict)}},
    )
    write_verdicts_page(run)


def _build_origin() -> dict[str, str]:
    return {"version": CODE_VERSION, "judged": datetime.now(UTC).isoformat(timespec="seconds")}
