"""What a node hears of the others while the ranks run: who was told to stop, and who is gone.

torchrun cannot tell a rank that failed from a node that was taken away: the surviving ranks see closed connections and
their agent exits with 1 either way, or they wait for a rank that is no more. So the wrappers keep the connections of
the roll call open, all to the head, and speak one JSON object a line:

    node -> head    {"ended": ""}          its ranks have ended by themselves and left a result
    node -> head    {"ended": "error"}     they have not, and so the others never will ("timeout", "silent" likewise)
    node -> head    {"lost": text}         it was told to stop (SIGTERM), so the job has to be run again
    head -> node    {"broken": "error"}    of another node; both with what is known of its ranks: "errors": [...]
    head -> node    {"lost": text}         of any node: the job has to be run again
    head -> node    {"settled": true}      every node has ended by itself; nobody was lost

The head alone decides, once: lost or settled. So a node that is told to stop asks for it, as everybody does, and waits
for the answer; what comes after the decision changes nothing. A head that has neither heard from a node nor missed it
by the job's limit decides nothing, and the job has not passed.

A connection that closes without any of this is a node that died: killed, or its machine is gone. For a machine that
vanishes without a word the kernel's keep-alive probes close it, after `SILENT_S`.

A lost node makes the others end as preempted. Whether that was a reclaim or a fault is not theirs to judge: the
platform looks at how the lost one ended (a pod's `DisruptionTarget` condition, its exit code).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import select
import socket
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import Any

SILENT_S = 25
"""After which a machine that does not answer counts as gone. Below the limit of a collective (90 s), so that the node
is missed before its silence looks like a check that failed."""

SETTLE_S = SILENT_S + 10.0
"""How long an ended node waits at least to hear how the others fared, and one that was told to stop at most."""

_PROBES = 4

_SIOCGIFADDR = 0x8915
"""Linux: the IPv4 address of an interface (netdevice(7))."""


def interface_of(address: str) -> str:
    """The interface that has an IPv4 address; empty where none has. Linux."""
    for _, name in socket.if_nameindex():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):  # has no IPv4
            request = struct.pack("256s", name.encode()[:15])
            if socket.inet_ntoa(fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)[20:24]) == address:
                return name
    return ""


class Line:
    """A TCP connection that carries JSON objects, one a line."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._reader = connection.makefile("rb")
        self._sending = threading.Lock()
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

    def local_address(self) -> str:
        """The address of this side, as IPv4 where it is one; empty once the connection has ended."""
        try:
            return str(self._socket.getsockname()[0]).removeprefix("::ffff:")
        except OSError:
            return ""

    def gone(self) -> bool:
        """Whether the other side has closed already; it must not have sent anything."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def shut(self) -> None:
        """Ends the connection; who waits in `receive` wakes up."""
        with contextlib.suppress(OSError):  # it has ended already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Gives the connection back."""
        self.shut()  # who sends or receives lets go of it
        with self._sending:
            self._reader.close()
            self._socket.close()


class Peers:
    """The other nodes of the job, from the roll call on.

    `lost` says which node was lost and how, or is empty. `broken` is the verdict of the first other node whose ranks
    ended without a result (`error`, `timeout`, `silent`), or empty; `errors` is what other nodes say of their ranks, as
    in result.json. `settled`: the head has decided that nobody was lost.
    """

    def __init__(self, node_rank: int, lines: Mapping[int, Line], hosts: Mapping[int, str]) -> None:
        self.lost = ""
        self.broken = ""
        self.errors: list[dict[str, Any]] = []
        self.settled = False
        self._rank = node_rank
        self._head = node_rank == 0
        self._lines = dict(lines)
        self._hosts = hosts
        self._pending = set(lines)  # nodes that have neither ended nor been lost
        self._news = threading.Condition()
        self._passed_on: set[str] = set()  # kinds of news, by the head
        self._told = False  # to stop
        # A signal handler may interrupt whoever holds a lock; this queue is the one thing that it may put into.
        self._signals: SimpleQueue[None] = SimpleQueue()
        for rank, line in self._lines.items():
            threading.Thread(target=self._listen, args=(rank, line), name=f"node-{rank}", daemon=True).start()
        threading.Thread(target=self._heed, name="stopped", daemon=True).start()

    def name(self, rank: int) -> str:
        """`node 1 (host)`."""
        return f"node {rank} ({self._hosts.get(rank, '')})"

    def interface(self) -> str:
        """The network interface over which this node meets the others; empty where it is not known."""
        for line in self._lines.values():
            found = interface_of(line.local_address())
            if found:
                return found
        return ""

    def missing(self) -> str:
        """The nodes that were not heard of, by name."""
        return ", ".join(self.name(rank) for rank in sorted(self._pending))

    def _listen(self, rank: int, line: Line) -> None:
        with contextlib.suppress(OSError, ValueError):  # a reset, or the keep-alive gave up: as if it had closed
            while message := line.receive(None):
                if lost := message.get("lost"):
                    self._hear("lost", str(lost), rank)
                if broken := message.get("broken") or message.get("ended"):
                    self._hear("broken", str(broken), rank, message.get("errors", ()))
                if "ended" in message or "settled" in message:
                    self._end(rank, settled=not self._head and "settled" in message)
        if rank in self._pending:
            self._hear("lost", f"{self.name(rank)} is gone: its pod was killed or its machine is lost", rank)
            self._end(rank)
        line.close()

    def _heed(self) -> None:
        self._signals.get()
        if self._told:
            self._stop()

    def _hear(self, kind: str, text: str, origin: int, errors: Sequence[dict[str, Any]] = ()) -> None:
        """Keeps the first news of a kind until the job has settled; the head passes it on, before anybody may leave."""
        with self._news:
            if self.settled:
                return
            if kind == "lost":
                self.lost = self.lost or text
            elif origin != self._rank:
                self.broken = self.broken or text
                self.errors += errors
            if self._head and kind not in self._passed_on:
                self._passed_on.add(kind)
                # Who was told to stop waits for the answer; who broke knows it, and better.
                news: dict[str, Any] = {kind: text}
                if kind == "broken":
                    news["errors"] = list(errors)
                self._say(news, but=origin if kind == "broken" else None)
            self._news.notify_all()

    def _end(self, rank: int, settled: bool = False) -> None:
        with self._news:
            self._pending.discard(rank)
            self.settled = self.settled or (settled and not self.lost)
            self._news.notify_all()

    def _stop(self) -> None:
        text = f"{self.name(self._rank)} was told to stop (SIGTERM)"
        if self._head:
            self._hear("lost", text, self._rank)
        elif not self.settled and not self.lost:
            self._say({"lost": text})

    def stopped(self) -> None:
        """This node was told to stop: asks the head to have the job run again. For a signal handler; takes no lock."""
        self._told = True
        self._signals.put(None)

    def settle(self, verdict: str, limit_s: float = SETTLE_S, errors: Sequence[dict[str, Any]] = ()) -> str:
        """Says how this node's ranks have ended, waits until that is known of all nodes, and returns `lost`.

        `verdict` is empty where the ranks left a result, else what became of them: `error`, `timeout`, `silent`, or
        `preempted` where this node was told to stop; `errors` says it of each rank, for the other nodes. A result of
        ranks that lost a node is none, and a pass is worth nothing where another node has to run again. Waits `limit_s`
        seconds at most; if that was not enough neither `lost` nor `settled` is set afterwards, and nobody may call the
        job done.
        """
        self._told = self._told or verdict == "preempted"
        if self._told:
            limit_s = min(limit_s, SETTLE_S)
            self._stop()
        elif self._head and verdict:
            self._hear("broken", verdict, self._rank, errors)
        if not self._head and verdict != "preempted":
            self._say({"ended": verdict, "errors": list(errors)})
        deadline = time.monotonic() + limit_s
        with self._news:
            while self._pending and not self.lost and (left := deadline - time.monotonic()) > 0:
                self._news.wait(left)
            if self._head and self._told:
                self._stop()
            if self._head and not self._pending and not self.lost:
                self.settled = True
                self._say({"settled": True})
        return self.lost

    def _say(self, message: Mapping[str, Any], but: int | None = None) -> None:
        for rank, line in self._lines.items():
            if rank != but:
                line.send(message)

    def close(self) -> None:
        """Ends the connections."""
        self._signals.put(None)  # ends the thread
        with self._news:
            self._pending.clear()
        for line in self._lines.values():
            line.shut()


def alone() -> Peers:
    """The peers of a job on one node."""
    return Peers(0, {}, {})
