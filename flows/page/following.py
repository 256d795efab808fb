"""What a command or a look at the source says, while it runs: the server writes on and on.

So no page need be loaded again and again: that would take a reader's place away. The log of a
command is a page in a frame. A look at the source fills the page itself, and leads on at its end.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from html import escape
from typing import Any

from starlette.responses import Response, StreamingResponse

from crowdcover.flows.page.jobs import CommandRun
from crowdcover.flows.page.looking import PageLook
from crowdcover.flows.page.templates import fill_text

_STEP = 0.2  # seconds between two looks at the command
_LINES = "<!-- lines -->"  # of a page: where they are written
_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'self'"
Lines = Callable[[], Sequence[str]]


def follow_job(job: CommandRun | None, page: str, *lines: Lines) -> Response:
    """The lines of a job as they come, then a link to its page; each of `lines` only grows."""
    text = fill_text("following.html.j2", page=page)
    return StreamingResponse(
        _write(job, text, lines),
        media_type="text/html",
        headers={"content-security-policy": _POLICY},
    )


def follow_look(look: PageLook[Any], text: str) -> Response:
    """What a look at the source does, written into a page that then leads on by itself."""
    return StreamingResponse(_write(look, text, [lambda: look.log]), media_type="text/html")


async def _write(
    job: CommandRun | PageLook[Any] | None, text: str, lines: Sequence[Lines]
) -> AsyncIterator[str]:
    head, foot = text.split(_LINES)
    yield head
    written = [0] * len(lines)
    running = job is not None
    while running:
        # Asked first: what comes before the end is then among the lines.
        running = job is not None and job.is_running
        for place, list_lines in enumerate(lines):
            new = list_lines()[written[place] :]
            written[place] += len(new)
            yield "".join(f"{escape(line)}\n" for line in new)
        if running:
            await asyncio.sleep(_STEP)
    yield foot
