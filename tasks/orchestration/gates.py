"""What the borders said of a run, and the page in the vault that shows it.

A border's stage keeps verdict.json. Gates look at more than the run (other releases, a person's word): every attempt passes
them anew, and gates.json keeps what they said. The page is written anew from these files whenever one of them is, before a
refusal is raised. What was refused is judged again by the next run: what broke may be whole by then.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError
from kinds import words_called
from reports import summary
from reports import verdicts as pages
from tasks.orchestration.stage import show_in_prefect
from tasks.vault.storage import (
    CODE_VERSION,
    Run,
    SecondReleaseError,
    Stored,
    holds_files,
    read_json,
    write_json,
    write_private,
)
from validations.verdicts import Outcome, Verdict, verdict_from_json, verdict_to_json

VERDICT = "verdict.json"
GATES_FILE = "gates.json"
PAGE = "docs/index.html"
GATES = {
    "alike": "The table has not drifted from that of the last release by more than checks.drift allows.",
    "kept": "The release keeps less than the last one did by no more than checks.drift allows.",
    "beside": "No other release shows these people; or all are laid side by side, and every crowd stays as large as demanded.",
    "approved": "A person has approved these files and these numbers.",
}
ORDER = (
    "alike",
    "validate-ingested",
    "validate-binarized",
    "check",
    "require",
    "kept",
    "beside",
    "approved",
)  # the flow's

Judge = Callable[[Path], tuple[Mapping[str, Any], Sequence[Verdict]]]


def judged(
    run: Run, stage: str, inputs: Sequence[Stored], judge: Judge
) -> tuple[Stored, tuple[Verdict, ...]]:
    """Judge once, keep the verdicts and show them; to refuse is left to who asked. `judge(folder)` returns facts, too."""

    def make(folder: Path) -> Mapping[str, Any]:
        facts, verdicts = judge(folder)
        write_json(
            folder / VERDICT,
            {**_by_whom(), "verdicts": [verdict_to_json(verdict) for verdict in verdicts]},
        )
        return facts

    kept = _kept(run.path / stage)
    if kept is None or not all(verdict.success for verdict in kept[1]):
        forget(run, stage)
    stored = run.once(stage, inputs, make)
    kept = _kept(stored.path)
    assert kept is not None
    show(run)
    show_in_prefect(
        f"verdict-{stage}", summary.verdicts(kept[0]["verdicts"]), "What this border expects"
    )
    return stored, kept[1]


@contextmanager
def gate(run: Run, name: str) -> Iterator[list[str]]:
    """Show whether what is done inside refuses, and in which words; what it finds else is for the list."""
    found: list[str] = []
    with refusals_shown(run, name):
        yield found
    _judge_gate(run, name, "; ".join(found), success=True)


@contextmanager
def refusals_shown(run: Run, name: str) -> Iterator[None]:
    """A gate that says something only if it stays shut."""
    try:
        yield
    except (GuaranteeError, SecondReleaseError) as refusal:
        _judge_gate(run, name, str(refusal), success=False)
        raise


def close_gates(run: Run) -> None:
    """Forget what the gates said: it depends on more than the run, and every attempt passes them anew."""
    (run.path / GATES_FILE).unlink(missing_ok=True)


def forget(run: Run, stage: str) -> None:
    """Drop what a stage said."""
    shutil.rmtree(run.path / stage, ignore_errors=True)


def where(run: Run) -> str:
    """Where the page lies, for the words of a refusal."""
    return f"every verdict lies in the vault: {run.path.name}/{PAGE}"


def show(run: Run) -> None:
    """Write the page of a run from what its stages keep."""
    borders: list[dict[str, Any]] = []
    gates = _gates(run)
    for name in ORDER:
        told = [gates[name]] if name in gates else _told(run.path / name)
        borders += told
        if not all(verdict_from_json(each["verdict"]).success for each in told):
            break  # what follows was said of an earlier attempt
    facts = {
        "run": run.path.name,
        "plan_sha256": run.plan_sha256,
        "releases": [
            f"{release.folder.parent.name} {release.folder.name}" for release in run.ever_visible()
        ],
    }
    page = run.path / PAGE
    page.parent.mkdir(mode=0o700, exist_ok=True)
    write_private(page, pages.render(facts, borders, words_called(run.kind)).encode())


def _judge_gate(run: Run, name: str, found: str, *, success: bool) -> None:
    verdict = Verdict(name, (Outcome(name, None, success, GATES[name], found),))
    write_json(
        run.path / GATES_FILE,
        {**_gates(run), name: {**_by_whom(), "verdict": verdict_to_json(verdict)}},
    )
    show(run)


def _by_whom() -> dict[str, str]:
    return {"version": CODE_VERSION, "judged": datetime.now(UTC).isoformat(timespec="seconds")}


def _gates(run: Run) -> dict[str, dict[str, Any]]:
    """What the gates of this attempt said so far."""
    try:
        told = read_json(run.path / GATES_FILE).items()
        return {
            name: _document(each, each["verdict"])
            for name, each in told
            if verdict_from_json(each["verdict"])
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _told(stage: Path) -> list[dict[str, Any]]:
    kept = _kept(stage)
    return [] if kept is None else [_document(kept[0], verdict) for verdict in kept[0]["verdicts"]]


def _document(told: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """A border as the page takes it."""
    return {"version": told["version"], "judged": told["judged"], "verdict": verdict}


def _kept(folder: Path) -> tuple[dict[str, Any], tuple[Verdict, ...]] | None:
    """What a finished stage keeps of its verdicts; None where there is nothing, or not what was written."""
    try:
        files = read_json(folder / "stage.json")["files"]
        if not holds_files(folder, {VERDICT: files[VERDICT]}):
            return None
        document = read_json(folder / VERDICT)
        return document, tuple(verdict_from_json(verdict) for verdict in document["verdicts"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
