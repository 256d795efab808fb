"""Keys of people who decide, and decisions that are signed without access to a vault."""

import os
import re
from pathlib import Path

from crowdcover.flows.vault.decisions import sign_decision
from crowdcover.storage.approval.approval import Decision, DecisionError
from crowdcover.storage.approval.decision_rules import find_decision_objection
from crowdcover.storage.approval.officer_copy import DECISIONS, Copy
from crowdcover.storage.approval.signing_keys import read_key
from crowdcover.storage.approval.statement import DECISIONS as WORDS
from crowdcover.storage.approval.statement import Rules, to_file
from crowdcover.storage.vault.refusals import FolderError


def format_approver_line(name: str, public: str) -> str:
    """The line of a plan that registers a person."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}" = "{public}"'


def sign_copy(
    copy: Copy, key: Path, stated: tuple[str, str | None, str], output: Path | None
) -> tuple[Decision, Path]:
    """Sign a decision about the report of a copy, and write it; returns it and its file.

    `stated` is "approve" or "reject", the name or None for the registered one, and the note.
    Refused: a copy that is closed, a key that the plan does not register, a decision that would not
    count, and a file that is there.
    """
    copy.require_open()
    request, rules = copy.request, Rules.of(copy.request.rules)
    decision = sign_decision(
        read_key(key), request, rules, (WORDS[stated[0]], stated[1], stated[2])
    )
    if reason := find_decision_objection(request.question, decision, request.asked_by, rules):
        raise DecisionError(f"nothing was signed: {reason}")
    path = output or _find_free_path(copy.folder / DECISIONS, decision.identity)
    _write_decision(path, to_file(request.question, decision))
    return decision, path


def _find_free_path(folder: Path, name: str) -> Path:
    """Where a person's decision goes; not where another account has put a file."""
    slug = re.sub(r"[^A-Za-z0-9@._-]", "_", name)
    # Others write in this folder, too: a file of theirs under this name must stop no decision.
    for path in (folder / f"{slug}.json", *(folder / f"{slug}-{n}.json" for n in range(2, 100))):
        try:
            # `lstat`: a link belongs to the account that made it, wherever it leads.
            if path.lstat().st_uid == os.geteuid():
                return path
        except OSError:  # not there, or nothing is to be seen there
            return path
    raise DecisionError(f"other accounts fill {folder}; give --output FILE and send that")


def _write_decision(path: Path, content: bytes) -> None:
    """Write a new file that the account of the release can read; never over an old one."""
    try:
        with path.open("xb") as handle:
            handle.write(content)
        path.chmod(0o644)
    except FileExistsError:
        raise DecisionError(
            f"{path} exists: a decision is signed already. Remove it to decide anew, as long as "
            "no run has taken it up"
        ) from None
    except OSError as error:
        raise FolderError(
            f"{path} cannot be written ({type(error).__name__}); give --output FILE and send that"
        ) from None
