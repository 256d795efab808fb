"""Versions of crowdcover and of what it stands on, and the drivers of databases."""

import platform
from collections.abc import Collection, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from packaging.requirements import Requirement

from anon_core.plugins import PLUGIN_GROUPS, Plugin, explain_left_out, list_plugins
from crowdcover.kinds import list_usable_kinds
from crowdcover.kinds.judge.plugins import load_checks
from crowdcover.storage.source.drivers import DATABASES
from crowdcover.tasks.doctor.look import Look, rate_missing

OURS = "crowdcover"
_PIPELINE = "pipeline"  # the extra of all that runs plans
# With the extra that brings it and what it is for; the first are needed by every run.
_SHOWN = ("numpy", "numba", "polars", "prefect")
STORAGE = {"s3": ("s3fs", "S3"), "gcs": ("gcsfs", "Google Cloud Storage")}
DRIVERS = {
    **{each.extra: (each.module, each.title) for each in DATABASES if each.extra},
    **STORAGE,
}
# Others are shown only if a plan needs them.
COMMON = {"s3", *(each.extra for each in DATABASES if each.common)}


def check_software() -> Iterator[Look]:
    """crowdcover, Python, and each required package with the versions that are allowed."""
    yield Look(OURS, "ok", version(OURS))
    yield Look("Python", "ok", platform.python_version())
    for line in requires(OURS) or ():
        requirement = Requirement(line)
        # Packages of other extras are looked at if a plan needs them.
        if requirement.marker is None or requirement.marker.evaluate({"extra": _PIPELINE}):
            yield from _check_package(requirement)
    # Methods and formats were loaded with their registries.
    load_checks()
    list_usable_kinds()
    for plugin in (each for group in PLUGIN_GROUPS for each in list_plugins(group)):
        yield _check_plugin(plugin)


def _check_plugin(plugin: Plugin) -> Look:
    """What another package adds, and whether it can be used."""
    what, why = f"plug-in {plugin.name} ({plugin.group})", explain_left_out(plugin)
    if why:
        found, means = f"{plugin.package} {why}", "plans that name it are refused"
        return Look(what, "wrong", found, means, "mend or uninstall it")
    return Look(what, "ok", plugin.package)


def _check_package(requirement: Requirement) -> Iterator[Look]:
    """A package that is shown always, or only if something is wrong with it."""
    name, allowed = requirement.name, str(requirement.specifier)
    install = f"pip install '{name}{allowed}'"
    try:
        found = version(name)
    except PackageNotFoundError:
        yield Look(name, "wrong", "not installed", "no release can be made", install)
        return
    # A pre-release within the bounds counts; by default it may not.
    if not requirement.specifier.contains(found, prereleases=True):
        means = f"crowdcover is made for {allowed}; other versions are known to fail, or not tried"
        yield Look(name, "wrong", found, means, install)
    elif name in _SHOWN:
        yield Look(name, "ok", f"{found} ({allowed})")


def check_drivers(needed: Collection[str]) -> Iterator[Look]:
    """The drivers of databases and storage; `needed` are the extras that a plan needs."""
    for extra, (module, title) in DRIVERS.items():
        if extra in COMMON or extra in needed:
            yield check_extra_package(f"driver of {title}", module, extra, needed=extra in needed)


def check_extra_package(what: str, module: str, extra: str, *, needed: bool) -> Look:
    """A package of an extra."""
    if find_spec(module) is not None:
        return Look(what, "ok", "installed")
    means = "the plan needs it" if needed else "plans that need it are refused"
    return Look(
        what, rate_missing(needed), "not installed", means, f"pip install '{OURS}[{extra}]'"
    )
