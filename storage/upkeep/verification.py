"""What is damaged in a vault: modes, keys, records, stages, series. Nothing is written."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.approval.identity import find_account_name
from crowdcover.storage.encryption.encryption import (
    SEAL,
    DamagedError,
    Seal,
    is_encrypted,
    require_key,
    vault_around,
)
from crowdcover.storage.series.retractions import Retractions
from crowdcover.storage.series.series import WITHDRAWN, Series
from crowdcover.storage.shelf.content import has_version_files, read_document
from crowdcover.storage.shelf.layout import MANIFEST, MARK
from crowdcover.storage.shelf.shelf import has_version_at
from crowdcover.storage.vault.files import (
    UNREADABLE,
    file_sha256,
    is_partial,
    read_json,
    read_private,
    read_secret,
)
from crowdcover.storage.vault.release_owner import is_marked_by
from crowdcover.storage.vault.run import Release, Run
from crowdcover.storage.vault.secret_streams import DIGEST_BYTES
from crowdcover.storage.vault.vault import FOLDERS_KEY, LEDGER_KEY, Vault, run_name

RESTORE = "restore it from a backup"
_AGAIN = "run the release again: the stage is made anew"


@dataclass(frozen=True)
class Damage:
    """Something that is not as it should be, and what to do."""

    where: str
    found: str
    remedy: str


@dataclass
class Report:
    """What was looked at, and what was found."""

    vault: Path
    encrypted: bool = False
    looked_at: dict[str, int] = field(default_factory=dict)
    releases: list[dict[str, str]] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    def count(self, what: str) -> None:
        """Count something that was looked at."""
        self.looked_at[what] = self.looked_at.get(what, 0) + 1

    def add(self, where: Path | str, found: str, remedy: str) -> None:
        """Note a damage."""
        inside = isinstance(where, Path) and where.is_relative_to(self.vault)
        name = str(where.relative_to(self.vault)) if inside else str(where)  # type: ignore[union-attr]
        self.damage.append(Damage(name or ".", found, remedy))

    def document(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "vault": str(self.vault),
            "encrypted": self.encrypted,
            "looked_at": self.looked_at,
            "releases": self.releases,
            "damage": [asdict(each) for each in self.damage],
        }


def inspect_vault(vault: Vault) -> Report:
    """Look at everything in a vault but the ledger. Refused: an encrypted vault without its key."""
    report = Report(vault.path)
    require_key(vault.path)
    seal = Seal.read(vault.path)
    report.encrypted = seal is not None
    if seal is not None and seal.rotating:
        report.add(SEAL, "a rotation was stopped", "run crowdcover vault rotate again")
    _look_at_files(report, vault)
    for name in (LEDGER_KEY, FOLDERS_KEY):
        if (vault.path / name).exists():
            report.count("keys")
            _read_or_report(report, vault.path / name, partial(read_secret, vault.path / name))
    for path in sorted(vault.runs.glob("*")) if vault.runs.is_dir() else []:
        if path.is_dir() and not path.name.startswith("."):
            report.count("runs")
            _look_at_run(report, Run(path))
    for path in sorted(vault.path.glob("series/*")):
        report.count("series")
        _look_at_series(report, Series(vault, path.name))
    return report


def _look_at_files(report: Report, vault: Vault) -> None:
    """Modes, owners, and that what is to be encrypted is."""
    about = vault.path.stat()
    if about.st_mode & 0o077:
        report.add(".", "the vault is open to others", "chmod it to 700")
    for path in sorted(vault.path.rglob("*")):
        if path.is_symlink():
            report.add(path, "it is a link, which no backup follows", "put what it leads to there")
            continue
        try:
            owner, mode = path.stat().st_uid, path.stat().st_mode & 0o777
            report.count("folders" if path.is_dir() else "files")
            if owner != about.st_uid:
                whose = find_account_name(about.st_uid)
                report.add(path, f"it is of {find_account_name(owner)}", f"chown it to {whose}")
            if mode & 0o077:
                right = "700" if path.is_dir() else "600"
                report.add(path, f"its mode is {mode:03o}", f"chmod it to {right}")
            if path.is_file() and report.encrypted and vault_around(path) and _is_plain(path):
                report.add(
                    path,
                    "it is not encrypted",
                    "run crowdcover vault rotate with the vault's key as --to",
                )
        except FileNotFoundError:
            continue  # of a run at work
        except OSError as error:
            report.add(path, f"it cannot be read ({type(error).__name__})", RESTORE)


def _is_plain(path: Path) -> bool:
    """Whether a file is not encrypted, and is no half of one."""
    return not is_encrypted(path) and not is_partial(path)


def _look_at_run(report: Report, run: Run) -> None:
    order, seed = run.path / "run.json", run.path / "seed"
    if not order.exists() or not seed.exists():
        # Without stages it is a run that was killed while it was begun: no damage.
        if any(run.path.glob("*/stage.json")):
            lacking = seed if order.exists() else order
            report.add(lacking, "it is missing, so the run counts as unknown", RESTORE)
        return
    about = _read_or_report(report, order, lambda: read_json(order))
    hashes = [str((about or {}).get(name)) for name in ("plan_sha256", "source_sha256")]
    # The folder is named by both hashes, so a record of another run shows.
    if about is not None and run_name(*hashes) != run.path.name:
        report.add(order, "it is of another run", RESTORE)
    _read_or_report(report, seed, lambda: read_secret(seed))
    readings: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("approval.json", lambda: Approval.of(run)),
        ("retracted.json", lambda: Retractions.of(run)),
        ("releases.json", run.ever_visible),
        ("gates.json", lambda: read_json(run.path / "gates.json")),
        ("approval.html", lambda: read_private(run.path / "approval.html")),
    )
    for name, reading in readings:
        if (run.path / name).exists():
            _read_or_report(report, run.path / name, reading)
    for path in sorted(run.path.glob("[!.]*/stage.json")):
        _look_at_stage(report, path.parent)
    if (run.path / "releases.json").exists():
        for release, state in (
            _read_or_report(report, run.path, lambda: list(_list_release_states(run))) or ()
        ):
            _look_at_release(report, run, release, state)


def _look_at_stage(report: Report, folder: Path) -> None:
    """The hashes of its files; damage of a stage is repaired by another run of its release."""
    report.count("stages")
    record = _read_or_report(
        report, folder / "stage.json", lambda: read_json(folder / "stage.json"), _AGAIN
    )
    if record is None:
        return
    for name, sha256 in sorted(dict(record.get("files", {})).items()):
        path = folder / name
        if not path.is_file():
            report.add(path, "it is missing", f"{RESTORE}, or {_AGAIN}")
        elif _read_or_report(report, path, partial(file_sha256, path)) not in (None, sha256):
            report.add(path, "it is not what the stage wrote", f"{RESTORE}, or {_AGAIN}")


def _list_release_states(run: Run) -> Iterator[tuple[Release, str]]:
    for release in run.ever_visible():
        if not has_version_at(release.folder):
            yield release, "gone"
        # `stands` compares manifest and signature; the manifest has the hashes of the rest.
        elif not release.stands() or not has_version_files(
            release.folder, read_document(release.folder / MANIFEST)["files"]
        ):
            yield release, "changed"
        else:
            yield release, "present"
    for each in Retractions.of(run).all:
        yield each.release, "retracted" if each.done else "half retracted"


def _look_at_release(report: Report, run: Run, release: Release, state: str) -> None:
    """A folder that is gone is stated: where it was moved to, only its owner knows."""
    report.count("releases")
    report.releases.append({"folder": str(release.folder), "run": run.path.name, "state": state})
    if state == "changed":
        report.add(str(release.folder), "it is not what was published", "restore it from a copy")
    if state == "half retracted":
        report.add(
            str(release.folder), "its retraction was stopped", "run crowdcover retract again"
        )
    vault = Vault(run.path.parent.parent)
    if state == "present" and not is_marked_by(vault, release.folder.parent):
        report.add(
            str(release.folder.parent / MARK),
            f"it is not the mark of this vault's {FOLDERS_KEY}",
            f"restore {FOLDERS_KEY} from a backup",
        )


def _look_at_series(report: Report, series: Series) -> None:
    path = series.path / WITHDRAWN
    if path.exists():
        content = _read_or_report(report, path, lambda: read_private(path))
        if content is not None and len(content) % DIGEST_BYTES:
            report.add(path, "it is truncated", RESTORE)
    versions = _read_or_report(report, series.path, series.versions)
    if versions is None:
        return
    if versions:
        last = versions[-1]
        for stage in ("assemble", "versions"):
            if not last.run.has(stage):
                report.add(last.run.path / stage, "the next version needs it; it is gone", RESTORE)
    for folder in sorted(series.path.glob("[0-9]*")):
        stages = [folder / "split", *sorted(folder.glob("pending/*"))]
        for each in stages:
            if (each / "stage.json").exists():
                _look_at_stage(report, each)


def _read_or_report(
    report: Report, path: Path, reading: Callable[[], Any], remedy: str = RESTORE
) -> Any | None:
    """What a reading returns; None where it fails, which is noted."""
    try:
        return reading()
    # First: DamagedError is an AnonymityError and a ValueError, too.
    except DamagedError as damage:
        found = str(damage).removeprefix(f"{path} ").partition(";")[0]  # without what to do
        report.add(path, f"it {found}", remedy)
    except AnonymityError as refusal:
        report.add(path, str(refusal), remedy)
    except UNREADABLE as error:
        report.add(path, f"it cannot be read ({type(error).__name__})", remedy)
    return None
