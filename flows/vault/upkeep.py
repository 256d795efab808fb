"""The command `crowdcover vault`: verify, back up, restore, prune and rotate a vault."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from crowdcover.flows.look.named_vault import find_named_vault, refuse_unreadable_vault
from crowdcover.flows.look.told_events import tell_server
from crowdcover.flows.outcome import print_outcome
from crowdcover.flows.plan.durations import parse_duration
from crowdcover.kinds import kind_called
from crowdcover.kinds.section import PlanError
from crowdcover.reports.quantities import size
from crowdcover.storage.encryption.encryption import SECRET, keys_in, new_key, require_key
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.ledger.verification import look_at_ledger
from crowdcover.storage.places.place import is_remote
from crowdcover.storage.upkeep.backup import back_up, restore_backup
from crowdcover.storage.upkeep.key_rotation import rotate_keys
from crowdcover.storage.upkeep.prune import apply_removals, list_removals
from crowdcover.storage.upkeep.verification import Report, inspect_vault
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.endings import name_of
from crowdcover.storage.vault.files import read_private
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.vault import Vault


def verify_vault(options: argparse.Namespace) -> int:
    """Print what is damaged and what to do; 1 if anything is."""
    vault, ledger = _find_vault_and_ledger(options)
    report = inspect_vault(vault)
    look_at_ledger(report, ledger)
    print_outcome(options, report.document(), _format_report(report))
    return 1 if report.damage else 0


def back_up_vault(options: argparse.Namespace) -> int:
    """Write one file with the whole vault."""
    vault, ledger = _find_vault_and_ledger(options)
    backup = back_up(vault, options.to, options.recipient, plain=options.plain)
    words = f"{backup.files} files ({size(backup.bytes)}) of {vault.path} are in {options.to}, " + (
        "encrypted" if backup.encrypted else "NOT encrypted: keep it as private as the vault"
    )
    if ledger.uri is not None:
        words += ". The ledger at publish.ledger is not in it: back up that database, too"
    print_outcome(options, {"to": str(options.to), **asdict(backup)}, [words])
    tell_server("vault.backed-up", _list_plan_names(vault))
    return 0


def _list_plan_names(vault: Vault) -> list[str]:
    """The names of the plans that a vault holds runs of."""
    with refuse_unreadable_vault(vault):
        return sorted({name for run in vault.every_run() if (name := name_of(run))})


def restore_vault(options: argparse.Namespace) -> int:
    """Make a vault of a backup."""
    keys = None if options.identity is None else keys_in(options.identity, "--identity")
    backup = restore_backup(
        options.file,
        Path(os.path.abspath(options.vault)),
        keys,
        [_parse_move(m) for m in options.moved],
    )
    words = (
        f"{backup.files} files ({size(backup.bytes)}) of the backup of {backup.made} are in "
        f"{options.vault}. Run crowdcover vault verify, and set publish.vault of your plans to it. "
        "Releases that were published after the backup are unknown to it"
    )
    print_outcome(options, {"vault": str(options.vault), **asdict(backup)}, [words])
    return 0


def _parse_move(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (equals and old and new):
        raise PlanError("--moved takes OLD=NEW, two folders of releases")
    places = [each if is_remote(each) else os.path.abspath(each) for each in (old, new)]
    return places[0].rstrip("/"), places[1].rstrip("/")


def prune_vault(options: argparse.Namespace) -> int:
    """Remove what nobody needs, or say what would be removed."""
    keep = parse_duration(options.keep)
    if keep is None:
        raise PlanError("--keep must be a duration such as 30d or 12h")
    vault, ledger = _find_vault_and_ledger(options)
    # What is still needed stands in encrypted records: refuse a missing key before any is read.
    require_key(vault.path)
    if options.dry_run:
        removed, verb = list_removals(vault, keep), "would be removed"
    else:
        with _refuse_unwritable_vault(vault):
            removed, verb = apply_removals(vault, keep, ledger.drop), "removed"
    document = {
        "vault": str(vault.path),
        "dry_run": options.dry_run,
        "bytes": sum(each.bytes for each in removed),
        "removed": [
            {
                "path": str(each.path.relative_to(vault.path)),
                "why": each.why,
                "bytes": each.bytes,
            }
            for each in removed
        ],
    }
    whole = f"{len(removed)} {verb}, {size(document['bytes'])}"
    lines = [
        f"{each['path']}: {each['why']}, {size(each['bytes'])}" for each in document["removed"]
    ]
    print_outcome(options, document, [*lines, whole])
    return 0


def rotate_vault_key(options: argparse.Namespace) -> int:
    """Put all files under another key."""
    if (options.to is None) == (not options.to_plain):
        raise PlanError("give --to KEY_FILE, or --to-plain to end the encryption")
    if options.to_plain and not options.yes:
        raise PlanError(
            "--to-plain stores all secrets of the vault readable for everybody who reads its disk; "
            "add --yes if that is what you want"
        )
    vault, _ = _find_vault_and_ledger(options)
    new = [] if options.to is None else keys_in(options.to, "--to")
    with _refuse_unwritable_vault(vault):
        done = rotate_keys(vault, new)
    what = "plain" if options.to is None else f"under the key in {options.to}"
    words = f"{done.written} files ({size(done.bytes)}) of {vault.path} are {what} now"
    if done.kept:
        words += f"; {done.kept} were before"
    if options.to is not None:
        words += (
            ". Set the vault's key of all users and services to it. Older backups need the old key"
        )
    words += ". Deleted files may stay on a disk until it writes over them"
    print_outcome(options, {"vault": str(vault.path), **asdict(done)}, [words])
    return 0


def write_new_key(options: argparse.Namespace) -> int:
    """Draw a key; print its public key."""
    secret, public = new_key()
    assert secret.startswith(SECRET)
    _write_new_file(options.output, f"# public key: {public}\n{secret}\n".encode("ascii"))
    print_outcome(options, {"output": str(options.output), "public_key": public}, [public])
    return 0


def print_vault_file(options: argparse.Namespace) -> int:
    """Print a file of a vault, or write it elsewhere."""
    vault, _ = _find_vault_and_ledger(options)
    path = vault.path / options.file
    # Resolved: neither `..` nor a link may lead out of the vault.
    if not path.resolve().is_relative_to(vault.path.resolve()) or not path.is_file():
        raise PlanError(f"the vault has no file {options.file}; give a path inside the vault")
    content = read_private(path)
    if options.output is None:
        sys.stdout.buffer.write(content)
        return 0
    _write_new_file(options.output, content)
    print(options.output)
    return 0


def _find_vault_and_ledger(options: argparse.Namespace) -> tuple[Vault, Ledger]:
    """The vault that is named, or that a plan names, and its ledger."""
    plan, vault = find_named_vault(options)
    with refuse_unreadable_vault(vault):
        is_vault = vault.runs.is_dir()
        # A folder may be entered but not listed: only this raises a PermissionError then.
        next(iter(vault.path.iterdir()), None) if is_vault else None
    if not is_vault:
        raise FolderError(f"{vault.path} is no vault; give the folder that publish.vault names")
    if plan is None:
        # Any kind will do: no step of this command digests people, so none calls `remade`.
        return vault, Ledger(vault, kind_called("table").remade, None)
    return vault, Ledger(vault, plan.kind.remade, plan.publish.ledger_uri)


def _write_new_file(path: Path, content: bytes) -> None:
    """Write a file that was not there, mode 0600."""
    try:
        # The mode is given at creation: before a later chmod others could open the file.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        raise PlanError(f"{path} exists or cannot be written; choose another --output") from None
    with open(handle, "wb") as target:
        target.write(content)


@contextmanager
def _refuse_unwritable_vault(vault: Vault) -> Iterator[None]:
    """Say plainly that a vault cannot be written; what was begun goes on with the next call."""
    try:
        yield
    except OSError as error:
        refusal = (
            f"{vault.path} cannot be written ({type(error).__name__}); correct the folder and its "
            "permissions, then run the same command again"
        )
        if is_full(error):
            refusal = describe_full_disk("the command", [vault.path])
    else:
        return
    raise FolderError(refusal)


def _format_report(report: Report) -> list[str]:
    lines = [f"{each.where}: {each.found}; {each.remedy}" for each in report.damage]
    states = [f"{each['folder']}: {each['state']}" for each in report.releases]
    counted = ", ".join(f"{number} {what}" for what, number in report.looked_at.items())
    kept = "encrypted" if report.encrypted else "not encrypted"
    verdict = f"{len(report.damage)} damaged" if report.damage else "nothing is damaged"
    return [*states, *lines, f"{report.vault} ({kept}): {counted}: {verdict}"]
