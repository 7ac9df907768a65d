"""What a node hears of the others while the ranks run: who was told to stop, and who is gone.

torchrun cannot tell a rank that failed from a node that was taken away: the surviving ranks see closed connections and
their agent exits with 1 either way, or they wait for a rank that is no more. So the wrappers keep the connections of
the roll call open, all to the head, and speak one JSON object a line:

    node -> head    {"ended": ""}          its ranks have ended by themselves and left a result
    node -> head    {"ended": "error"}     they have not, and so the others never will ("timeout" likewise)
    node -> head    {"lost": text}         it was told to stop (SIGTERM), so the job has to be run again
    head -> node    {"broken": "error"}, {"lost": text}    likewise, of any node
    head -> node    {"settled": true}      every node has ended by itself; nobody was lost

A connection that closes without any of this is a node that died: killed, or its machine is gone. For a machine that
vanishes without a word the kernel's keep-alive probes close it, after `SILENT_S`.

A lost node makes the others end as preempted. Whether that was a reclaim or a fault is not theirs to judge: the
platform looks at how the lost one ended (a pod's `DisruptionTarget` condition, its exit code).
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any

SILENT_S = 25
"""After which a machine that does not answer counts as gone. Below the limit of a collective (90 s), so that the node
is missed before its silence looks like a check that failed."""

SETTLE_S = SILENT_S + 10.0
"""How long an ended node waits to hear how the others fared."""

_PROBES = 4


class Line:
    """A TCP connection that carries JSON objects, one a line."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._reader = connection.makefile("rb")
        self._sending = threading.RLock()  # a signal handler may send while the main thread does
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (
            ("TCP_KEEPIDLE", SILENT_S // (_PROBES + 1)),
            ("TCP_KEEPINTVL", SILENT_S // (_PROBES + 1)),
            ("TCP_KEEPCNT", _PROBES),
            ("TCP_USER_TIMEOUT", SILENT_S * 1000),  # the same for what was sent and not acknowledged
        ):
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends; what can no longer be sent is dropped, for whoever receives sees that the connection has ended."""
        with self._sending:
            try:
                self._socket.sendall((json.dumps(message) + "\n").encode())
            except OSError:
                self.shut()

    def receive(self, timeout_s: float | None = 5.0) -> dict[str, Any]:
        """The next message; empty when the other side has closed. Raises OSError, and ValueError for anything else
        than a JSON object."""
        self._socket.settimeout(timeout_s)
        text = self._reader.readline()
        message = json.loads(text) if text else {}
        if not isinstance(message, dict):
            raise ValueError(f"a JSON object is needed, got {text!r}")
        return message

    def gone(self) -> bool:
        """Whether the other side has closed already; it must not have sent anything."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def shut(self) -> None:
        """Ends the connection; who waits in `receive` wakes up."""
        with contextlib.suppress(OSError):  # it has ended already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Gives the connection back."""
        self.shut()
        self._reader.close()
        self._socket.close()


class Peers:
    """The other nodes of the job, from the roll call on.

    `lost` says which one was lost and how, or is empty. `broken` is the verdict of the first whose ranks ended without
    a result (`error`, `timeout`), or empty.
    """

    def __init__(self, node_rank: int, lines: Mapping[int, Line], hosts: Mapping[int, str]) -> None:
        self.lost = ""
        self.broken = ""
        self._me = f"node {node_rank} ({hosts.get(node_rank, '')})"
        self._head = node_rank == 0
        self._lines = dict(lines)
        self._hosts = hosts
        self._pending = set(lines)  # nodes that have neither ended nor been lost
        self._news = threading.Condition()
        for rank, line in self._lines.items():
            threading.Thread(target=self._listen, args=(rank, line), name=f"node-{rank}", daemon=True).start()

    def _listen(self, rank: int, line: Line) -> None:
        with contextlib.suppress(OSError, ValueError):  # a reset, or the keep-alive gave up: as if it had closed
            while message := line.receive(None):
                if "lost" in message:
                    self._lose(str(message["lost"]))
                if broken := message.get("broken") or message.get("ended"):
                    self._break(str(broken))
                if "ended" in message or "settled" in message:
                    self._end(rank)
        if rank in self._pending:
            self._lose(f"node {rank} ({self._hosts.get(rank, '')}) is gone: its pod was killed or its machine is lost")
            self._end(rank)
        line.close()

    def _lose(self, text: str) -> None:
        with self._news:
            first, self.lost = not self.lost, self.lost or text
            self._news.notify_all()
        if first and self._head:
            self._say({"lost": text})

    def _break(self, verdict: str) -> None:
        first, self.broken = not self.broken, self.broken or verdict
        if first and self._head:
            self._say({"broken": verdict})

    def _end(self, rank: int) -> None:
        with self._news:
            self._pending.discard(rank)
            self._news.notify_all()

    def stopped(self) -> None:
        """Tells the others that this node was told to stop. Safe in a signal handler."""
        self._say({"lost": f"{self._me} was told to stop (SIGTERM)"})

    def settle(self, broken: str) -> str:
        """Tells the others that this node's ranks have ended, waits until that is so everywhere, and returns `lost`.

        `broken` is the verdict where the ranks left no result, else empty.

        A verdict of ranks that lost a node is none, and a pass is worth nothing where another node has to run again.
        Waits `SETTLE_S` at most: a node that neither ends nor dies is stopped by its own limit.
        """
        if not self._head:
            self._say({"ended": broken})
        elif broken:
            self._break(broken)
        deadline = time.monotonic() + SETTLE_S
        with self._news:
            while self._pending and not self.lost and (left := deadline - time.monotonic()) > 0:
                self._news.wait(left)
        if self._head and not self.lost:
            self._say({"settled": True})
        return self.lost

    def _say(self, message: Mapping[str, Any]) -> None:
        for line in self._lines.values():
            line.send(message)

    def close(self) -> None:
        """Ends the connections."""
        self._pending.clear()
        for line in self._lines.values():
            line.shut()


def alone() -> Peers:
    """The peers of a job on one node."""
    return Peers(0, {}, {})
