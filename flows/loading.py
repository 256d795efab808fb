"""`crowdcover load`: a release folder goes into a database, by one transaction."""

import re
from dataclasses import dataclass, replace

from anon_core.errors import GuaranteeError, InputError
from crowdcover.flows.look.named_release import read_manifest
from crowdcover.flows.look.signatures import verify_release
from crowdcover.flows.plan.plan import NAME
from crowdcover.kinds import kind_called
from crowdcover.kinds.section import PlanError
from crowdcover.storage.places.credentials import FORMS, holds_password, is_reference, with_password
from crowdcover.storage.places.place import Place, local_copy
from crowdcover.storage.series.retractions import notice_of
from crowdcover.storage.shelf.content import has_version_files, hash_released_file
from crowdcover.storage.shelf.layout import MANIFEST, VERSION
from crowdcover.storage.targets import TARGETS, target_of
from crowdcover.storage.targets.loading import (
    LoadOutcome,
    ReleaseTables,
    load_version,
    remove_version,
    run_in_transaction,
)

_ADDRESSES = " or ".join(f"{each.starts[0]}..." for each in TARGETS)
_CHANGED = "{} is not as its manifest says ({}); nothing was loaded: give it as it was published"


@dataclass(frozen=True)
class Into:
    """Where a release is loaded.

    Attributes
    ----------
    uri : address of the database, without a password.
    schema : that is there; None: the one that the database takes by itself.
    roles : existing roles that may read the tables and views.
    credentials : where the password lies; None: where the driver looks for it.
    """

    uri: str
    schema: str | None = None
    roles: tuple[str, ...] = ()
    credentials: str | None = None

    def check(self) -> None:
        """Refuse other addresses, passwords in them, and roles where there are none."""
        target = target_of(self.uri)
        if target is None:
            raise PlanError(f"--into must be {_ADDRESSES}")
        if holds_password(self.uri):
            raise PlanError(
                "--into holds a password, which other users of this machine can read in the list "
                "of processes; take it out, and say where it lies by --credentials, PGPASSWORD or "
                "~/.pgpass"
            )
        if self.credentials is not None and not is_reference(self.credentials):
            raise PlanError(f"--credentials must be {FORMS}: where the password lies")
        if not target.grants and (self.roles or self.credentials is not None):
            raise PlanError(
                f"{target.title} has neither roles nor passwords; leave --grant and --credentials "
                "out, and let the permissions of the file say who reads it"
            )

    @property
    def address(self) -> str:
        """The address with the password that the credentials name."""
        return with_password(self.uri, self.credentials)


def load_release(place: Place, into: Into) -> LoadOutcome:
    """Load a release unless it stands there already.

    Refused: a release that was taken back, and one whose files are not those of its manifest.
    """
    into.check()
    read_manifest(place)  # refuses what is no release, before anything is fetched
    with local_copy(place) as folder:
        if notice_of(folder) is not None:
            raise GuaranteeError(
                f"{place} was taken back, so it is not loaded; --remove takes it out of a "
                "database that it was loaded into"
            )
        if broken := [each for each in verify_release(folder, []) if each.broken]:
            wrong = "; ".join(f"{each.guarantee}: {each.detail}" for each in broken)
            raise InputError(_CHANGED.format(place, wrong))
        manifest = read_manifest(folder)

        def recheck() -> None:
            if not has_version_files(folder, manifest["files"]):
                raise InputError(_CHANGED.format(place, "a file changed while it was loaded"))

        kind = kind_called(str(manifest["source"].get("kind", "table")))
        version = replace(_name_version(folder), parts=kind.tables(folder), recheck=recheck)
        return run_in_transaction(
            into.address, lambda session: load_version(session, version, into.schema, into.roles)
        )


def remove_release(place: Place, into: Into) -> LoadOutcome:
    """Take a release out of a database; its folder may be one that was put aside."""
    into.check()
    version = _name_version(place)
    return run_in_transaction(
        into.address, lambda session: remove_version(session, version, into.schema)
    )


def _name_version(folder: Place) -> ReleaseTables:
    """Which version a folder holds, with nothing of its rows."""
    manifest = read_manifest(folder)
    name, version = str(manifest["name"]), str(manifest["version"])
    # Anybody may have written a manifest, and these become names of tables.
    if not (re.fullmatch(NAME, name) and VERSION.fullmatch(version)):
        raise InputError(_CHANGED.format(folder, "it has no name or version of a release"))
    return ReleaseTables(name, version, hash_released_file(folder / MANIFEST))
