"""A web server for one page and its owner: on loopback, behind a secret path, closed to foreign hosts."""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

HOST = "127.0.0.1"
MAX_BODY_BYTES = 64 * 1024
_IDLE_S = 30.0
_WAKE_S = 3600.0
_GRACE_S = 1.0
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class Response:
    """What a route answers; a body of several parts is sent part by part, as they come."""

    status: int
    content_type: str
    body: bytes | Iterator[bytes]

    @classmethod
    def text(cls, status: int, message: str) -> Response:
        """A plain message."""
        return cls(status, "text/plain; charset=utf-8", message.encode())


Route = Callable[[bytes], Response]


class LocalServer:
    """Serves routes at `http://127.0.0.1:PORT/TOKEN/NAME` on daemon threads, which `close` ends and joins.

    A request whose path lacks the token, or whose Host header is not this server's address (DNS
    rebinding), is answered 403.
    """

    def __init__(self, routes: Mapping[tuple[str, str], Route]) -> None:
        """Start; `routes` maps (method, name) to a function from the request's body to a response."""
        self._server = _Server(routes, secrets.token_urlsafe(24))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_WAKE_S,), daemon=True)
        self._thread.start()
        self.url = f"http://{HOST}:{self._server.port}/{self._server.token}/"

    def close(self) -> None:
        """Stop listening, end connections, join the threads. Bodies in parts have to end by themselves."""
        self._server.socket.shutdown(socket.SHUT_RDWR)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.end_connections()


class _Server(socketserver.TCPServer):
    """A thread per connection; only the thread of `serve_forever` changes `_connections`."""

    def __init__(self, routes: Mapping[tuple[str, str], Route], token: str) -> None:
        super().__init__((HOST, 0), _Handler)
        self.port: int = self.server_address[1]
        self.routes, self.token = routes, token
        self._connections: dict[threading.Thread, socket.socket] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self._answer, args=(request, client_address), daemon=True)
        self._connections = {one: its for one, its in self._connections.items() if one.is_alive()}
        thread.start()
        self._connections[thread] = request

    def end_connections(self) -> None:
        """Wake those that read, let those that write finish, cut those that take too long; join all."""
        for how, wait_s in ((socket.SHUT_RD, _GRACE_S), (socket.SHUT_RDWR, None)):
            for request in self._connections.values():
                with contextlib.suppress(OSError):
                    request.shutdown(how)
            for thread in self._connections:
                thread.join(wait_s)

    def _answer(self, request: socket.socket, client_address: Any) -> None:
        try:
            with contextlib.suppress(OSError):  # the browser went away, or `close` cut it off
                self.finish_request(request, client_address)
        finally:
            self.shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _IDLE_S

    def do_GET(self) -> None:
        self._send(self._respond())

    def do_POST(self) -> None:
        self._send(self._respond())

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: stderr belongs to the caller."""

    def _respond(self) -> Response:
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit():
            return Response.text(400, f"Content-Length: not a number: {length!r}")
        body = self.rfile.read(min(int(length), MAX_BODY_BYTES + 1))
        token, _, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        hosts = (f"{HOST}:{self.server.port}", f"localhost:{self.server.port}")
        if self.headers.get("Host") not in hosts:
            return Response.text(403, f"Host: must be {hosts[0]}")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return Response.text(403, "the address lacks the token; open the whole URL that was printed")
        if (self.command, name) not in self.server.routes:
            return Response.text(404, f"no {self.command} {name!r} here")
        if len(body) > MAX_BODY_BYTES:
            return Response.text(413, f"the body is larger than {MAX_BODY_BYTES} bytes")
        return self.server.routes[self.command, name](body)

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for header, value in {**_HEADERS, "Content-Type": response.content_type}.items():
            self.send_header(header, value)
        self.end_headers()
        for part in [response.body] if isinstance(response.body, bytes) else response.body:
            self.wfile.write(part)
