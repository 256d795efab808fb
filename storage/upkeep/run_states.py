"""In which state each run of a vault is, in plain words, from the files that the run keeps.

Nothing is changed and no lock is taken. Reasons are messages of refusals, which hold no values.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError
from crowdcover.reports.facts import count_published_rows
from crowdcover.storage.approval.approval import Approval, Request, count_approvals
from crowdcover.storage.series.retractions import Retractions
from crowdcover.storage.series.series import ABANDONED, VERSION
from crowdcover.storage.shelf.content import read_document
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.vault.endings import ORDER, name_of, read_ending
from crowdcover.storage.vault.files import UNREADABLE, read_json
from crowdcover.storage.vault.run import RELEASES, Release, Run
from crowdcover.storage.vault.vault import Vault
from crowdcover.storage.vault.verdicts import of_gates, of_stage

LOCKS = Path("/proc/locks")  # every file lock of this machine
_GATES = ("alike", "kept", "beside", "approved")


@dataclass(frozen=True)
class State:
    """The state of a run: one word, the whole in words, and since when (ISO, UTC).

    The word is published, retracted, waits, approved, late, refused, failed, running, unfinished
    or given up. `stage` names the check or stage, `reason` holds no value.
    """

    word: str
    words: str
    since: str
    stage: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Seen:
    """A run as a list of runs shows it; rows are None where they are not known."""

    run: Run
    name: str
    kind: str
    state: State
    rows: int | None
    request: Request | None


def list_run_states(vault: Vault) -> list[Seen]:
    """Every run of a vault, the one that changed last first."""
    gone, locked = _find_given_up_runs(vault), _list_locked_files()
    found = [
        _describe_run(run, given_up=run.path.name in gone, locked=locked)
        for run in vault.every_run()
    ]
    return sorted(found, key=lambda each: (each.state.since, each.run.path.name), reverse=True)


def _describe_run(run: Run, *, given_up: bool, locked: frozenset[tuple[int, int]]) -> Seen:
    try:
        request = Approval.of(run).last
        state = _find_state(run, request, given_up=given_up, locked=locked)
    except (AnonymityError, *UNREADABLE) as error:
        reason = str(error) if isinstance(error, AnonymityError) else type(error).__name__
        request = None
        state = State("failed", f"cannot be read: {reason}", _find_change_time(run), reason=reason)
    return Seen(
        run, _find_run_name(run, request), run.kind, state, _count_rows(run, request), request
    )


def _find_state(
    run: Run, request: Request | None, *, given_up: bool, locked: frozenset[tuple[int, int]]
) -> State:
    """The first of these that is true."""
    retracted = Retractions.of(run)
    if (stopped := retracted.open_retraction) is not None:
        words = f"retraction of {stopped.title} was stopped; run crowdcover retract again"
        return State("failed", words, stopped.at)
    if visible := run.ever_visible():
        return _build_published_state(run, visible)
    if _is_locked(run, locked):
        return State(
            "running", f"running, at {_next_stage(run)}", _find_change_time(run), _next_stage(run)
        )
    if given_up:
        return _build_replaced_state(run, request)
    taken_back = _find_retraction_state(retracted)
    later = _find_refusal_state(run, request) or _find_request_state(request)
    # Times are UTC in one form, so they compare as texts.
    if taken_back is not None and (later is None or taken_back.since >= later.since):
        return taken_back
    return later or State(
        "unfinished", f"unfinished at {_next_stage(run)}", _find_change_time(run), _next_stage(run)
    )


def _build_published_state(run: Run, visible: list[Release]) -> State:
    """Of each folder the version; a release that is gone or changed says so."""
    parts = [
        f"{release.folder.name}{'' if release.stands() else ' (gone or changed)'}"
        for release in visible
    ]
    last = visible[-1].folder / MANIFEST
    try:
        since = str(read_document(last)["created"])
    except UNREADABLE:
        since = _find_change_time(run)
    return State("published", f"published {', '.join(parts)}", since)


def _build_replaced_state(run: Run, request: Request | None) -> State:
    """Of a run of a series that another batch or another plan replaced, and why it was refused."""
    words = "given up: a batch that was made anew replaced it"
    refused = _find_refusal_state(run, request)
    if refused is None:
        return State("given up", words, _find_change_time(run))
    words = f"{words}; before, it was {refused.words}"
    return State("given up", words, refused.since, refused.stage, refused.reason)


def _find_refusal_state(run: Run, request: Request | None) -> State | None:
    """What ended the last attempt, or a check that fails; None if a question came later."""
    ending = read_ending(run)
    if ending is not None and (request is None or ending.at >= _find_request_time(request)):
        word = "refused" if ending.is_refusal else "failed"
        words = f"{word} at {ending.stage}: {ending.message}"
        return State(word, words, ending.at, ending.stage, ending.message)
    for name, entry in _list_verdicts(run):
        failed = [each for each in entry["verdict"]["outcomes"] if each["success"] is not True]
        # A question is asked after all checks passed: with one, only gates can fail later.
        if failed and (request is None or name in _GATES):
            reason = "; ".join(dict.fromkeys(_describe_outcome(each) for each in failed))
            words = f"refused at {name}: {reason}"
            return State("refused", words, str(entry["judged"]), name, reason)
    return None


def _list_verdicts(run: Run) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The verdicts of the last attempt, by name, in the order of the flow."""
    gates = of_gates(run)
    checks = sorted(path.name for path in run.path.glob("validate-*"))
    for name in ("alike", *checks, "check", "require", "versions", "kept", "beside", "approved"):
        for entry in [gates[name]] if name in gates else of_stage(run.path / name):
            yield name, entry


def _describe_outcome(outcome: Mapping[str, Any]) -> str:
    """A failed expectation: of a gate its message, else what was expected, and the column."""
    if outcome["expectation"] in _GATES:
        return str(outcome["found"])
    expected = str(outcome["words"] or outcome["expectation"])
    return expected if outcome["column"] is None else f"{expected} (column {outcome['column']!r})"


def _find_request_state(request: Request | None) -> State | None:
    """Of a release that a person was asked about."""
    if request is None:
        return None
    decision = request.decision
    if request.ended and decision is not None and decision.approved:
        words = "the approval became too old; run the release again to ask anew"
        return State("late", words, decision.at)
    if decision is not None and decision.approved:
        names = ", ".join(each.by for each in request.approvals)
        words = f"approved by {names}, not published yet; run the release again"
        return State("approved", words, decision.at)
    if decision is not None:
        reason = decision.sentence
        return State("refused", f"refused at approved: {reason}", decision.at, "approved", reason)
    if request.ended or request.late:
        who = "not enough people" if request.agreed else "nobody"
        words = f"{who} decided until {request.until}; run the release again to ask anew"
        return State("late", words, request.until)
    words = f"waits for approval until {request.until}"
    if request.agreed:
        words += f" ({count_approvals(request)})"
    return State("waits", words, request.asked)


def _find_retraction_state(retracted: Retractions) -> State | None:
    if not retracted.all:
        return None
    last = max(retracted.all, key=lambda each: each.at)
    words = f"{Path(last.folder).name} was {last.sentence}"
    return State("retracted", words, last.at, reason=last.reason)


def _find_request_time(request: Request) -> str:
    return request.asked if request.decision is None else request.decision.at


def _next_stage(run: Run) -> str:
    """The stage after the last one that is finished, as far as the vault can tell."""
    done = {path.parent.name for path in run.path.glob("[!.]*/stage.json")}
    aside = [path.name[1:].removesuffix(".partial") for path in run.path.glob(".*.partial")]
    begun = [name for name in aside if "." not in name]  # a file that is being written has a dot
    if begun:
        return begun[0]
    encoded = done & {"encode", "binarize"}
    for name, there in (
        ("ingest", "ingest" in done),
        ("encode", encoded),
        ("anonymize", "anonymize" in done),
        ("check", "check" in done),
    ):
        if not there:
            return name
    return "publish"


def _find_run_name(run: Run, request: Request | None) -> str:
    """The plan's name; of runs of older versions what their releases were called."""
    if name := name_of(run):
        return name
    if request is not None:
        return str(request.question.manifest.get("name", ""))
    releases = run.path / RELEASES
    marks = [*read_json(releases)] if releases.exists() else []
    return Path(marks[0]).name if marks else ""


def _count_rows(run: Run, request: Request | None) -> int | None:
    """Rows of the release, or of what was ingested for it."""
    try:
        if request is not None:
            return int(count_published_rows(request.question.manifest))
        for release in run.ever_visible():
            return int(count_published_rows(read_document(release.folder / MANIFEST)))
    except UNREADABLE:
        pass  # the folder is gone: what was ingested is still known
    try:
        return int(read_json(run.path / "ingest" / "stage.json")["shape"][0])
    except (*UNREADABLE, IndexError):
        return None


def _find_change_time(run: Run) -> str:
    """When a stage of the run was finished last."""
    times = [path.stat().st_mtime for path in run.path.glob("[!.]*/stage.json")]
    times.append((run.path / ORDER).stat().st_mtime)
    return datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds")


def _find_given_up_runs(vault: Vault) -> set[str]:
    """Runs of batches of a series that were made anew from another batch."""
    found: set[str] = set()
    for path in (vault.path / "series").glob(f"*/*/{VERSION}"):
        try:
            found.update(read_json(path).get(ABANDONED, ()))
        except UNREADABLE:
            continue
    return found


def _list_locked_files() -> frozenset[tuple[int, int]]:
    """Device and inode of each locked file of this machine; a lock that is tried could disturb."""
    try:
        lines = LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return frozenset()
    found = set()
    for line in lines:
        # A line names its file as major:minor:inode, the first two in hexadecimal.
        for word in line.split():
            if word.count(":") == 2:
                major, minor, inode = word.split(":")
                found.add((os.makedev(int(major, 16), int(minor, 16)), int(inode)))
    return frozenset(found)


def _is_locked(run: Run, locked: frozenset[tuple[int, int]]) -> bool:
    try:
        stat = (run.path / "lock").stat()
    except OSError:
        return False
    return (stat.st_dev, stat.st_ino) in locked
