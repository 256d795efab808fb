"""`crowdcover open`: find out what was named, and serve its page until the command is stopped."""

import argparse
import asyncio
import logging
import os
import socket
from contextlib import suppress
from pathlib import Path

import uvicorn

from anon_core.errors import AnonymityError
from crowdcover.flows.look.named_release import read_manifest
from crowdcover.flows.page.app import build_app
from crowdcover.flows.page.draft import Draft
from crowdcover.flows.page.guard import Secrets
from crowdcover.flows.page.plan_views import load_values
from crowdcover.flows.page.session import Session
from crowdcover.flows.plan.document import read_document
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.plan.starter import build_starter_plan
from crowdcover.storage.approval.signing_keys import read_key
from crowdcover.storage.places.place import Place, is_remote, place_of
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.shelf.shelf import shelf_of


def open_page(options: argparse.Namespace) -> int:
    """Print the address of the page and answer there until Ctrl-C."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        session = build_session(options, Secrets(listening.getsockname()[1]))
        _print_address(session, quiet=options.quiet)
        _serve_page(session, listening)
    return 0


def build_session(options: argparse.Namespace, own: Secrets) -> Session:
    """A session for a source, a plan or a release; refused as their commands refuse them."""
    if options.key is not None:
        read_key(options.key)  # refused now, not at the decision
    others = tuple(map(place_of, options.diff))
    for each in others:
        read_manifest(each)
    session = _open_named(options, own)
    session.key, session.others = options.key, others
    if session.draft is not None:
        load_values(session)
        session.release = session.release or _find_newest_release(session.draft)
    return session


def _open_named(options: argparse.Namespace, own: Secrets) -> Session:
    named = options.opened
    if named.endswith(".toml"):
        return Session(own, named, draft=Draft.read(Path(os.path.abspath(named))))
    if _is_release(named):
        folder = place_of(named)
        read_manifest(folder)
        return Session(own, named, release=folder)
    stated = argparse.Namespace(**{**vars(options), "source": named})
    text = build_starter_plan(stated, _choose_plan_folder(named))
    starter = ("plan", *_list_source_arguments(options))
    return Session(own, named, starter, Draft(text, _choose_plan_path(named, text), options.kind))


def _find_newest_release(draft: Draft) -> Place | None:
    """The newest version of the plan's release in a folder of this machine, if there is one."""
    if draft.saved is None:
        return None
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


def _print_address(session: Session, *, quiet: bool) -> None:
    if not quiet:
        print(
            "Open this address in a browser on this machine. It works once; Ctrl-C ends the page."
        )
    print(session.own.address, flush=True)


def _serve_page(session: Session, listening: socket.socket) -> None:
    """Answer until the process is told to stop; nothing is logged, since paths may be private."""
    # Errors are shown in the page, without their messages. uvicorn would log a traceback.
    logging.getLogger("uvicorn").disabled = logging.getLogger("uvicorn.error").disabled = True
    config = uvicorn.Config(
        build_app(session),
        access_log=False,
        log_config=None,
        log_level="critical",
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    try:
        with suppress(KeyboardInterrupt):  # uvicorn raises it again once it has ended
            asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))
    finally:
        session.end_jobs()
