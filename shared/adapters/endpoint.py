"""One HTTP endpoint, asked without following, trusting or waiting for more than was agreed.

Over the standard library: no redirect is followed, no proxy or netrc is looked up, and a timer ends what goes on byte by byte. TLS is
verified against the system's authorities; plain HTTP goes to this machine only.
"""

import ssl
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from socket import SHUT_RDWR, socket
from threading import Event, Timer
from typing import Final, Self
from urllib.parse import SplitResult, urlsplit

from shared.adapters.attempts import Passing
from shared.domain.asking import ModelDown, ModelRefused, ModelTimeout

CONNECT_SECONDS: Final = 5.0
MOST_BYTES: Final = 4_000_000
"""Of one answer, also after it is unpacked."""
_PIECE: Final = 65_536
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_ANY_HEADER: Final = zlib.MAX_WBITS | 32
"""Tells zlib to recognise gzip and zlib framing by itself."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back; header names in lower case, `body` unpacked and whole."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class _Watch:
    """Ends a connection when its time is over, however busy it is; from a thread of its own."""

    def __init__(self, seconds: float) -> None:
        self._late = Event()
        self._connected: socket | None = None
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True

    @property
    def late(self) -> bool:
        return self._late.is_set()

    def over(self, connected: socket) -> None:
        """Watch this socket from now on, also when http.client has let go of it. Raises TimeoutError if it is too late."""
        self._connected = connected
        if self.late:
            raise TimeoutError

    def _end(self) -> None:
        self._late.set()
        if self._connected is not None:
            with suppress(OSError):
                socket.shutdown(self._connected, SHUT_RDWR)  # not TLS's own, which is not for other threads

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


class Endpoint:
    """`url` is the base address; whether it is allowed is said by the first `post`, so that its owner learns of it."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url.rstrip("/"))

    def post(self, path: str, body: bytes, headers: Mapping[str, str], seconds: float) -> Response:
        """Send one request and read its answer, in `seconds` at most.

        Raises ModelRefused for an address that is not allowed, ModelTimeout, and Passing(ModelDown) when no whole answer came.
        """
        if not allowed(self._url):
            raise ModelRefused
        connection = self._connection(min(CONNECT_SECONDS, seconds))
        with _Watch(seconds) as watch:
            try:
                _connect(connection)
                connection.sock.settimeout(seconds)
                watch.over(connection.sock)
                response = self._exchange(connection, path, body, headers)
            except (OSError, HTTPException, zlib.error) as fault:
                if watch.late or isinstance(fault, TimeoutError):
                    raise ModelTimeout from None
                raise Passing(ModelDown()) from None
            finally:
                connection.close()
        if watch.late:
            raise ModelTimeout
        return response

    def _connection(self, seconds: float) -> HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            return HTTPSConnection(host, port, timeout=seconds, context=_trust())
        return HTTPConnection(host, port, timeout=seconds)

    def _exchange(self, connection: HTTPConnection, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        connection.request("POST", self._url.path + path, body, dict(headers))
        with connection.getresponse() as response:
            names = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, names, _unpacked(_read(response), names.get("content-encoding", "")))


def allowed(url: SplitResult) -> bool:
    """Tell whether an address may be asked: https, or http on this machine; a host, and neither a user nor a query."""
    try:
        host, _ = url.hostname, url.port
    except ValueError:
        return False
    if not host or url.username is not None or url.query or url.fragment:
        return False
    return url.scheme == "https" or (url.scheme == "http" and _this_machine(host))


def _this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


def _connect(connection: HTTPConnection) -> None:
    """Connect. A name that cannot be a host's is a UnicodeError."""
    try:
        connection.connect()
    except (OSError, UnicodeError):
        raise Passing(ModelDown()) from None


def _read(response: HTTPResponse) -> bytes:
    body = bytearray()
    while piece := response.read1(_PIECE):
        body += piece
        if len(body) > MOST_BYTES:
            raise HTTPException
    if response.length:
        raise HTTPException
    return bytes(body)


def _unpacked(body: bytes, coding: str) -> bytes:
    if coding.lower() in {"", "identity"}:
        return body
    if coding.lower() not in _PACKED:
        raise HTTPException
    unpacker = zlib.decompressobj(_ANY_HEADER)
    whole = unpacker.decompress(body, MOST_BYTES)
    if not unpacker.eof:
        raise HTTPException
    return whole
