"""One rank's view of the job: who it is, its device, the process groups, and how ranks talk to each other.

Two planes. The checks use process groups, which a check may leave broken. The runner uses the TCP store only, so that
verdicts travel even then, and `renew` builds the groups again.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pickle
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from . import hardware, unfinished
from .inventory import nccl_version
from .options import Options
from .pulse import Pulse, connect
from .result import Figure, Outcome
from .thresholds import Threshold, load, select

_LOOK_S = 1.0
"""How often it is looked which ranks have posted, while some have not."""


class RankMissing(Exception):  # noqa: N818 - says what is the matter
    """Ranks that were started did not announce themselves; the text names them."""


class Unfit(Exception):  # noqa: N818 - says what is the matter
    """All ranks are there, and some have not the GPU that they should have; the text names them."""


class Job:
    """What every check gets. Attributes in the field's terms: rank, world_size, local_rank, nodes, device, …"""

    def __init__(self, options: Options, environ: Mapping[str, str]) -> None:
        self.options = options
        self.rank = int(environ["RANK"])
        self.world_size = int(environ["WORLD_SIZE"])
        self.local_rank = int(environ["LOCAL_RANK"])
        self.local_world_size = int(environ["LOCAL_WORLD_SIZE"])
        self.node_rank = int(environ.get("GROUP_RANK", "0"))
        self.nodes = max(1, self.world_size // self.local_world_size)
        self.host = socket.gethostname()
        self.cuda = torch.cuda.is_available()
        self.device = torch.device("cuda", self.local_rank) if self.cuda else torch.device("cpu")
        self.backend = "cpu:gloo,cuda:nccl" if self.cuda else "gloo"
        self.instance = options.instance or ("" if self.cuda else "cpu")
        self.nccl = nccl_version()
        path = Path(options.thresholds) if options.thresholds else Path(__file__).with_name("thresholds.csv")
        self.thresholds: tuple[Threshold, ...] = load(path)
        self.inventories: list[dict[str, Any]] = []
        self.counters_before: dict[str, dict[str, int]] | None = None  # of errors; see check_counters
        self.clock_s = 0.0  # by how much this rank's clock is ahead of rank 0's
        self.generation = 0
        self.watch: Pulse | None = None
        self.unusable = _unusable(self.device) if self.cuda else ""

    @property
    def head(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    @property
    def patience_s(self) -> float:
        """How long after another's failure a rank may come back from a check, in seconds.

        Gloo's peers of a rank that leaves hear so at once. NCCL's in the same node do not: they wait in the collective
        until its limit, and none of them is to blame.
        """
        return self.options.rank_timeout_s + (self.options.collective_timeout_s if self.cuda else 0.0)

    @property
    def exclusive(self) -> str:
        """Which hosts have GPUs that take one process each, so that nothing else can run on them; empty: none."""
        modes = {i["host"]: i["device"]["mode"] for i in self.inventories}
        found = sorted(host for host, mode in modes.items() if mode.lower().startswith("exclusive"))
        return f"the GPUs of {', '.join(found)} take one process each (compute mode {modes[found[0]]})" if found else ""

    def connect(self, checking: Callable[[], str]) -> None:
        """Joins the store, announces this rank and what it has, and begins to watch over the ranks.

        `checking` says which check runs. Raises RankMissing where a started rank does not announce itself in
        `rank_timeout_s`, and Unfit where ranks have not the GPU that they should have: they would make process groups
        of another kind than the others, and all would wait for each other.
        """
        limit = timedelta(seconds=self.options.rank_timeout_s)
        address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        try:
            store, _, _ = next(rendezvous("env://", self.rank, self.world_size, timeout=limit))
        except dist.DistError as error:
            raise RankMissing(f"rank 0 at {address} did not answer rank {self.rank}: {error}") from None
        # A restarted job may meet the keys of its previous attempt.
        self.store = PrefixStore(f"smoke/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
        self.store.set_timeout(timedelta(seconds=self.options.timeout_s))
        count = torch.cuda.device_count() if self.cuda else 0
        mine = Here(self.host, self.cuda, count, self.unusable)
        here = announce(self.store, self.rank, self.world_size, mine, limit)
        self.hosts = [each.host for each in here]
        self.watch = self._pulse(checking)
        wrong = unfit(here)
        if wrong:
            raise Unfit("; ".join(wrong))

    def make_groups(self) -> None:
        """Makes the process groups, all ranks together; where that does not end, the watch ends the job."""
        assert self.watch is not None, "the ranks have met before"
        limit_s = self.options.collective_timeout_s + self.options.rank_timeout_s
        place = f"groups/{self.generation}"
        self.watch.come(place)
        with self.watch.limit(limit_s, "the process groups were not made", place):
            self._make_groups()

    def _make_groups(self) -> None:
        dist.init_process_group(
            self.backend,
            store=PrefixStore(f"groups/{self.generation}", self.store),
            rank=self.rank,
            world_size=self.world_size,
            timeout=timedelta(seconds=self.options.collective_timeout_s),
            device_id=self.device if self.cuda else None,
        )
        self.host_group: dist.ProcessGroup | None = self.group(backend="gloo") if self.cuda else dist.group.WORLD

    def group(self, ranks: Sequence[int] | None = None, backend: str | None = None) -> Any:
        """A further process group, made by all ranks together, with the limit that every collective has.

        PyTorch gives one that is not told its limit 30 minutes with gloo and 10 with NCCL, whatever the first one has:
        a rank that hangs in a driver would keep the others until the job is out of time.

        One of hosts is made by its own ranks alone: the others would wait in NCCL for a split of the first group that
        these never ask for (`_new_process_group_helper` of torch 2.11 and 2.13 does not look at the backend), and hold
        the interpreter meanwhile. It hung so on an H200, 2026-11-26.
        """
        limit = timedelta(seconds=self.options.collective_timeout_s)
        of = None if ranks is None else list(ranks)
        return dist.new_group(of, timeout=limit, backend=backend, use_local_synchronization=bool(of and backend))

    def leave(self) -> None:
        """Drops the process groups. Peers that wait for us in a gloo collective get an error at once, not a timeout.

        NCCL's are aborted: to destroy one can hang once a peer is gone (pytorch#180611).
        """
        if dist.is_initialized():
            abort = getattr(distributed_c10d, "_abort_process_group", None) if self.cuda else None
            (abort or dist.destroy_process_group)()
        self.host_group = None

    def _pulse(self, checking: Callable[[], str]) -> Pulse:
        place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        limit_s = self.options.rank_timeout_s
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        return Pulse(
            self.rank,
            self.hosts,
            limit_s,
            lambda: PrefixStore(attempt, connect(*place, timedelta(seconds=limit_s))),
            checking,
            Path(self.options.result_dir),
        )

    def renew(self) -> None:
        """New process groups on all ranks, after a check left the old ones in an unknown state."""
        self.leave()
        self.generation += 1
        self.make_groups()

    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks, in rank order, on every rank; over the host group."""
        values: list[Any] = [None] * self.world_size
        dist.all_gather_object(values, value, group=self.host_group)
        return values

    def broadcast(self, value: Any) -> Any:
        """Rank 0's value, on every rank; over the host group."""
        values = [value]
        dist.broadcast_object_list(values, src=0, group=self.host_group)
        return values[0]

    def barrier(self) -> None:
        """All ranks are here; over the host group, so it does not wait for the GPU."""
        dist.barrier(group=self.host_group)

    def synchronize(self) -> None:
        """Waits for the GPU, where there is one.

        Raises Unfinished where a collective did not end: what it left must not be compared with anything.
        """
        if not self.cuda:
            return
        before = time.monotonic()
        torch.cuda.synchronize(self.device)
        waited_s = time.monotonic() - before
        unfinished.ended(unfinished.backends(self.device), waited_s, self.options.collective_timeout_s)

    def broken(self, check: str) -> bool:
        """Whether a seeded fault was asked for in this check."""
        return check in self.options.breaks

    def threshold(self, metric: str, size: int | None = None) -> Threshold | None:
        """The record that this run's figure is compared with."""
        return select(
            self.thresholds,
            instance=self.instance,
            nodes=self.nodes,
            metric=metric,
            size=size,
            nccl=self.nccl,
            model=(self.inventories[0]["device"] or {}).get("name", "") if self.cuda and self.inventories else "",
        )

    def gate_sizes(self, metrics: Sequence[str]) -> set[int]:
        """Where the windows begin of the gates that this run could be compared with, in bytes."""
        return {
            limit.min_bytes
            for limit in self.thresholds
            for metric in metrics
            if limit.kind == "gate" and limit.applies(self.instance, self.nodes, metric, None, self.nccl)
        }

    def judge(self, outcome: Outcome, metric: str, hint: str, size: int | None = None) -> Outcome:
        """Sets the threshold of an outcome that passed, and its verdict to `below` where a gate is missed.

        `size` is that of the message whose figure it is, in bytes; None where the metric has none.
        """
        limit = self.threshold(metric, size)
        if limit is None or outcome.figure is None:
            return outcome
        outcome.threshold = limit.entry(outcome.figure.value)
        if limit.kind == "gate" and outcome.verdict == "pass" and not limit.met(outcome.figure.value):
            outcome.verdict = "below"
            outcome.reason = f"{_figure(outcome.figure)}, {limit.floor:.4g} is needed ({limit.source}): {hint}"
        return outcome

    def post(self, key: str, value: Any) -> None:
        """Puts a value on the store."""
        self.store.set(key, base64.b64encode(pickle.dumps(value)).decode())

    def collect(self, key: str, failed: Callable[[Any], bool]) -> dict[int, Any]:
        """What every rank posts under `key/RANK`, by rank; without those that stay away.

        A rank stays away that has not posted `patience_s` after the first one whose value has `failed`: until then the
        others may be at work, and their own collectives end by their limit.
        """
        found: dict[int, Any] = {}
        deadline = float("inf")
        while len(found) < self.world_size and time.monotonic() < deadline:
            missing = [rank for rank in range(self.world_size) if rank not in found]
            with contextlib.suppress(dist.DistStoreError):  # not all of them yet
                self.store.wait([f"{key}/{rank}" for rank in missing], timedelta(seconds=_LOOK_S))
            for rank in missing:
                if self.store.check([f"{key}/{rank}"]):
                    found[rank] = self.read(f"{key}/{rank}")
                    if failed(found[rank]):
                        deadline = min(deadline, time.monotonic() + self.patience_s)
        return found

    def exchange(self, key: str, value: Any) -> list[Any]:
        """The values of all ranks, in rank order, over the store: for what takes longer than a collective may.

        Nobody frees those that wait where a rank raises before it has posted: post what was caught instead.
        """
        self.post(f"exchange/{key}/{self.rank}", value)
        return [self.read(f"exchange/{key}/{rank}") for rank in range(self.world_size)]

    def read(self, key: str) -> Any:
        """Waits for a value on the store. Only ranks of this job write there."""
        return pickle.loads(base64.b64decode(self.store.get(key)))  # noqa: S301


class Here(NamedTuple):
    """What a rank announces: its host, whether it sees GPUs, how many, and why it cannot use its own."""

    host: str
    cuda: bool = False
    devices: int = 0
    unusable: str = ""


def _unusable(device: torch.device) -> str:
    """Takes a GPU for this process; why that cannot be done, or empty."""
    try:
        torch.cuda.set_device(device)
        torch.zeros(1, device=device)  # the first use makes the context, which a GPU that was lost has not
    except RuntimeError as error:
        said = "; ".join(hardware.unanswered())
        return str(error).strip().splitlines()[0] + (f" (nvidia-smi: {said})" if said else "")
    return ""


def unfit(here: Sequence[Here]) -> list[str]:
    """The ranks that have not the GPU that they should have, one sentence each; `here` is of all, in rank order."""
    ranks_of = Counter(each.host for each in here)
    few = {each.host: each.devices for each in here if each.unusable and 0 < each.devices < ranks_of[each.host]}
    wrong = [
        f"{host} has {ranks_of[host]} ranks and shows {devices} GPU{'s' if devices > 1 else ''}: start one rank a GPU "
        "(`nproc_per_node`), or give the container as many GPUs; where the node should have more, look at "
        "`nvidia-smi -L` and at dmesg there"
        for host, devices in few.items()
    ]
    wrong += [
        f"rank {rank} on {each.host}: its GPU, one of {each.devices} that it sees there, cannot be used: "
        f"{each.unusable}; drain the node and look at `nvidia-smi -L` and at dmesg"
        for rank, each in enumerate(here)
        if each.unusable and each.host not in few
    ]
    some = [rank for rank, each in enumerate(here) if each.cuda]
    if some and len(some) < len(here):
        without = [(rank, each.host) for rank, each in enumerate(here) if not each.cuda]
        lacking = {host: [rank for rank, its in without if its == host] for _, host in without}
        wrong += [
            f"rank {', '.join(map(str, ranks))} on {host} sees no GPU, {len(some)} of {len(here)} ranks do: look at "
            "the driver of that node, and whether its container was given the devices (device plugin, `--gpus`)"
            for host, ranks in lacking.items()
        ]
    return wrong


def announce(store: Store, rank: int, world_size: int, mine: Here, limit: timedelta) -> list[Here]:
    """Tells the store that this rank is here and waits for all others; what each announced.

    Raises RankMissing on rank 0 with the ranks that are missing, and on the others when rank 0 gave up.
    """
    store.set(f"here/{rank}", json.dumps(mine))
    if rank == 0:
        missing: list[int] = []
        for other in range(world_size):
            try:
                # one limit for all: those that came are there at once
                store.wait([f"here/{other}"], limit if not missing else timedelta(milliseconds=10))
            except dist.DistStoreError:
                missing.append(other)
        store.set("roll", json.dumps(missing))
    else:
        store.wait(["roll"], limit * 2)
        missing = json.loads(store.get("roll"))
    if missing:
        names = ", ".join(f"rank {other}" for other in missing)
        raise RankMissing(
            f"{names} of {world_size} did not announce itself within {limit.total_seconds():.0f} s of rank 0: "
            "its process hangs before the rendezvous (driver, import, or file system); look at its log and at dmesg"
        )
    return [Here(*json.loads(store.get(f"here/{other}"))) for other in range(world_size)]


def _figure(figure: Figure) -> str:
    return f"{figure.name} is {figure.value:.4g} {figure.unit}".rstrip()
