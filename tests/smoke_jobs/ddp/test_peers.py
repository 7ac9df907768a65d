"""The line between the nodes, with sockets instead of nodes."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from trainyard.smoke_jobs.ddp import peers
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.peers import Line, Peers, alone

HOSTS = {0: "a", 1: "b", 2: "c"}


class Job:
    """A head and two nodes."""

    def __init__(self) -> None:
        pairs = {rank: tuple(Line(end) for end in _connected()) for rank in (1, 2)}
        self.head = Peers(0, {rank: ends[0] for rank, ends in pairs.items()}, HOSTS)
        self.lines = {rank: ends[1] for rank, ends in pairs.items()}
        self.nodes = {rank: Peers(rank, {0: line}, HOSTS) for rank, line in self.lines.items()}

    def everyone(self) -> dict[int, Peers]:
        return {0: self.head, **self.nodes}

    def settle(self, *ranks: int, limit_s: float = 10.0) -> dict[int, str]:
        """What each of them says, all at once."""
        found: dict[int, str] = {}
        threads = [
            threading.Thread(target=lambda r=rank: found.update({r: self.everyone()[r].settle("", limit_s)}))
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
    deadline = time.monotonic() + 300
    while not one.lost:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return one.lost


def test_nobody_is_lost_where_all_end(job: Job) -> None:
    assert job.settle(0, 1, 2) == {0: "", 1: "", 2: ""}
    assert all(one.settled for one in job.everyone().values())


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


def test_it_does_not_wait_for_ever(job: Job) -> None:
    before = time.monotonic()
    assert job.settle(0, 1, limit_s=0.3) == {0: "", 1: ""}
    assert time.monotonic() - before < peers.SETTLE_S
    assert not job.head.settled and not job.nodes[1].settled, "so that nobody calls it a pass"
    assert job.head.missing() == "node 2 (c)"


@pytest.mark.parametrize("rank", [0, 1])
def test_all_others_hear_of_ranks_that_left_no_result(job: Job, rank: int) -> None:
    everyone = job.everyone()
    broken = everyone.pop(rank)
    assert broken.settle("error", 0.5) == ""
    assert [other.broken for other in everyone.values()] == ["error", "error"]
    assert broken.broken == "", "it knows better why"
    assert not any(other.lost for other in job.everyone().values())


@pytest.mark.parametrize("rank", [0, 1])
def test_a_node_that_is_told_to_stop_while_it_settles_is_lost_to_all(job: Job, rank: int) -> None:
    """Whoever it is, all agree: nobody leaves with a result of its own."""
    waiting = [rank, 1 - rank]
    found: dict[int, str] = {}
    thread = threading.Thread(target=lambda: found.update(job.settle(*waiting)))
    thread.start()
    time.sleep(0.3)
    job.everyone()[rank].stopped()
    thread.join(5)
    assert set(found) == set(waiting)
    assert set(found.values()) == {f"node {rank} ({HOSTS[rank]}) was told to stop (SIGTERM)"}
    assert until_lost(job.nodes[2]) == found[rank]
    assert not any(one.settled for one in job.everyone().values())


def test_what_comes_after_the_decision_changes_nothing(job: Job) -> None:
    job.settle(0, 1, 2)
    for one in job.everyone().values():
        one.stopped()
    time.sleep(0.3)
    assert all(one.settled and not one.lost for one in job.everyone().values())


def test_a_node_that_was_told_to_stop_asks_the_head(job: Job) -> None:
    """With a result and without: it is for the head to say whether it still counts."""
    job.nodes[2].stopped()
    assert set(job.settle(0, 1, 2).values()) == {"node 2 (c) was told to stop (SIGTERM)"}


def test_a_node_whose_ranks_were_told_to_stop_says_so_itself(job: Job) -> None:
    """The signal may have come before there was anybody to tell."""
    assert job.nodes[1].settle("preempted") == "node 1 (b) was told to stop (SIGTERM)"
    assert until_lost(job.head) == until_lost(job.nodes[2]) == job.nodes[1].lost


def test_a_node_alone_that_was_told_to_stop() -> None:
    one = alone()
    one.stopped()
    assert one.settle("") and not one.settled


def test_one_node_breaks_by_itself() -> None:
    one = alone()
    assert one.settle("error") == "" and one.settled
    assert one.broken == "", "there is no other whose log would say more"


def test_one_node_has_nobody_to_wait_for() -> None:
    before = time.monotonic()
    assert alone().settle("") == ""
    assert time.monotonic() - before < peers.SETTLE_S


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
