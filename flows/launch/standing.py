"""What needs no run: a release that stands as its plan wants it. Prefect is not imported."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.errors import AnonymityError
from crowdcover.storage.places.place import Place

if TYPE_CHECKING:
    from crowdcover.flows.plan.plan import ReleasePlan


def find_untouched_release(plan: "ReleasePlan") -> Place | None:
    """The folder that a run would return as it is, doing nothing else; None leaves it to the run.

    Only of a file, and where nobody approves: what a run would mend, refuse or say is none of it.
    """
    terms, source = plan.publish.terms, plan.data.source
    known = plan.series is None and plan.partition is None and terms is None
    if not known or source.beside is not None or not isinstance(source.path, Path):
        return None
    # Whatever is wrong is found by the run, too, which says it.
    with suppress(AnonymityError, OSError, ValueError, KeyError, TypeError):
        return _look_for_release(plan)
    return None


def _look_for_release(plan: "ReleasePlan") -> Place | None:
    from crowdcover.storage.series.retractions import refuse_unfinished
    from crowdcover.storage.source.reading import Reading
    from crowdcover.storage.vault.vault import Vault

    folder, releases = Path(plan.publish.vault), plan.releases
    # Before the source is read: a first release need not take its fingerprint twice.
    if not folder.is_dir() or not releases.exists():
        return None
    reading = Reading(plan.data.source)
    reading.end()
    run = Vault(folder).open().find(plan.sha256, reading.sha256)
    if run is None:
        return None
    refuse_unfinished(run)
    if (standing := run.find_standing(releases)) is None:
        return None
    release, manifest = standing
    if not release.published or manifest.get("about") != plan.about.claims.get("about"):
        return None
    plan.limits.release_limits.require(manifest, "")
    return release.folder
