"""Failures of the connection itself, told so that a person knows what to check."""

from __future__ import annotations

import errno
import socket
import ssl
from urllib.parse import urlsplit

import httpx2

from sloyd.errors import ProviderError
from sloyd.llm.loopback import is_loopback

__all__ = ["bad_url", "broken_stream", "no_answer"]


def no_answer(error: Exception, url: str) -> ProviderError:
    """The error for a request that got no answer at all."""
    parts = urlsplit(url)
    if isinstance(error, (httpx2.UnsupportedProtocol, httpx2.InvalidURL)):
        return _bad_proxy(error) if _proxies() else bad_url(url)
    where = parts.netloc.rpartition("@")[2] or url
    if isinstance(error, (UnicodeError, httpx2.LocalProtocolError)):
        # Its words are not repeated: they hold the key.
        return ProviderError(
            "The API key or a header holds characters that HTTP cannot carry. Copy the key again.",
            problem="wrong-key",
        )
    if isinstance(error, ImportError):
        return _connection(
            "The environment names a SOCKS proxy, and the package `socksio` for it is missing."
            " Install it, or unset ALL_PROXY."
        )
    if isinstance(error, OSError) and not isinstance(error, ConnectionError):
        return _connection(
            f"The certificates cannot be read: {_words(error)}. Check SSL_CERT_FILE and"
            " SSL_CERT_DIR."
        )
    if isinstance(error, httpx2.ConnectTimeout):
        return _connection(f"No connection to {where} within the time limit.", retryable=True)
    if isinstance(error, httpx2.ProxyError):
        return _connection(f"The proxy refused to connect to {where}: {error}.")
    if isinstance(error, httpx2.TimeoutException):
        return ProviderError(
            f"No answer from {where}: the server stayed silent for too long.",
            problem="timeout",
            retryable=True,
        )
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return ProviderError(f"The request cannot be sent: {error}.", problem="bad-request")
    return _by_cause(error, where, parts.hostname or where)


def bad_url(url: str) -> ProviderError:
    """The error for a URL that is none, or of another scheme."""
    return ProviderError(
        f"`{url}` is not a URL that can be called: it must begin with http:// or https://"
        " and name a host.",
        problem="bad-request",
    )


def broken_stream(error: Exception) -> ProviderError:
    """The error for an answer that broke off."""
    if isinstance(error, httpx2.TimeoutException):
        return ProviderError(
            "The answer stopped coming: the server stayed silent for too long.",
            problem="timeout",
            retryable=True,
        )
    return ProviderError(
        f"The connection broke in the middle of the answer: {_words(error)}.",
        problem="broken-stream",
        retryable=True,
    )


def _by_cause(error: Exception, where: str, host: str) -> ProviderError:
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            lasting = cause.errno != getattr(socket, "EAI_AGAIN", None)
            return _connection(
                f"The host `{host}` is not known. Check the base URL and the network.",
                retryable=not lasting,
            )
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _connection(
                f"The certificate of {where} is not trusted: {cause.verify_message}. If a proxy of"
                " yours signs it, set SSL_CERT_FILE to its certificate."
            )
        if isinstance(cause, ssl.SSLError):
            return _connection(
                f"No secure connection to {where}: {_words(cause)}. If the server speaks plain"
                " HTTP, begin the base URL with http://."
            )
        if isinstance(cause, ConnectionRefusedError) or "refused" in str(cause).lower():
            return _connection(
                f"{where} refused the connection. Is the server running, and is this its port?"
                f"{_proxy_hint(host)}"
            )
        if isinstance(cause, ConnectionResetError) or _errno(cause) == errno.ECONNRESET:
            return _connection(f"{where} reset the connection.", retryable=True)
        if _errno(cause) in {errno.ENETUNREACH, errno.EHOSTUNREACH}:
            return _connection(f"{where} cannot be reached: no route to it.", retryable=True)
    return _connection(f"The request to {where} failed: {_words(error)}.", retryable=True)


def _bad_proxy(error: Exception) -> ProviderError:
    return _connection(f"A proxy that the environment names has no valid address: {error}.")


def _proxies() -> dict[str, str]:
    from urllib.request import getproxies

    return getproxies()


def _proxy_hint(host: str) -> str:
    """What else could be the reason where the environment names a proxy."""
    from urllib.request import proxy_bypass

    if is_loopback(f"//{host}") or not _proxies() or proxy_bypass(host):
        return ""
    return " The environment names a proxy: perhaps it is that one."


def _causes(error: BaseException) -> list[BaseException]:
    """The error, what caused it, and the members of groups (one for each address tried)."""
    found: list[BaseException] = []
    waiting: list[BaseException] = [error]
    while waiting and len(found) < 50:
        cause = waiting.pop(0)
        found.append(cause)
        waiting += getattr(cause, "exceptions", ())
        following = cause.__cause__ or cause.__context__
        if following is not None:
            waiting.append(following)
    return found


def _connection(text: str, *, retryable: bool = False) -> ProviderError:
    return ProviderError(text, problem="connection", retryable=retryable)


def _errno(error: BaseException) -> int | None:
    return error.errno if isinstance(error, OSError) else None


def _words(error: BaseException) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__
