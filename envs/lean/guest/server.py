"""Holds Lean's language server, which elaborates only what changed. Run in the guest, by its Python.

    LEAN DOOR     the command `lean`, and the path of a Unix socket to be made

Whoever connects writes a text and shuts down for writing. The answer is a JSON list of what Lean says of it,
`{"line", "severity", "text"}`, line 1 the first, as Lean's own messages do; one of line 0 is about Lean.
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

URI = "file:///home/user/Task.lean"
MEMORY_MB = 3000
ANSWER_S, READ_S = 27, 5
MAX_BYTES, PIPE_BYTES = 2**16, 2**20
SEVERITIES = ("", "error", "warning", "information", "hint")


class LanguageServer:
    """`lean --server` with one document open (Language Server Protocol 3.17)."""

    def __init__(self, command: str) -> None:
        options = [f"--memory={MEMORY_MB}", "-Dserver.reportDelayMs=10"]
        self.process = subprocess.Popen(
            [command, "--server", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        # Whatever a text is, writing it never waits for a Lean that hangs.
        fcntl.fcntl(self.process.stdin, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.unread = b""
        self.version = 0

    def messages(self, text: str) -> "list[dict]":
        """What Lean says of a text; OSError when it says nothing in time."""
        end_s = time.monotonic() + ANSWER_S
        document = {"uri": URI, "version": self.version + 1}
        if not self.version:
            self.send({"id": 0, "method": "initialize", "params": {"capabilities": {}}})
            self.answer(0, end_s)
            self.send({"method": "initialized", "params": {}})
            opened = {**document, "languageId": "lean", "text": text}
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
        else:
            changed = {"textDocument": document, "contentChanges": [{"text": text}]}
            self.send({"method": "textDocument/didChange", "params": changed})
        self.version += 1
        waited = {"uri": URI, "version": self.version}
        self.send({"id": self.version, "method": "textDocument/waitForDiagnostics", "params": waited})
        return self.answer(self.version, end_s)

    def answer(self, number: int, end_s: float) -> "list[dict]":
        """The diagnostics that stand when a request is answered."""
        found: list[dict] = []
        while True:
            told = self.receive(end_s)
            if told.get("id") == number and "method" not in told:
                if "error" in told:
                    raise OSError(told["error"].get("message", "it failed"))
                return found
            params = told.get("params") or {}
            if told.get("method") == "textDocument/publishDiagnostics" and params["version"] == number:
                found = [read_diagnostic(one) for one in params["diagnostics"]]

    def send(self, message: dict) -> None:
        """Write a message with its header."""
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def receive(self, end_s: float) -> dict:
        """Read a message."""
        while b"\r\n\r\n" not in self.unread:
            self.read_more(end_s)
        header, _, self.unread = self.unread.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b":", 1) for line in header.split(b"\r\n"))
        size = int(fields[b"content-length"])
        while len(self.unread) < size:
            self.read_more(end_s)
        data, self.unread = self.unread[:size], self.unread[size:]
        return json.loads(data)

    def read_more(self, end_s: float) -> None:
        """Wait for what Lean writes."""
        pipe = self.process.stdout.fileno()
        if not select.select([pipe], [], [], max(end_s - time.monotonic(), 0))[0]:
            raise OSError(f"not within {ANSWER_S} s")
        data = os.read(pipe, 65536)
        if not data:
            raise OSError("it ended")
        self.unread += data

    def end(self) -> None:
        """End it and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


def read_diagnostic(one: dict) -> dict:
    """One of the protocol's, as Lean's own message."""
    return {
        "line": one["range"]["start"]["line"] + 1,
        "severity": SEVERITIES[one.get("severity", 1)],
        "text": one["message"],
    }


def read_text(client: socket.socket) -> str:
    """What a client writes."""
    client.settimeout(READ_S)
    data = b""
    while part := client.recv(65536):
        data += part
        if len(data) > MAX_BYTES:
            raise ValueError(f"the text is larger than {MAX_BYTES} bytes")
    return data.decode()


class Prover:
    """A language server, and a new one in its place once it has failed."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.server: LanguageServer | None = None

    def messages(self, text: str) -> "list[dict]":
        """What Lean says of a text, or that it says nothing."""
        try:
            self.server = self.server or LanguageServer(self.command)
            return self.server.messages(text)
        except OSError as error:
            if self.server:
                self.server.end()
            self.server = None
            return [{"line": 0, "severity": "error", "text": f"Lean did not finish: {error}"}]


def main() -> None:
    """Answer one client after the other."""
    command, path = sys.argv[1:3]
    prover = Prover(command)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen()
        prover.messages("")  # what a file imports is read before the first one is asked for
        while True:
            client, _ = door.accept()
            with client, contextlib.suppress(OSError, ValueError):
                client.sendall(json.dumps(prover.messages(read_text(client))).encode())


if __name__ == "__main__":
    main()
