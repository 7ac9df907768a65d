"""Whether the ranks live: each says so on the store every other second, and one that falls silent is named.

A rank that is stopped, whose machine hangs, or that cannot be reached keeps all others in a collective, and they know
only that somebody is missing. Here a thread of each rank counts on a connection of its own, which no collective holds
up; rank 0 reads the counts, the others see whether rank 0 still answers. A rank that lives but does not come back from
a check is told by the runner, in the same way. Who is silent stands in silent.json then, and the wrapper ends the job.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store

from .ends import SILENT
from .result import EXIT, write_json

PULSE_S = 2.0
"""From one sign of life to the next."""

STOPPING_S = 5.0
"""How long the threads may take to end: a call to the store, and in a short job the connection to it."""

_PAUSED = 0.5
"""Share of the limit that a round of the watch may last before it says more of who watches than of who is watched."""

_KEY = "silent"


def connect(address: str, port: int, limit: timedelta) -> Store:
    """A connection of its own to the store of the job: the others wait on theirs."""
    store: Store = dist.TCPStore(  # type: ignore[attr-defined]  # torch exports it, its types do not
        address, port, is_master=False, timeout=limit, wait_for_workers=False
    )
    return store


class Pulse:
    """This rank's sign of life, and its eye on the others. Threads; `stop` ends them.

    Args:
        rank: of this process.
        hosts: of all ranks, in their order.
        limit_s: of silence, in seconds.
        store: opens a connection to the store of the job.
        checking: the check that runs, for messages.
        folder: for silent.json.
    """

    def __init__(
        self,
        rank: int,
        hosts: Sequence[str],
        limit_s: float,
        store: Callable[[], Store],
        checking: Callable[[], str],
        folder: Path,
    ) -> None:
        self._rank, self._hosts, self._limit_s = rank, hosts, limit_s
        self._checking, self._folder = checking, folder
        self._ended = threading.Event()
        self._answered = time.monotonic()  # the store, the last time
        self._connection = store
        self._store: Store | None = None
        self._telling = threading.Lock()
        self._pauses: dict[int, float] = {}  # the longest silence of each rank, in seconds, where rank 0 heard it end
        # Until when something has to have ended, what is wrong else, and where all have to come to for it.
        self._bound: tuple[float, str, str] | None = None
        self._connected = threading.Event()
        self._last: list[tuple[int, float]] = []  # count and when it was new, by rank
        work = {"pulse": self._beat} | ({"watch": self._watch_head} if rank != 0 else {})
        self._threads = [threading.Thread(target=each, name=name, daemon=True) for name, each in work.items()]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """No more signs, and nobody is missed: the ranks are about to end.

        The threads end first: one that is in the store when the interpreter goes takes the process with it, by SIGABRT.
        """
        self._ended.set()
        deadline = time.monotonic() + STOPPING_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def come(self, place: str) -> None:
        """Says that this rank is about to do what all do together there."""
        self._connected.wait(self._limit_s)
        if self._store is not None:
            self._store.set(f"{place}/{self._rank}", "here")

    @contextlib.contextmanager
    def limit(self, seconds: float, said: str, place: str) -> Iterator[None]:
        """Ends the job where what is done meanwhile, by all ranks together, lasts too long.

        Rank 0 minds the time: it waits for every other. Who lives and did not `come` to the place is named, for it
        hangs in what came before; where all have, nobody can say who it is.
        """
        self._bound = (time.monotonic() + seconds, f"{said} in {seconds:.0f} s", place)
        try:
            yield
        finally:
            self._bound = None

    def pauses(self) -> dict[int, float]:
        """Rank -> its longest silence in seconds since this was asked the last time; known to rank 0 alone."""
        found, self._pauses = self._pauses, {}
        now = time.monotonic()
        return {rank: max(now - at, found.get(rank, 0.0)) for rank, (_, at) in enumerate(self._last)}

    def tell(self, said: Mapping[int, str]) -> None:
        """Ends the job because of ranks, each with what is the matter with it; where rank 0 says so, all hear of it.

        Does not return where nobody waits for this process.
        """
        with self._telling:
            if self._ended.is_set():
                return
            document = {
                "check": self._checking(),
                "ranks": [{"rank": rank, "host": self._host(rank), "message": text} for rank, text in said.items()],
            }
            if self._rank == 0 and self._store is not None:
                self._store.set(_KEY, json.dumps(document))
            self._leave(document)

    def _host(self, rank: int) -> str:
        return self._hosts[rank] if 0 <= rank < len(self._hosts) else ""

    def _leave(self, document: Mapping[str, Any]) -> None:
        self._ended.set()
        write_json(self._folder / SILENT, document)
        if "SMOKE_WRAPPED" not in os.environ:  # nobody reads the file and ends us
            for entry in document["ranks"]:
                print(f"smoke: rank {entry['rank']} on {entry['host']}: {entry['message']}", flush=True)
            os._exit(EXIT["fail"])

    def _beat(self) -> None:
        store = self._store = PrefixStore("pulse", self._connection())
        self._connected.set()
        self._last = [(0, time.monotonic())] * len(self._hosts)
        while not self._ended.wait(PULSE_S):
            try:
                store.add(str(self._rank), 1)
                if self._rank == 0:
                    self._last = self._counts(store, self._last)
                    self._mind_the_time(store)
                elif store.check([_KEY]):
                    self._leave(json.loads(store.get(_KEY)))
            except RuntimeError:  # the store has gone with rank 0, which torchrun sees, or the watch below
                return
            self._answered = time.monotonic()

    def _counts(self, store: Store, last: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """The counts of now; tells of those that have not changed for too long."""
        now = time.monotonic()
        counts = [store.add(str(rank), 0) for rank in range(len(last))]
        if now - self._answered > _PAUSED * self._limit_s:  # this process was stopped itself, and has missed theirs
            return [(count, now) for count in counts]
        for rank, (count, (before, at)) in enumerate(zip(counts, last, strict=True)):
            if count != before:
                self._pauses[rank] = max(self._pauses.get(rank, 0.0), now - at)
        seen = [
            (count, now) if count != before else (count, at) for count, (before, at) in zip(counts, last, strict=True)
        ]
        silent = {rank: now - at for rank, (_, at) in enumerate(seen) if now - at > self._limit_s}
        if silent:
            self.tell({rank: self._said(seconds) for rank, seconds in silent.items()})
        return seen

    def _mind_the_time(self, store: Store) -> None:
        bound = self._bound
        if bound is not None and time.monotonic() > bound[0]:
            away = [rank for rank in range(len(self._hosts)) if not store.check([f"{bound[2]}/{rank}"])]
            if away:
                text = f"{bound[1]}: it lives and did not come to make them, so it hangs where it gives up the old ones"
                self.tell(dict.fromkeys(away, f"{text}; look at its log, at dmesg, and for Xid errors of its GPU"))
            text = f"{bound[1]}: every rank lives, and one does not answer the others; look at NCCL_DEBUG=INFO"
            self.tell({-1: f"{text}, at the interfaces that it takes, and at what is allowed between the nodes"})

    def _watch_head(self) -> None:
        looked = time.monotonic()
        while not self._ended.wait(PULSE_S):
            now = time.monotonic()
            if now - looked > _PAUSED * self._limit_s:
                self._answered = now
            looked = now
            if now - self._answered > self._limit_s:
                self.tell({0: self._said(now - self._answered)})

    def _said(self, seconds: float) -> str:
        return (
            f"has given no sign of life for {seconds:.0f} s in check {self._checking()}: its process is stopped, or "
            "its machine hangs or cannot be reached; look at its log, at dmesg, and for Xid errors of its GPU"
        )
