"""What `crowdcover open` was given: a source, a plan or a release, as a session of the page."""

import argparse
import os
from pathlib import Path

from anon_core.errors import AnonymityError
from crowdcover.flows.look.named_release import read_manifest, refuse_damaged_manifest
from crowdcover.flows.page.draft import Draft
from crowdcover.flows.page.guard import Secrets
from crowdcover.flows.page.plan_views import read_values
from crowdcover.flows.page.session import Session
from crowdcover.flows.plan.document import read_document
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.plan.starter import build_starter_plan
from crowdcover.kinds import kind_called
from crowdcover.kinds.base import Listener, say_nothing
from crowdcover.storage.approval.signing_keys import read_key
from crowdcover.storage.places.place import Place, is_remote, place_of
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.shelf.shelf import shelf_of


def build_session(
    options: argparse.Namespace, own: Secrets, tell: Listener = say_nothing
) -> Session:
    """A session for a source, a plan or a release; refused as their commands refuse them.

    `tell` hears what is done.
    """
    if options.key is not None:
        read_key(options.key)  # refused now, not at the decision
    others = tuple(map(place_of, options.diff))
    for each in others:
        read_manifest(each)
    session = _open_named(options, own, tell)
    session.key, session.others = options.key, others
    if session.draft is not None:
        read_values(session, tell)
    return session


def _open_named(options: argparse.Namespace, own: Secrets, tell: Listener) -> Session:
    named = options.opened
    if named.endswith(".toml"):
        draft = Draft.read(Path(os.path.abspath(named)))
        return Session(own, named, draft=draft, release=_find_newest_release(draft))
    if _is_release(named):
        folder = place_of(named)
        manifest = read_manifest(folder)
        with refuse_damaged_manifest():  # imported now: no view waits for that
            kind_called(str(manifest["source"].get("kind", "table")))
        return Session(own, named, release=folder)
    stated = argparse.Namespace(**{**vars(options), "source": named})
    text = build_starter_plan(stated, _choose_plan_folder(named), tell)
    draft = Draft(text, _choose_plan_path(named, text), options.kind)
    return Session(own, named, ("plan", *_list_source_arguments(options)), draft=draft)


def _find_newest_release(draft: Draft) -> Place | None:
    """The newest version of the plan's release in a folder of this machine, if there is one."""
    try:
        parent = ReleasePlan.load(draft.path).releases
        versions = shelf_of(parent).versions() if isinstance(parent, Path) else []
    # The page of the plan shows a refusal; a folder that cannot be listed shows no release.
    except (AnonymityError, OSError):
        return None
    return parent / versions[-1] if versions else None


def _is_release(named: str) -> bool:
    """Whether a folder is named that is no folder of Parquet files."""
    if is_remote(named):
        return (place_of(named) / MANIFEST).is_file()
    folder = Path(named)
    parts = any(folder.glob("*.parquet"))
    return (folder.is_dir() and not parts) or (folder / MANIFEST).is_file()


def _choose_plan_folder(named: str) -> Path:
    """Where the starter plan is saved: beside a local source, else in the current folder."""
    source = Path(named)
    return source.resolve().parent if source.exists() else Path.cwd()


def _choose_plan_path(named: str, text: str) -> Path:
    """The file that the starter plan is saved to."""
    folder = _choose_plan_folder(named)
    name = read_document(folder / "plan.toml", [], text)["name"]
    return folder / f"{name}.toml"


def _list_source_arguments(options: argparse.Namespace) -> list[str]:
    """The arguments that name the source for `crowdcover plan`."""
    stated = [options.opened]
    if options.kind != "table":
        stated += ["--kind", options.kind]
    for option, given in (("--query", options.query), ("--sheet", options.sheet)):
        stated += [] if given is None else [option, given]
    if options.header is not None:
        stated.append("--header" if options.header else "--no-header")
    return [*stated, *(["--names", ",".join(options.names)] if options.names else [])]
