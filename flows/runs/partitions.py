"""Versions by partition: the rows of the source that a version has, and versions of a range.

The source is read once for a whole range. The rows of each partition lie in the vault until its
version is published.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from anon_core.errors import InputError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.known_plan import apply_series_form
from crowdcover.kinds.section import PlanError, toml_text
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.series import NobodyHidesError, Series
from crowdcover.storage.source.partitions import Picked, range_of, write_rows, wrong_label
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.files import find_readable_path, open_replacement_path
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import Vault

_PARTS = "parts"  # of a series in the vault


def read_plan_source(plan: ReleasePlan) -> Reading:
    """The source, or the rows of the partition that the plan names."""
    partition = plan.partition
    if partition is None:
        return _open_source(plan)
    require_partition(plan)
    if partition.part is not None:
        # A backfill has read the source once and left the rows of each partition in the vault.
        return Picked.kept(plan.data.source, find_readable_path(partition.part))
    versions, whole = plan.kind.versions, _open_source(plan)
    assert versions is not None
    # A range of one label: there is one partition, or none.
    for _, rows in versions.parts(plan.data, whole, partition.at, partition.at):
        whole.end()
        return Picked(plan.data.source, rows)
    raise InputError(
        "the source has no rows in this partition; correct --partition or source.partition"
    )


def require_partition(plan: ReleasePlan) -> None:
    """Refuse to release a divided source without the name of a partition."""
    if plan.partition is not None and plan.partition.at is None:
        raise PlanError(
            "source.partition divides the source; say of which partition the version shall be: "
            "give --partition LABEL, or to `release` --backfill FIRST..LAST for several"
        )


def find_range_ends(plan: ReleasePlan, text: str) -> tuple[str, str]:
    """First and last partition of a range such as 2013-08..2015-12."""
    partition = plan.partition
    if partition is None:
        raise PlanError(
            "--backfill needs [source] partition = {column = name, by = 'month'} in the plan"
        )
    ends = range_of(text, partition.by)
    if ends is None:
        raise PlanError(f"--backfill takes FIRST..LAST; {wrong_label(partition.by)}")
    return ends


def format_partition_settings(label: str, part: Path | None = None) -> list[str]:
    """The settings of a plan for the version of one partition, as --set takes them."""
    # As a TOML text: a label such as 2014-03-05 would be parsed as a date, 2014 as a number.
    named = [f"source.at={toml_text(label)}"]
    return named if part is None else [*named, f"source.part={toml_text(str(part))}"]


def backfill_partitions(
    plan: ReleasePlan, wanted: str, release_one: Callable[[Sequence[str]], Place]
) -> Iterator[tuple[str, Place | NobodyHidesError]]:
    """Make a version for each partition of a range that has none, in order.

    `release_one` makes one, with settings as --set takes them. Yielded is each label with its
    folder, or with the refusal where nobody can hide yet and all wait for the next partition.
    The last partition of the range always gives its folder, or is refused.
    """
    vault = Vault(Path(plan.publish.vault)).open()
    with split_by_partition(plan, vault, *find_range_ends(plan, wanted)) as parts:
        last = parts[-1][0]
        for label, part in parts:
            # The last one runs even if it was released: its run returns the folder that stands.
            if part is None and label != last:
                continue
            try:
                yield label, release_one(format_partition_settings(label, part))
            except NobodyHidesError as refusal:
                # No later partition of the range brings people to hide among.
                if label == last:
                    raise
                yield label, refusal
            # The version, or the series' pending part, holds these rows now.
            if part is not None:
                part.unlink()


@contextmanager
def split_by_partition(
    plan: ReleasePlan, vault: Vault, first: str, last: str
) -> Iterator[list[tuple[str, Path | None]]]:
    """Labels of the partitions, each with a file of its rows; None where it was released.

    The source is read once. The files go when the block ends; what a killed process left behind
    goes at the next call.
    """
    plan = apply_series_form(plan, vault)
    versions, series = plan.kind.versions, Series(vault, plan.name).open()
    assert versions is not None
    folder = series.path / _PARTS
    folder.mkdir(mode=0o700, exist_ok=True)
    # Another backfill of this series would remove the files that this one still needs.
    with Run(folder).hold_lock():
        _remove_part_files(folder)
        try:
            done, reading = _list_done_labels(series), _open_source(plan)
            found: list[tuple[str, Path | None]] = []
            for label, rows in versions.parts(plan.data, reading, first, last):
                path = None if label in done else folder / f"{label}.arrow"
                if path is not None:
                    with open_replacement_path(path) as plain:
                        write_rows(rows, plain)
                found.append((label, path))
            reading.end()
            if not found:
                raise InputError(
                    "the source has no rows in these partitions; correct --backfill or "
                    "source.partition"
                )
            yield found
        finally:
            _remove_part_files(folder)


def _list_done_labels(series: Series) -> set[str]:
    """Labels of partitions that were released, or wait for those after them."""
    last = series.last
    pending = series.load_pending_parts(1 if last is None else last.number + 1)
    return {label for each in series.versions() for label in each.parts} | {*pending}


def _remove_part_files(folder: Path) -> None:
    for path in (*folder.glob("*.arrow"), *folder.glob(".*.partial")):
        path.unlink()


def _open_source(plan: ReleasePlan) -> Reading:
    reading = Reading(plan.data.source)
    plan.data.check_header(reading.header)
    return reading
