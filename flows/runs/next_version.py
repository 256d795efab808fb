"""What a version of a series has beside any release: what it follows, and what stays."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.versions import Before, KnownPeople
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.series.series import NobodyHidesError, Series, Version
from crowdcover.storage.source.partitions import Picked
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.orchestration.stage import log_line
from crowdcover.tasks.stages.assemble import assemble
from crowdcover.tasks.stages.check import CheckedRelease, check_version
from crowdcover.tasks.stages.compare import LastRelease, last_of_series
from crowdcover.tasks.stages.split import split

# What an approval outlasts no change of.
_STATED = ("plan_sha256", "withdrawn_sha256", "parent", "parts")


@dataclass(frozen=True)
class NextVersion:
    """A version that is about to be made.

    Attributes
    ----------
    plan : ReleasePlan
    series : Series
    recorded : sequence of Version
        Every version of which the vault knew the run before this one, read once for the whole run.
    last : Version or None
        The version before.
    before : Before or None
        What the vault keeps of it.
    split : Stored
        The records that stay, and those in the batch.
    source, batch : Reading
    about : mapping
        What the vault notes of the version.
    """

    plan: ReleasePlan
    series: Series
    recorded: Sequence[Version]
    last: Version | None
    before: Before | None
    split: Stored
    source: Reading
    batch: Reading
    about: Mapping[str, Any]

    @property
    def number(self) -> int:
        """Number of the version in its series."""
        return 1 if self.before is None else self.before.number + 1

    @property
    def kin(self) -> frozenset[str]:
        """Seals of the runs of the versions before."""
        return frozenset(version.run.seal for version in self.recorded if version.published)

    def begin(self, run: Run) -> None:
        """Note the run of the version."""
        self.series.record(self.number, run, self.about)

    def last_release(self) -> LastRelease | None:
        """What drift compares the whole source with."""
        kind, limits = self.plan.kind, self.plan.limits.drift_limits
        if self.last is None or limits is None:
            return None
        return last_of_series(kind, self.last, limits)

    def whole(
        self, run: Run, ledger: Ledger, encoded: Stored, batch: CheckedRelease
    ) -> CheckedRelease | None:
        """The version, checked beside all before it; `batch` was checked by itself.

        None where it must be made again, since some records have too few histories in it: they are
        to wait.
        """
        plan, kind = self.plan, self.plan.kind
        identified = run.whole("identify")
        assert identified is not None
        stages = (self.split, encoded, batch.rows)
        assembled = assemble(run, kind, plan.following, stages, self.before, ledger.key)
        checked = check_version(
            run,
            kind,
            plan.data,
            plan.following,
            batch,
            (self.split, identified, assembled),
            self.before,
            (self.source, self.batch),
            KnownPeople(ledger.key, self.series.withdrawn()),
        )
        if isinstance(checked, CheckedRelease):
            return checked
        log_line(f"{len(checked)} records keep too few histories in this batch: they wait")
        # Kept under the hash of the source: another source may give these records enough histories.
        waiting = self.series.waiting(self.number, self.source.sha256)
        self.series.wait(self.number, self.source.sha256, waiting | checked)
        return None

    def end(self) -> None:
        """Remove what nobody needs once the version is published."""
        # An earlier attempt may have recorded it, too, as it was then.
        before = [each for each in self.recorded if each.number != self.number]
        now = self.series.find_version_in_work(self.number)
        self.series.forget_values([*before, *(() if now is None else (now,))])


def prepare_next_version(plan: ReleasePlan, vault: Vault, source: Reading) -> NextVersion | Version:
    """Split the source for the next version; the last version where nothing is to be done."""
    series = Series(vault, plan.name).open()
    # Once: each file takes its time, and there may be a hundred versions.
    recorded = series.list_versions()
    # A process that was killed after it published has left this to the next one.
    series.forget_values(recorded)
    versions = [each for each in recorded if each.published]
    last = versions[-1] if versions else None
    number = 1 if last is None else last.number + 1
    pending, about = series.load_pending_parts(number), _build_about(plan, series, source)
    if last is not None:
        _refuse_other_plan(last, about)
    label = _find_source_label(plan, source)
    released: dict[str, Version | Stored] = {
        **{label: each for each in versions for label in each.parts},
        **pending,
    }
    # Nobody withdrew since: a source that was released, or that waits, needs no version.
    if last is None or last.about["withdrawn_sha256"] == about["withdrawn_sha256"]:
        if label in released:
            done = released[label]
            return done if isinstance(done, Version) else _keep_last_version(last, done.facts)
        if last is not None and last.about["source_sha256"] == source.sha256:
            return last
    # Nothing is new, but people withdrew: an empty source makes a version without their rows.
    elif label in released:
        source, label = _open_empty_source(plan, source), None
        about["source_sha256"] = source.sha256
    if plan.following.record is None:
        # People who wait in pending partitions come along, so the version counts for these, too.
        about["parts"] = [*pending, *([] if label is None else [label])]
    before, folder = None if last is None else Before.of(versions), series.folder(number)
    # The check reads this content again, and so does a round that is repeated.
    source.keep(folder.scratch)
    if (approved := _find_approved_parts(series, folder, about)) is not None:
        parts, about = approved
    else:
        parts = _divide_source(plan, vault, series, source, before, folder)
    facts = parts.facts
    if not facts["counts"]["batch"]:
        if label is not None:
            # No later source has the rows of this partition, so people who wait are kept here.
            series.set_aside(number, label)
        return _keep_last_version(last, facts)
    # The profile is of the whole source: beside it a batch would look like a table that shrank.
    about |= {"counts": facts["counts"], "profile": facts["profile"]}
    # Audits and later versions go by these two, whatever plan and build state by then.
    about["short_histories"] = plan.following.short_histories
    about["form"] = plan.data.source.form
    batch = _open_batch(plan, parts)
    return NextVersion(plan, series, recorded, last, before, parts, source, batch, about)


def _build_about(plan: ReleasePlan, series: Series, source: Reading) -> dict[str, Any]:
    """What decides whether a version must be made; see `Version.about`."""
    return {
        "plan_sha256": plan.sha256,
        "source_sha256": source.sha256,
        # Sorted: a set has no order, and this hash decides whether a version must be made.
        "withdrawn_sha256": hashlib.sha256(b"".join(sorted(series.withdrawn()))).hexdigest(),
        "parent": str(plan.releases),
    }


def _divide_source(
    plan: ReleasePlan,
    vault: Vault,
    series: Series,
    source: Reading,
    before: Before | None,
    folder: Run,
) -> Stored:
    """Decide which records stay and which are in the batch."""
    number = int(folder.path.name)
    ledger = Ledger(vault, plan.kind.remade, plan.publish.ledger_uri)
    asked = KnownPeople(
        ledger.key,
        series.withdrawn(),
        series.waiting(number, source.sha256),
        # The last pending part holds everybody who waits, also from the parts before it.
        next(reversed(series.load_pending_parts(number).values()), None),
    )
    following = plan.following
    return split(folder, plan.kind, plan.data, following, source, before, asked, ledger.key_print)


def _open_batch(plan: ReleasePlan, parts: Stored) -> Reading:
    """The batch of a version as a source of its own."""
    versions = plan.kind.versions
    assert versions is not None
    return Reading(plan.data.source.at(versions.batch(parts)))


def _find_source_label(plan: ReleasePlan, source: Reading) -> str | None:
    """What names the source of a version that has new records only, whatever else is read."""
    if plan.following.record is not None:
        return None
    return source.sha256 if plan.partition is None else str(plan.partition.at)


def _open_empty_source(plan: ReleasePlan, source: Reading) -> Reading:
    """The source of a version that is made since people withdrew, and for nothing else."""
    versions = plan.kind.versions
    assert versions is not None
    return Picked(plan.data.source, versions.nothing(plan.data, source))


def _keep_last_version(last: Version | None, facts: Mapping[str, Any]) -> Version:
    """The last version, where all that is new must wait; refused where there is none."""
    counts = facts["counts"]
    # Rows of these people have to go. Without a new version the last one would keep showing them.
    moved = counts["left"] + counts["withdrawn"] + counts["changed"]
    if last is None or moved:
        rest = f", {counts['held_by_history']} of them for want of histories"
        refusal = (
            f"publication refused; of {counts['source_rows']} records none can hide in a batch"
            f"{rest if counts['held_by_history'] else ''}; lower k, or release when there are more"
        )
        if last is not None:
            refusal += (
                f". Version {last.number} still shows the rows of {moved} people who left, changed "
                "or asked to be withdrawn; crowdcover retract takes it back"
            )
        raise NobodyHidesError(refusal)
    log_line(f"nothing to publish: {counts['held_back']} records wait until others come")
    return last


def _find_approved_parts(
    series: Series, folder: Run, about: Mapping[str, Any]
) -> tuple[Stored, dict[str, Any]] | None:
    """The parts of a version that a person approved: the source may have moved on since."""
    known = series.find_version_in_work(int(folder.path.name))
    # The hash of the source is not compared: the approval is about the rows as they were read.
    if known is None or any(known.about.get(name) != about.get(name) for name in _STATED):
        return None
    last, parts = Approval.of(known.run).last, folder.whole("split")
    if last is None or last.ended or last.decision is None or not last.decision.approved:
        return None
    if parts is None:
        return None
    log_line(f"run {known.run.path.name} was approved: it is published as it is")
    return parts, {name: each for name, each in known.about.items() if name != "run"}


def _refuse_other_plan(last: Version, about: Mapping[str, Any]) -> None:
    """Rows that stay were made under the plan of before."""
    if last.about["plan_sha256"] != about["plan_sha256"]:
        raise PlanError(
            "the series was begun under another plan: rows that stay keep the columns, groups and "
            "k of before; go back to that plan, or choose another name for a new series (people "
            "of both can then be intersected)"
        )
    if last.about["parent"] != about["parent"]:
        raise PlanError(
            "the series was begun in another folder; set publish.path to that, or choose another "
            "name for a new series"
        )
