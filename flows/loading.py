"""`crowdcover load`: a release folder goes into a database, by one transaction."""

import re
from dataclasses import replace

from anon_core.errors import GuaranteeError, InputError
from crowdcover.flows.look.named_release import read_manifest
from crowdcover.flows.look.signatures import verify_release
from crowdcover.flows.plan.plan import NAME, ReleasePlan
from crowdcover.flows.plan.publish.into import Into
from crowdcover.kinds import kind_called
from crowdcover.storage.places.place import Place, local_copy
from crowdcover.storage.series.retractions import notice_of
from crowdcover.storage.shelf.content import has_version_files, hash_released_file
from crowdcover.storage.shelf.layout import MANIFEST, VERSION
from crowdcover.storage.targets.base import TargetError
from crowdcover.storage.targets.loading import (
    LoadOutcome,
    ReleaseTables,
    load_version,
    remove_version,
    run_in_transaction,
)

_CHANGED = "{} is not as its manifest says ({}); nothing was loaded: give it as it was published"


def load_release(place: Place, into: Into) -> LoadOutcome:
    """Load a release unless it stands there already.

    Refused: a release that was taken back, and one whose files are not those of its manifest.
    """
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
            into.address, lambda session: load_version(session, version, into.schema, into.grant)
        )


def remove_release(place: Place, into: Into) -> LoadOutcome:
    """Take a release out of a database; its folder may be one that was put aside."""
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


def load_as_planned(plan: ReleasePlan, folder: Place) -> str | None:
    """Load what a run published into `publish.into`; says what was done, None without a target.

    A run whose release stands already loads it, too, if the target lacks it.
    """
    into = plan.publish.target
    if into is None:
        return None
    try:
        done = load_release(folder, into)
    except TargetError as error:
        refusal = str(error)
    else:
        return f"{', '.join(done.tables)} in {into.uri.partition('://')[0]}: {done.state}"
    raise TargetError(f"{folder} is published, but not loaded; {refusal}. Then run again")
