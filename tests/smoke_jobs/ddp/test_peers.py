"""The line between the nodes, with sockets instead of nodes."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from smoke_jobs.ddp import peers
from smoke_jobs.ddp.options import Options
from smoke_jobs.ddp.peers import Line, Peers, alone

HOSTS = {0: "a", 1: "b", 2: "c"}


class Job:
    """A head and two nodes."""

    def __init__(self) -> None:
        pairs = {rank: tuple(Line(end) for end in _connected()) for rank in (1, 2)}
        self.head = Peers(0, {rank: ends[0] for rank, ends in pairs.items()}, HOSTS)
        self.lines = {rank: ends[1] for rank, ends in pairs.items()}
        self.nodes = {rank: Peers(rank, {0: line}, HOSTS) for rank, line in self.lines.items()}

    def settle(self, *ranks: int) -> dict[int, str]:
        """What each of them says, all at once."""
        found: dict[int, str] = {}
        threads = [
            threading.Thread(target=lambda r=rank: found.update({r: {0: self.head, **self.nodes}[r].settle("")}))
            for rank in ranks
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found


def _connected() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        return near, server.accept()[0]


@pytest.fixture
def job() -> Iterator[Job]:
    made = Job()
    yield made
    for one in (made.head, *made.nodes.values()):
        one.close()


def until_lost(one: Peers) -> str:
    deadline = time.monotonic() + 5
    while not one.lost:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return one.lost


def test_nobody_is_lost_where_all_end(job: Job) -> None:
    assert job.settle(0, 1, 2) == {0: "", 1: "", 2: ""}


def test_all_hear_of_a_node_that_was_told_to_stop(job: Job) -> None:
    job.nodes[2].stopped()
    for other in (job.head, job.nodes[1]):
        assert until_lost(other) == "node 2 (c) was told to stop (SIGTERM)"


def test_all_hear_of_a_node_that_is_gone(job: Job) -> None:
    job.lines[2].shut()
    for other in (job.head, job.nodes[1]):
        assert until_lost(other).startswith("node 2 (c) is gone")


def test_all_hear_of_the_head(job: Job) -> None:
    job.head.close()  # as the end of its process does
    for node in job.nodes.values():
        assert until_lost(node).startswith("node 0 (a) is gone")


def test_a_node_that_ended_waits_for_those_that_did_not(job: Job) -> None:
    """Its pass is worth nothing where another has to run again."""
    found: dict[int, str] = {}
    threads = [threading.Thread(target=lambda r=rank: found.update(job.settle(r))) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    assert found == {}
    job.nodes[2].stopped()
    for thread in threads:
        thread.join()
    assert set(found.values()) == {"node 2 (c) was told to stop (SIGTERM)"}


def test_it_does_not_wait_for_ever(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "SETTLE_S", 0.3)
    before = time.monotonic()
    assert job.settle(0, 1) == {0: "", 1: ""}
    assert time.monotonic() - before < 3


@pytest.mark.parametrize("rank", [0, 1])
def test_all_hear_of_ranks_that_left_no_result(job: Job, monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
    monkeypatch.setattr(peers, "SETTLE_S", 0.5)
    everyone = {0: job.head, **job.nodes}
    assert everyone.pop(rank).settle("error") == ""
    assert [other.broken for other in everyone.values()] == ["error", "error"]
    assert not any(other.lost for other in everyone.values())


def test_one_node_has_nobody_to_wait_for() -> None:
    before = time.monotonic()
    assert alone().settle("") == ""
    assert time.monotonic() - before < 0.1


def test_garbage_is_a_node_that_is_gone(job: Job) -> None:
    job.lines[1]._socket.sendall(b"HTTP/1.1 400\r\n")
    assert until_lost(job.head).startswith("node 1 (b) is gone")


def test_the_kernel_misses_a_machine_before_a_collective_does() -> None:
    near, far = _connected()
    Line(near)
    probes = near.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT)
    idle, every = (near.getsockopt(socket.IPPROTO_TCP, o) for o in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL))
    assert near.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    assert idle + probes * every <= peers.SILENT_S < peers.SETTLE_S < Options().collective_timeout_s
    near.close()
    far.close()
