"""The sockets: HTTP/1.1 on 127.0.0.1, the local server's own /local routes, everything else to the gateway."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import urlsplit

from local.gateway import REQUEST_BYTES, Request, Response, message

OwnRoute = Callable[[bytes], Any]
_OWN_HOSTS = frozenset({"127.0.0.1", "localhost"})
_CHUNK_LINE = 64 * 1024


class BadRequest(Exception):
    """A /local request that cannot be used; the message says why."""


class _TooLong(Exception):
    pass


def _json(status: int, value: Any) -> Response:
    return Response(status, (("content-type", "application/json"),), json.dumps(value).encode())


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "nacre-local"
    sys_version = ""
    disable_nagle_algorithm = True
    timeout = 75.0
    answer: ClassVar[Callable[[Request], Response]]
    own_routes: ClassVar[dict[tuple[str, str], OwnRoute]]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (its base class names them)
        """Say nothing: a request line names projects."""

    def _read_chunks(self) -> bytes:
        body = bytearray()
        while True:
            size = int(self.rfile.readline(_CHUNK_LINE).split(b";")[0].strip() or b"0", 16)
            if size == 0:
                while self.rfile.readline(_CHUNK_LINE).strip():
                    continue
                return bytes(body)
            if size < 0 or len(body) + size > REQUEST_BYTES:
                raise _TooLong
            body += self.rfile.read(size)
            self.rfile.readline(_CHUNK_LINE)

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return self._read_chunks()
        length = int(self.headers.get("content-length") or 0)
        if length < 0:
            raise ValueError(length)
        if length > REQUEST_BYTES:
            raise _TooLong
        return self.rfile.read(length)

    def _respond(self, response: Response) -> None:
        silent = self.command == "HEAD" or response.status in {204, 304}
        lines = [f"HTTP/1.1 {response.status} {self.responses.get(response.status, ('',))[0]}"]
        lines += [f"{name}: {value}" for name, value in response.headers]
        lines.append(f"date: {self.date_time_string()}")
        if response.status != 204:
            lines.append(f"content-length: {len(response.body)}")
        if self.close_connection:
            lines.append("connection: close")
        head = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n"
        self.wfile.write(head if silent else head + response.body)

    def _own(self, path: str, body: bytes) -> Response:
        host = urlsplit(f"//{self.headers.get('host', '')}").hostname
        route = self.own_routes.get((self.command, path))
        if route is None or host not in _OWN_HOSTS:
            return message(404, "Not Found")
        try:
            return _json(200, route(body))
        except BadRequest as problem:
            return _json(400, {"message": str(problem)})

    def _handle(self) -> None:
        try:
            body = self._read_body()
        except _TooLong:
            self.close_connection = True
            self._respond(message(413, "Request Too Long"))
            return
        except ValueError:
            self.close_connection = True
            self._respond(message(400, "Bad Request"))
            return
        if not self.path.isascii():
            self._respond(message(400, "Bad Request: percent-encode what is not ASCII in the address."))
            return
        path = self.path.partition("?")[0]
        if path.startswith("/local/"):
            self._respond(self._own(path, body))
            return
        headers = tuple((name, value) for name, value in self.headers.items())
        source = str(self.client_address[0])
        self._respond(type(self).answer(Request(self.command, self.path, headers, body, source)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up."""


class Server:
    """Serves one gateway on 127.0.0.1; `own_routes` maps (method, path under /local) to what answers there."""

    def __init__(
        self, port: int, answer: Callable[[Request], Response], own_routes: dict[tuple[str, str], OwnRoute]
    ) -> None:
        members = {"answer": staticmethod(answer), "own_routes": own_routes}
        self._listener = _Listener(("127.0.0.1", port), type("Connection", (_Connection,), members))
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), name="http", daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    def start(self) -> None:
        """Start answering."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and free the port."""
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()
