"""HTTP for every wire: one client, kept connections, failures as `ProviderError`.

`httpx2` is imported when the first request is made. A client belongs to the event loop it was
made in, so a model that is used from a second loop gets a second client.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel

from sloyd.errors import ProviderError
from sloyd.llm.loopback import is_loopback

if TYPE_CHECKING:
    import httpx2

__all__ = ["Response", "Transport"]

_CONNECT_TIMEOUT = 15.0
_WRITE_TIMEOUT = 120.0
_KEEP_ALIVE = 120.0
"""Seconds that an idle connection is kept: longer than most tool runs between two requests."""
_CLOSE_TIMEOUT = 1.0
_BODY_TIMEOUT = 10.0
_BODY_LIMIT = 256 * 1024
"""Most bytes of an error's body; pages of proxies can be large."""


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # A port beyond 65535 raises.
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != -1
    except ValueError:
        return False


class Response:
    """The head of an answer, and its body as it comes."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body. Raises `ProviderError` when the connection breaks or goes silent."""
        import httpx2

        try:
            async for chunk in self._response.aiter_bytes():
                yield chunk
        except (httpx2.RequestError, httpx2.StreamError) as error:
            from sloyd.llm.connection_errors import broken_stream

            raise broken_stream(error) from error

    async def body(self) -> bytes:
        """What there is of the body, within limits of size and time."""
        data = bytearray()
        with anyio.move_on_after(_BODY_TIMEOUT), contextlib.suppress(ProviderError):
            async for chunk in self.chunks():
                data += chunk
                if len(data) >= _BODY_LIMIT:
                    break
        return bytes(data)

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, else close it."""
        with (
            anyio.CancelScope(shield=True, deadline=anyio.current_time() + _CLOSE_TIMEOUT),
            contextlib.suppress(Exception),
        ):
            await self._response.aclose()


class Transport:
    """Sends requests. Keep one for many requests, and close it with `aclose`.

    Args:
        http: another `httpx2` transport to send through, such as one that records.
    """

    def __init__(self, *, http: httpx2.AsyncBaseTransport | None = None) -> None:
        self._http = http
        self._clients: dict[str, httpx2.AsyncClient] = {}
        self._answering: set[httpx2.AsyncClient] = set()
        self._loop: object = None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, idle_timeout: float
    ) -> Response:
        """POST and wait for the head of the answer. Close the response.

        Raises `ProviderError` when no answer comes within ``idle_timeout`` seconds.
        """
        return await self.request("POST", url, headers, body, idle_timeout=idle_timeout)

    async def get(self, url: str, headers: Mapping[str, str], *, idle_timeout: float) -> Response:
        """GET, under the same rules."""
        return await self.request("GET", url, headers, b"", idle_timeout=idle_timeout)

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, idle_timeout: float
    ) -> Response:
        """Send anything, under the same rules: all requests come through here."""
        import httpx2

        if not _is_http(url):
            from sloyd.llm.connection_errors import bad_url

            raise bad_url(url)
        timeout = httpx2.Timeout(
            connect=min(_CONNECT_TIMEOUT, idle_timeout),
            read=idle_timeout,
            write=_WRITE_TIMEOUT,
            pool=_CONNECT_TIMEOUT,
        )
        try:
            client = self._client(url)
            request = client.build_request(
                method, url, headers=dict(headers), content=body or None, timeout=timeout
            )
            return Response(await self._sent(client, request))
        except (httpx2.RequestError, httpx2.InvalidURL, ValueError, ImportError, OSError) as error:
            from sloyd.llm.connection_errors import no_answer

            raise no_answer(error, url) from error

    async def _sent(self, client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
        """Send; at once again when a connection was kept that its server had given up meanwhile."""
        import httpx2

        try:
            response = await client.send(request, stream=True)
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            if client not in self._answering:
                raise
            self._answering.discard(client)
            response = await client.send(request, stream=True)
        self._answering.add(client)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        clients = list(self._clients.values())
        self._clients.clear()
        self._answering.clear()
        for client in clients:
            with contextlib.suppress(Exception):
                await client.aclose()

    def _client(self, url: str) -> httpx2.AsyncClient:
        loop = anyio.lowlevel.current_token()
        if loop != self._loop:
            # Connections of a loop that is gone can neither be used nor closed.
            self._clients.clear()
            self._answering.clear()
            self._loop = loop
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        client = self._clients.get(origin)
        if client is None:
            client = self._clients[origin] = self._new_client(origin)
        return client

    def _new_client(self, origin: str) -> httpx2.AsyncClient:
        import httpx2

        limits = httpx2.Limits(keepalive_expiry=_KEEP_ALIVE)
        if self._http is not None:
            return httpx2.AsyncClient(transport=self._http)
        return httpx2.AsyncClient(
            # Reading the certificates costs 20 ms, and no redirect is followed to https. Those that
            # SSL_CERT_FILE names count on this machine too.
            verify=not origin.startswith("http://") and httpx2.create_ssl_context(),
            # A proxy from the environment cannot reach a server on this machine.
            trust_env=not is_loopback(origin),
            limits=limits,
        )
