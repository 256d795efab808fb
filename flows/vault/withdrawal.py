"""The command `crowdcover withdraw`: people leave a series, by the vault only."""

import argparse
from itertools import compress
from pathlib import Path

from anon_core.errors import InputError
from crowdcover.flows.outcome import print_outcome
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.versions import Before
from crowdcover.storage.ledger.identifier_spelling import FORM
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.series.series import Series
from crowdcover.storage.source.file_bytes import CLOSED
from crowdcover.storage.vault.vault import Vault


def withdraw_people(options: argparse.Namespace) -> int:
    """Note people whose rows the next version shall not show, and no version after it."""
    plan = ReleasePlan.load(options.plan, options.overrides)
    if plan.series is None:
        raise PlanError(
            "the plan has no [series]; without versions no later release can leave a person out. "
            "Take the person out of the source, or retract the release"
        )
    name, versions = plan.following.owner, plan.kind.versions
    if name is None or versions is None:
        raise PlanError("no column of the plan names people; state series.record or privacy.person")
    vault = Vault(Path(plan.publish.vault)).open()
    series = Series(vault, plan.name).open()
    ledger = Ledger(vault, plan.kind.remade, plan.publish.ledger_uri)
    listed = _read_identifiers(options.file, name)
    # A version that is being made would still show people who withdraw meanwhile.
    with series.hold_lock():
        published = series.versions()
        kept = Before.of(published) if published else None
        # The spelling of the first version: under another one the digests would match nobody.
        form = FORM if kept is None else kept.form
        digests = versions.digests(listed, ledger.key, form)
        before, asked = series.withdrawn(), frozenset(digests)
        number, shown, earlier = len(published) + 1, frozenset[bytes](), frozenset[bytes]()
        # Stages with people who have no row yet: those of the batch at work, and those who wait.
        coming = series.folder(number).whole("split"), None if kept is None else kept.assembled
        stages = [
            *series.load_pending_parts(number).values(),
            *(each for each in coming if each is not None),
        ]
        waiting = versions.owners_waiting(stages)
        if kept is not None:
            shown = versions.owners(kept)
            had = versions.find_published(plan.following, listed, kept, ledger.key)
            earlier = frozenset(compress(digests, had)) - shown
        # A list in a wrong form matches nobody, and nobody would notice: refuse it as a whole.
        if not options.unpublished and not asked & (shown | earlier | waiting | before):
            raise InputError(
                f"none of the {len(asked)} identifiers in {options.file.name} names somebody who "
                f"has, had or is about to have a row in {plan.name}; nothing was noted. Write "
                f"them as column {name!r} has them, one a line. To keep out people who never had a "
                "row, add --unpublished"
            )
        series.withdraw(asked)
    outcome = {
        "series": plan.name,
        "asked": len(asked),
        "asked_before": len(asked & before),
        "in_the_last_version": len(asked & shown),
        "in_earlier_versions": len(earlier),
        "in_no_version": len(asked - shown - earlier),
        "withdrawn_in_all": len(asked | before),
    }
    print_outcome(options, outcome, [_format_outcome(outcome, name)])
    return 0


def _read_identifiers(path: Path, name: str) -> list[str]:
    """One identifier a line; blanks around it do not count, and a line with the column's name."""
    try:
        # -sig: a byte order mark would become part of the first identifier.
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        lines = None
    if lines is None:
        raise InputError(f"{path.name}: {CLOSED}")
    found = [line.strip() for line in lines if line.strip()]
    if found and found[0].strip("\"'").casefold() == name.casefold():
        found = found[1:]
    if not found:
        raise InputError(f"{path.name} names nobody; one identifier a line is required")
    return found


def _format_outcome(outcome: dict[str, object], name: str) -> str:
    """The outcome for a person."""
    return (
        f"{outcome['asked']} people by {name!r} are withdrawn from {outcome['series']}; "
        f"{outcome['in_the_last_version']} of them have rows in the last version, "
        f"{outcome['in_earlier_versions']} had rows in earlier ones only, "
        f"{outcome['in_no_version']} never had one, "
        f"{outcome['asked_before']} were withdrawn before. Run crowdcover release: the next "
        "version shows none of their rows, and the vault then forgets their values. Versions that "
        "were published stay as they are; nobody can take back a copy. Delete the file with the "
        "identifiers"
    )
