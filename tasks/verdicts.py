"""What the borders said of a run, and the page in the vault that shows it.

A border's stage keeps verdict.json; the page is written anew from these files whenever one of them is, before a refusal is
raised. What was refused is judged again by the next run: what broke may be whole by then.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reports import summary
from reports import verdicts as pages
from tasks.stage import show_in_prefect
from tasks.storage import CODE_VERSION, Run, Stored, holds_files, read_json, write_json, write_private
from validations.verdicts import Verdict, verdict_from_json, verdict_to_json

VERDICT = "verdict.json"
PAGE = "docs/index.html"
STAGES = ("validate-ingested", "validate-binarized", "check", "require")  # those that judge, in the flow's order

Judge = Callable[[Path], tuple[Mapping[str, Any], Sequence[Verdict]]]


def judged(run: Run, stage: str, inputs: Sequence[Stored], judge: Judge) -> tuple[Stored, tuple[Verdict, ...]]:
    """Judge once, keep the verdicts and show them; to refuse is left to who asked. `judge(folder)` returns facts, too."""

    def make(folder: Path) -> Mapping[str, Any]:
        facts, verdicts = judge(folder)
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        told = [verdict_to_json(verdict) for verdict in verdicts]
        write_json(folder / VERDICT, {"version": CODE_VERSION, "judged": moment, "verdicts": told})
        return facts

    kept = _kept(run.path / stage)
    if kept is None or not all(verdict.success for verdict in kept[1]):
        forget(run, stage)
    stored = run.once(stage, inputs, make)
    kept = _kept(stored.path)
    assert kept is not None
    show(run)
    show_in_prefect(f"verdict-{stage}", summary.verdicts(kept[0]["verdicts"]), "What this border expects")
    return stored, kept[1]


def forget(run: Run, stage: str) -> None:
    """Drop what a stage said."""
    shutil.rmtree(run.path / stage, ignore_errors=True)


def where(run: Run) -> str:
    """Where the page lies, for the words of a refusal."""
    return f"every verdict lies in the vault: {run.path.name}/{PAGE}"


def show(run: Run) -> None:
    """Write the page of a run from what its stages keep."""
    borders = []
    for stage in STAGES:
        if (kept := _kept(run.path / stage)) is None:
            continue
        document, verdicts = kept
        borders += [{**document, "verdict": verdict} for verdict in document["verdicts"]]
        if not all(verdict.success for verdict in verdicts):
            break  # what follows was said of an earlier attempt
    facts = {
        "run": run.path.name,
        "plan_sha256": run.plan_sha256,
        "releases": [f"{release.folder.parent.name} {release.folder.name}" for release in run.ever_visible()],
    }
    page = run.path / PAGE
    page.parent.mkdir(mode=0o700, exist_ok=True)
    write_private(page, pages.render(facts, borders).encode())


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
