"""Who may send requests, and what a page may do: one layer around the whole application.

The server listens only on this machine unless told otherwise. That keeps out other machines, but not other pages in
the same browser: the name in `Host` must be one of ours (a foreign name that resolves to 127.0.0.1 is refused), and a
write must come from one of our own pages. On any other address a token is required as well.
"""

import secrets
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 200_000  # bytes: a problem with its edits is far smaller
COOKIE = "comdiv-token"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SAFE = ("GET", "HEAD")
_TOO_MUCH = "That is too much text."
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """ASGI middleware: checks every request before the application sees it, and adds headers to every response."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Sequence[str] | None = LOOPBACK,
        token: str | None = None,
        *,
        secret_links: bool = False,
    ) -> None:
        """`hosts` are the names that we answer to; None: any. If `token` is given, requests must have it.

        A server that answers to any name needs a token, unless every link to private data is itself a secret.
        """
        if hosts is None and token is None and not secret_links:
            raise ValueError("a server that answers to any name needs a token")
        self.app, self.hosts, self.token = app, hosts, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            return
        headers = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answered[name] = value
                if "cache-control" not in answered:
                    answered["cache-control"] = "no-store"
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        await self.app(scope, _limited(receive), send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if self.hosts is not None and _name_of(host) not in self.hosts:
            return PlainTextResponse(f"This server does not answer to the name {host[:100]!r}.", 421)
        if self.token is not None and (answer := self._without_token(scope, headers)) is not None:
            return answer
        if scope["method"] not in _SAFE and not _from_our_page(headers, host):
            return PlainTextResponse("Only this server's own pages may write.", 403)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return PlainTextResponse(_TOO_MUCH, 413)
        return None

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """None for a request with the right token; a link that carries it is exchanged for a cookie, once."""
        assert self.token is not None
        if _same(_cookie(headers.get("cookie", "")), self.token):
            return None
        asked = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and _same(dict(asked).get("token", ""), self.token):
            rest = urlencode([pair for pair in asked if pair[0] != "token"])
            # Stay on our own path: a second slash would make it the name of another server.
            path = "/" + scope["path"].lstrip("/\\")
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
            answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return answer
        return PlainTextResponse("Open the link with the token that `comdiv studio` printed.", 401)


def _limited(receive: Receive) -> Receive:
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise HTTPException(413, _TOO_MUCH)
        return message

    return limited


def _name_of(host: str) -> str:
    """The host without its port; empty if it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _from_our_page(headers: Headers, host: str) -> bool:
    """Whether the browser says that the request comes from a page of this server."""
    site = headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = headers.get("origin")
    if origin is None:
        return site == "same-origin"
    try:
        return bool(host) and urlsplit(origin).netloc == host
    except ValueError:
        return False


def _cookie(header: str) -> str:
    try:
        cookie = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode(), wanted.encode())
