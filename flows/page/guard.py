"""Who may ask the page for what: checked before any route is reached.

The server listens on 127.0.0.1 only, but other accounts of the machine and other pages of the
browser can send requests there. So each request needs the cookie that the printed address was
exchanged for, the right Host (a foreign name may resolve to this machine), and no sign of having
been made by another page. A form also needs the token that this server wrote into it.
"""

import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 4 << 20  # of a form: a plan with thousands of columns
FORM_TYPE = "application/x-www-form-urlencoded"
FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field
HEADERS = {
    # Charts colour their parts by attributes.
    "content-security-policy": "default-src 'none'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; form-action 'self'; "
    "frame-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # without a referrer, browsers state no origin of a form
    "x-content-type-options": "nosniff",
}
NO_COOKIE = (
    "This page needs the address that `crowdcover open` printed, with its token. The address works "
    "once. If it was used in another browser, stop the command and run it again."
)


class Secrets:
    """What the address, the cookie and the forms of one server hold."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        # Browsers keep cookies by host, not by port: each server needs a name of its own.
        self.cookie = f"crowdcover-{port}"
        self.session = secrets.token_urlsafe(32)
        self.form = secrets.token_urlsafe(32)
        self._token: str | None = secrets.token_urlsafe(32)

    @property
    def address(self) -> str:
        """The address to print; it works once."""
        return f"http://{self.host}/?token={self._token}"

    @property
    def is_spent(self) -> bool:
        """Whether a browser has opened the address."""
        return self._token is None

    def spend_token(self, given: str) -> bool:
        """Whether this is the token of the address; it is none afterwards."""
        if self._token is None or not _is_same(given, self._token):
            return False
        self._token = None
        return True


class Guard:
    """Refuses requests before the routes of `app` see them."""

    def __init__(self, app: ASGIApp, own: Secrets) -> None:
        self.app, self.own = app, own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on to the routes."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # the page has no websockets

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        answer = self._exchange_token(request) or self._refuse_stranger(request)
        if answer is None and request.method == "POST":
            answer = await self._read_form(request)
        await (answer or self.app)(scope, receive, send_guarded)

    def _exchange_token(self, request: Request) -> Response | None:
        """The cookie, for the address that was printed."""
        given = request.query_params.get("token")
        if given is None or request.method != "GET" or not self._has_right_host(request):
            return None
        if self._has_cookie(request):  # the address was opened again in this browser
            return RedirectResponse("/", 303)
        if not self.own.spend_token(given):
            return _refuse(NO_COOKIE)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            self.own.cookie, self.own.session, path="/", httponly=True, samesite="strict"
        )
        return answer

    def _refuse_stranger(self, request: Request) -> Response | None:
        """A refusal, unless the request comes from a page of this server or from its address."""
        if not self._has_right_host(request):
            return _refuse("This server answers to its own address only.", 421)
        if request.method not in ("GET", "HEAD", "POST"):
            return _refuse("This server answers to GET and POST.", 405)
        origin = request.headers.get("origin")
        # "none": the address was typed. Another port of this machine would be "same-site".
        site = request.headers.get("sec-fetch-site", "none")
        if origin not in (None, f"http://{self.own.host}") or site not in ("same-origin", "none"):
            return _refuse("Another page sent this request; open the page itself.")
        return None if self._has_cookie(request) else _refuse(NO_COOKIE)

    async def _read_form(self, request: Request) -> Response | None:
        """Put the fields of a form into `request.state.form`; refused without its token."""
        if request.headers.get("content-type", "").partition(";")[0].strip() != FORM_TYPE:
            return _refuse("Only forms of the page are read.", 415)
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return _refuse("The form is too large.", 413)
        try:
            form = dict(parse_qsl(body.decode(), keep_blank_values=True, errors="strict"))
        except ValueError:
            return _refuse("The form is not UTF-8 text.", 400)
        if not _is_same(form.pop(FORM_TOKEN, ""), self.own.form):
            return _refuse("The form is not one of this page; load the page again.")
        request.state.form = form
        return None

    def _has_right_host(self, request: Request) -> bool:
        return request.headers.getlist("host") == [self.own.host]

    def _has_cookie(self, request: Request) -> bool:
        return _is_same(request.cookies.get(self.own.cookie, ""), self.own.session)


def form_of(request: Request) -> Mapping[str, str]:
    """The fields of the form that a request sent; of a field that is there twice the last."""
    fields: Mapping[str, str] = request.state.form
    return fields


def _is_same(given: str, secret: str) -> bool:
    """Compare in a time that does not tell how much is right."""
    return secrets.compare_digest(given.encode(), secret.encode())


def _refuse(words: str, status: int = 403) -> Response:
    return PlainTextResponse(words + "\n", status)
