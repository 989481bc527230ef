"""One request of a wire over a transport: its URL, its headers, and what a refusal means."""

from __future__ import annotations

from sloyd.errors import ProviderError
from sloyd.llm.fixes import Fixes
from sloyd.llm.loopback import is_loopback
from sloyd.llm.models import ModelInfo
from sloyd.llm.transport import Response, Transport
from sloyd.llm.wires.base import Wire, WireRequest, encode_body

__all__ = ["Sender", "endpoint"]


def endpoint(base_url: str, path: str) -> str:
    """The address of ``path`` below a base URL, in whatever form people copied that.

    It may end with slashes, or be the endpoint's own address, or carry a query, as Azure wants it.
    """
    base, _, query = base_url.strip().partition("?")
    base = base.rstrip("/")
    place, _, own_query = path.partition("?")
    if not base.endswith(place):
        base += place
    queries = "&".join(filter(None, (query, own_query)))
    return f"{base}?{queries}" if queries else base


class Sender:
    """Sends the requests of one model."""

    def __init__(
        self, info: ModelInfo, wire: Wire, transport: Transport, key: str | None, fixes: Fixes
    ) -> None:
        self.info = info
        self._wire = wire
        self._transport = transport
        self._key = key
        self._fixes = fixes

    async def send(self, request: WireRequest, idle_timeout: float) -> Response:
        """The answer with a good status, its body still to come.

        A parameter that the server refuses is left out, and the request sent again at once.
        Raises `ProviderError` for everything else.
        """
        if self._key is None and self._needs_key():
            from sloyd.llm.explain import no_key

            raise no_key(self.info)
        url = endpoint(self.info.base_url, request.path)
        headers = self._headers(request)
        while True:
            body = self._fixes.apply(request.body)
            response = await self._transport.post(
                url, headers, encode_body(body), idle_timeout=idle_timeout
            )
            if 200 <= response.status < 300:
                return response
            error = await self._refusal(response, url)
            # Each lesson makes the request smaller, so this ends.
            if error.problem != "bad-request" or not self._fixes.learn(body, str(error)):
                raise error

    def _headers(self, request: WireRequest) -> dict[str, str]:
        return {
            "content-type": "application/json",
            "accept": "text/event-stream",
            # Compressed streams are held back by some proxies until a block is full.
            "accept-encoding": "identity",
            "user-agent": "sloyd",
            **request.headers,
            **(self._wire.authorization(self.info, self._key) if self._key else {}),
            **self.info.headers,
        }

    async def _refusal(self, response: Response, url: str) -> ProviderError:
        from sloyd.llm.explain import key_wanted, refusal, with_names, without_secret

        try:
            error = await refusal(response, self.info, url)
        finally:
            await response.aclose()
        if self._key is None and error.problem == "wrong-key":
            return key_wanted(self.info, error)
        if self._key is not None:
            error = without_secret(error, self._key)
        if error.problem != "unknown-model":
            return error
        from sloyd.llm.listing import list_models, nearest_names

        try:
            names = await list_models(self.info, self._key, transport=self._transport)
        except ProviderError:
            return error
        return with_names(error, nearest_names(self.info.id, names))

    def _needs_key(self) -> bool:
        from sloyd.llm.providers import find_provider

        provider = find_provider(self.info.provider)
        if provider is None or not provider.needs_key or is_loopback(self.info.base_url):
            return False
        return self.info.base_url.strip().rstrip("/") == provider.base_url
