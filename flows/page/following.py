"""The log of a command while it runs: a page in a frame that the server writes on and on.

So the page around it need not be loaded again and again: that would take a reader's place away.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from html import escape

from starlette.responses import Response, StreamingResponse

from crowdcover.flows.page.answers import fill_text
from crowdcover.flows.page.jobs import CommandRun

_STEP = 0.4  # seconds between two looks at the command
_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'self'"
Lines = Callable[[], Sequence[str]]


def follow_job(job: CommandRun | None, page: str, *lines: Lines) -> Response:
    """The lines of a job as they come, then a link to its page; each of `lines` only grows."""
    return StreamingResponse(
        _write(job, page, lines),
        media_type="text/html",
        headers={"content-security-policy": _POLICY},
    )


async def _write(job: CommandRun | None, page: str, lines: Sequence[Lines]) -> AsyncIterator[str]:
    head, foot = fill_text("following.html.j2", page=page).split("<!-- lines -->")
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
