"""`crowdcover open`: serve a page until the command is stopped.

The address is printed before the parts of the page are imported and the source is looked at: that
takes seconds, in which the page says what is done. So this module imports little.
"""

import argparse
import asyncio
import logging
import re
import socket
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from crowdcover.flows.page.following import follow_look
from crowdcover.flows.page.guard import Guard, Secrets
from crowdcover.flows.page.looking import Log, PageLook
from crowdcover.flows.page.templates import fill_style, fill_text
from crowdcover.flows.printed_json import print_refusal

if TYPE_CHECKING:
    from crowdcover.flows.page.session import Session

_NO_PATH = re.compile(r"://|[*?]")
_ASKS_EVERY = 0.1  # seconds between two questions whether what was named is refused


def open_page(options: argparse.Namespace) -> int:
    """Print the address of the page and answer there until Ctrl-C."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        own = Secrets(listening.getsockname()[1])
        look = PageLook(partial(_make_page, options, own))
        # What is not there is refused at once; addresses and patterns of files may take long.
        if _NO_PATH.search(options.opened) is None and not Path(options.opened).exists():
            look.wait()
        if not look.refusal:
            _print_address(own, quiet=options.quiet)
        _serve_page(look, own, listening)
    return look.code


class OpenedPage(NamedTuple):
    """The session of what was named, and what answers its requests."""

    session: "Session"
    app: ASGIApp


def _make_page(options: argparse.Namespace, own: Secrets, tell: Log) -> OpenedPage:
    """The page of what was named; refused as its commands refuse it."""
    tell("Loading what the page needs")
    from crowdcover.flows.page.app import build_app
    from crowdcover.flows.page.opened import build_session

    session = build_session(options, own, tell)
    return OpenedPage(session, build_app(session))


class Front:
    """Says what is done until there is a page; then hands each request on to it."""

    def __init__(self, look: PageLook[OpenedPage], own: Secrets) -> None:
        self._look = look
        routes = [
            Route("/style.css", lambda _: fill_style()),
            Route("/{path:path}", self._show_look),
        ]
        self._before = Guard(Starlette(routes=routes), own)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        page = self._look.made
        await (self._before if page is None else page.app)(scope, receive, send)

    def _show_look(self, _: Request) -> Response:
        parts: dict[str, Any] = dict.fromkeys(("has_plan", "has_release", "has_columns"), False)
        parts |= {"notice": "", "refusal": ""}
        if self._look.refusal:
            return HTMLResponse(
                fill_text("refused.html.j2", words=self._look.refusal, **parts), 400
            )
        return follow_look(self._look, fill_text("looking.html.j2", page="/", **parts))


def _print_address(own: Secrets, *, quiet: bool) -> None:
    if not quiet:
        print(
            "Open this address in a browser on this machine. It works once; Ctrl-C ends the page."
        )
    print(own.address, flush=True)


def _serve_page(look: PageLook[OpenedPage], own: Secrets, listening: socket.socket) -> None:
    """Answer until the process is told to stop; nothing is logged, since paths may be private."""
    # Errors are shown in the page, without their messages. uvicorn would log a traceback.
    logging.getLogger("uvicorn").disabled = logging.getLogger("uvicorn.error").disabled = True
    config = uvicorn.Config(
        Front(look, own),
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
            asyncio.run(_answer_requests(look, own, uvicorn.Server(config), listening))
    finally:
        if look.made is not None:
            look.made.session.end_jobs()


async def _answer_requests(
    look: PageLook[OpenedPage], own: Secrets, server: uvicorn.Server, listening: socket.socket
) -> None:
    """Answer until the end; a refusal is the end, too, if nobody has opened the page."""
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while look.is_running and not serving.done():
        await asyncio.sleep(_ASKS_EVERY)
    if look.refusal:
        print_refusal(look.refusal)
        server.should_exit = not own.is_spent
    await serving
