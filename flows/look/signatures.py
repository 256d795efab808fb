"""`crowdcover verify`: a release folder as it was signed, without its source or its vault."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polars.exceptions import PolarsError

from anon_core.errors import InputError
from crowdcover.flows.look.documents import catalogue_finding
from crowdcover.flows.look.named_release import refuse_damaged_manifest, require_release
from crowdcover.kinds import kind_called
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.judge.forms import check_file_forms
from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval.attestation import (
    hash_folder_files,
    list_stray_names,
    signature_in,
)
from crowdcover.storage.approval.signing_keys import public_in
from crowdcover.storage.places.place import Place, local_copy, read_start
from crowdcover.storage.shelf.content import hash_released_file, read_document
from crowdcover.storage.shelf.layout import MANIFEST, NOTICE, SIGNATURE

MOST_NAMED = 5
LONGEST_KEY = 4096  # bytes of a file with a public key


def read_public_key(text: str) -> str:
    """A public key, from its text or from a file that holds it."""
    stated = public_in(text)
    if stated is None:
        try:
            content = read_start(Path(text).expanduser(), LONGEST_KEY)
            stated = public_in(content.decode("ascii", errors="replace"))
        # RuntimeError: `expanduser` knows no such user.
        except (OSError, ValueError, RuntimeError):
            stated = None
    if stated is None:
        raise PlanError(
            "--key takes a public key, 'ed25519:...' as `crowdcover key show` prints it, or the "
            "path of a file that holds it, also as PEM"
        )
    return stated


def verify_release(place: Place, keys: Sequence[str]) -> list[Finding]:
    """Every finding about a folder. Without keys, the manifest's hashes stand in for a signature.

    Refused: a place without manifest and signature. What follows from the manifest is looked at
    only where every byte is the one that was signed.
    """
    require_release(place, SIGNATURE)
    with local_copy(place) as folder:
        return _verify_folder(folder, keys)


def _verify_folder(folder: Path, keys: Sequence[str]) -> list[Finding]:
    findings = []
    # By name: `exists` would not see a broken link.
    if any(path.name == NOTICE for path in folder.iterdir()):
        detail = f"{NOTICE} in the folder says that it was taken back"
        findings.append(Finding("not retracted", passed=False, detail=detail))
    signed: Mapping[str, str] | None
    if keys:
        made, wrong = signature_in(folder, keys)
        detail = wrong if made is None else f"of {made.name} {made.version}, by {made.key}"
        findings.append(Finding("signature", made is not None, detail))
        signed = None if made is None else made.files
    else:
        signed = _read_claimed_hashes(folder)
    if signed is None:
        # With keys, the finding about the signature says why nothing else is compared.
        unread = Finding("manifest", passed=False, detail=f"{MANIFEST} cannot be read")
        return [*findings, *([] if keys else [unread])]
    findings.append(_compare_files(folder, signed))
    if any(finding.broken for finding in findings):
        return findings
    manifest = read_document(folder / MANIFEST)
    if keys and made is not None:
        findings.append(_same_release(manifest, made.name, made.version))
    try:
        # The hashes agree, but anybody may have written the manifest.
        with refuse_damaged_manifest():
            kind = kind_called(str(manifest["source"].get("kind", "table")))
            findings += [
                check_file_forms(folder, kind.files, kind.codebook),
                *catalogue_finding(folder, kind, manifest),
            ]
    except InputError as refusal:
        findings.append(Finding("manifest", passed=False, detail=str(refusal)))
    except PolarsError:
        findings.append(Finding("data files", passed=False, detail="a data file cannot be read"))
    return findings


def _read_claimed_hashes(folder: Path) -> dict[str, str] | None:
    """The hashes that the manifest states, with its own as it is; None if it cannot be read."""
    try:
        claimed = dict(read_document(folder / MANIFEST)["files"])
        # No manifest holds its own hash, so any bytes of it pass: this tells damage, not forgery.
        return {**claimed, MANIFEST: hash_released_file(folder / MANIFEST)}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _compare_files(folder: Path, signed: Mapping[str, str]) -> Finding:
    """Compare all that is in the folder with the hashes of its files."""
    # A signature cannot cover itself.
    there = {path.name for path in folder.iterdir()} - {SIGNATURE}
    odd = list_stray_names(folder)
    # To read a link may leave the folder, and to read a device or pipe may never end.
    now = {} if odd else hash_folder_files(folder)
    lost, more = sorted(set(signed) - there), sorted(there - set(signed))
    changed = sorted(name for name in set(signed) & set(now) if signed[name] != now[name])
    parts = (("changed", changed), ("missing", lost), ("too many", more), ("no plain files", odd))
    wrong = "; ".join(f"{what}: {_format_file_names(names)}" for what, names in parts if names)
    return Finding("every file", not wrong, wrong or f"{len(signed)} files, no other")


def _format_file_names(names: Sequence[str]) -> str:
    """Some names of files; whoever changed a folder chose them."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    # As JSON escapes them: a name may hold signs that rewrite a terminal.
    return ", ".join(json.dumps(name)[1:-1] for name in names[:MOST_NAMED]) + more


def _same_release(manifest: Mapping[str, Any], name: str, version: str) -> Finding:
    """Whether the signature is of the release that the manifest names."""
    same = (manifest.get("name"), manifest.get("version")) == (name, version)
    detail = "the same in both" if same else f"the signature is of {name} {version}"
    return Finding("name and version", same, detail)
