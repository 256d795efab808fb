"""The command `crowdcover withdraw`: people leave a series, by the vault only."""

import argparse
import json
from pathlib import Path

from anon_core.errors import InputError, escaped
from flows.plan.plan import ReleasePlan
from kinds.section import PlanError
from kinds.versions import Before
from tasks.people.ledger import Ledger
from tasks.source.csv_rows import CLOSED
from tasks.vault.series import Series
from tasks.vault.storage import Vault


def withdraw(options: argparse.Namespace) -> int:
    """Note people whose rows the next version shall not show, and no version after it."""
    order = ReleasePlan.load(options.plan, options.overrides)
    if order.series is None:
        raise PlanError(
            "the plan has no [series]; without versions no later release can leave a person out. "
            "Take the person out of the source, or retract the release"
        )
    name, versions = order.following.owner, order.kind.versions
    if name is None or versions is None:
        raise PlanError("no column of the plan names people; state series.record or privacy.person")
    vault = Vault(Path(order.publish.vault)).open()
    series = Series(vault, order.name).open()
    ledger = Ledger(vault, order.kind.remade, order.publish.ledger_uri)
    with series.locked():
        digests = versions.digests(_identifiers(options.file), ledger.key)
        before, last = series.withdrawn(), series.last
        shown = frozenset() if last is None else versions.owners(Before.of(series.versions()))
        series.withdraw(digests)
    outcome = {
        "series": order.name,
        "asked": len(digests),
        "asked_before": len(digests & before),
        "in_the_last_version": len(digests & shown),
        "withdrawn_in_all": len(digests | before),
    }
    print(json.dumps(outcome, indent=2) if options.json else escaped(_told(outcome, name)))
    return 0


def _identifiers(path: Path) -> list[str]:
    """One identifier a line, as the source writes it; blanks around it do not count."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        lines = None
    if lines is None:
        raise InputError(f"{path.name}: {CLOSED}")
    if not (found := [line.strip() for line in lines if line.strip()]):
        raise InputError(f"{path.name} names nobody; one identifier a line is required")
    return found


def _told(outcome: dict[str, object], name: str) -> str:
    """The outcome for a person."""
    return (
        f"{outcome['asked']} people by {name!r} are withdrawn from {outcome['series']}; "
        f"{outcome['in_the_last_version']} of them have rows in the last version, "
        f"{outcome['asked_before']} were withdrawn before. Run crowdcover release: the next "
        "version shows none of their rows, and the vault then forgets their values. Versions that "
        "were published stay as they are; nobody can take back a copy. Delete the file with the "
        "identifiers"
    )
