"""Prefect's server behind a proxy with a login: it states who answered a form of crowdcover.

    uvicorn --factory crowdcover.flows.launch.sign_in:build_server --host 127.0.0.1 --port 4200

Two variables of its environment turn this on. Without them no header is read.

    CROWDCOVER_IDENTITY_HEADER   the header in which the proxy names who is signed in
    CROWDCOVER_SIGN_IN_KEY       where the server's private key lies, such as file:/etc/sign-in.key

Only the proxy may reach the server's pages: whoever reaches the server itself can send any header.
"""

import json
import os
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval.request import DecisionError
from crowdcover.storage.approval.sign_in import FIELD, state_identity
from crowdcover.storage.approval.signing_keys import key_at
from crowdcover.storage.places.credentials import FORMS, is_reference

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HEADER_VARIABLE, KEY_VARIABLE = "CROWDCOVER_IDENTITY_HEADER", "CROWDCOVER_SIGN_IN_KEY"
RESUME = re.compile(r"(?P<api>.*)/flow_runs/(?P<run>[0-9a-f]{8}-[0-9a-f-]{27})/resume/?")
LONGEST = 1 << 20  # bytes of an answer

RequestScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Server = Callable[[RequestScope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class SignedInServer:
    """A server of Prefect that adds who is signed in to the answers that ask for it.

    Every other request passes as it is. What a person states about themselves is dropped.
    """

    server: Server
    header: bytes
    key: "Ed25519PrivateKey"

    async def __call__(self, scope: RequestScope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_http = scope["type"] == "http" and scope["method"] == "POST"
        if not is_http or (found := RESUME.fullmatch(scope["path"])) is None:
            await self.server(scope, receive, send)
            return
        body = await _read_body(receive)
        body = await self._add_identity(scope, body, found["api"], found["run"])
        headers = [each for each in scope["headers"] if each[0].lower() != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        await self.server({**scope, "headers": [*headers, length]}, _Replayed(body, receive), send)

    async def _add_identity(self, scope: RequestScope, body: bytes, api: str, run: str) -> bytes:
        """The answer with who gave it, where its form has a field for that."""
        try:
            document = json.loads(body)
        except ValueError:
            return body
        answer = document.get("run_input") if isinstance(document, dict) else None
        if not isinstance(answer, dict):
            return body
        answer.pop(FIELD, None)
        named = [value for name, value in scope["headers"] if name.lower() == self.header]
        # Two headers: a proxy that lets the one of a client through. Neither counts.
        if len(named) == 1 and await self._asks_identity(scope, api, run):
            # A name that no manifest could show is not stated: the flow refuses the answer.
            with suppress(DecisionError, UnicodeDecodeError):
                answer[FIELD] = state_identity(self.key, run, answer, named[0].decode("utf-8"))
        return json.dumps(document).encode()

    async def _asks_identity(self, scope: RequestScope, api: str, run: str) -> bool:
        """Whether the form of this flow run has a field for who is signed in."""
        import httpx

        # The request's own rights: a server with a password asks for it here, too.
        headers = [each for each in scope["headers"] if each[0].lower() == b"authorization"]
        asking = httpx.ASGITransport(app=self.server, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=asking, base_url="http://server", headers=headers
        ) as client:
            try:
                told = (await client.get(f"{api}/flow_runs/{run}")).raise_for_status().json()
                schema = told["state"]["state_details"]["run_input_keyset"]["schema"]
                form = await client.get(f"{api}/flow_runs/{run}/input/{schema}")
                return FIELD in form.raise_for_status().json()["properties"]
            except (httpx.HTTPError, ValueError, KeyError, TypeError):
                return False


def build_server() -> Server:
    """Prefect's server with the header and the key that the environment states.

    Refused: one of both alone, and a key that is not there.
    """
    from prefect.server.api.server import create_app

    header, place = os.environ.get(HEADER_VARIABLE, ""), os.environ.get(KEY_VARIABLE, "")
    if not header and not place:
        return create_app()
    if not header or not is_reference(place):
        stated = f"{HEADER_VARIABLE} names a header, and {KEY_VARIABLE} is {FORMS}"
        raise PlanError(f"{stated}: state both, or neither")
    return SignedInServer(create_app(), header.strip().lower().encode("latin-1"), key_at(place))


async def _read_body(receive: Receive) -> bytes:
    """The body of a request, up to one byte more than is allowed."""
    parts, length = [], 0
    while length <= LONGEST:
        message = await receive()
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if message["type"] != "http.request" or not message.get("more_body", False):
            break
    return b"".join(parts)[: LONGEST + 1]


class _Replayed:
    """A body that was read, as the server receives it; afterwards what the client sends."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> MutableMapping[str, Any]:
        if (body := self._body) is None:
            return await self._receive()
        self._body = None
        return {"type": "http.request", "body": body, "more_body": False}
