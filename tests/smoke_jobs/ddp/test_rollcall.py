import socket
import threading
import time
from datetime import timedelta

import pytest
from torch.distributed import TCPStore

from trainyard.smoke_jobs.ddp.job import Here, RankMissing, announce
from trainyard.smoke_jobs.ddp.peers import Line
from trainyard.smoke_jobs.ddp.rollcall import RollCall, call_roll


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def together(nodes: int, ranks: list[int], timeout_s: float, hosts: tuple[str, ...] = ()) -> dict[int, RollCall]:
    port, found = free_port(), {}

    def one(place: int, rank: int) -> None:
        found[place] = call_roll(rank, nodes, "127.0.0.1", port, timeout_s, hosts)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(ranks)]
    for thread in reversed(threads):  # the head comes last: the others must try again
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    for roll in found.values():
        for line in roll.lines.values():
            line.close()
    return found


def test_a_node_that_is_taken_away_before_the_last_one_comes_has_to_come_again() -> None:
    """Node 1 is evicted while the head waits for node 2; its pod, made again under the same name, calls once more."""
    port, found = free_port(), {}

    def one(rank: int) -> None:
        found[rank] = call_roll(rank, 3, "127.0.0.1", port, 15)

    head = threading.Thread(target=one, args=(0,))
    head.start()
    time.sleep(0.2)
    evicted = Line(socket.create_connection(("127.0.0.1", port), timeout=5))
    evicted.send({"node_rank": 1, "host": "pod-1"})
    time.sleep(0.2)
    evicted.close()
    last = threading.Thread(target=one, args=(2,))
    last.start()
    time.sleep(0.5)
    assert found == {}, "node 1 is missing"
    again = Line(socket.create_connection(("127.0.0.1", port), timeout=5))
    again.send({"node_rank": 1, "host": "pod-1"})
    answer = again.receive(10)
    for thread in (head, last):
        thread.join()
    assert answer["problem"] == "" and set(answer["joined"]) == {"0", "1", "2"}
    assert all(roll.problem == "" and set(roll.joined) == {0, 1, 2} for roll in found.values())
    for line in (again, *(line for roll in found.values() for line in roll.lines.values())):
        line.close()


def test_all_nodes_hear_that_all_are_there() -> None:
    found = together(3, [0, 1, 2], 10)
    assert all(roll.problem == "" and set(roll.joined) == {0, 1, 2} for roll in found.values())


def test_a_missing_node_is_named_on_every_node_that_came() -> None:
    found = together(3, [0, 2], 1.5, ("a", "b", "c"))
    for roll in found.values():
        assert "2 of 3 nodes came within 2 s; missing: node 1 (b)" in roll.problem


def test_something_else_at_the_heads_port_is_named() -> None:
    """And every attempt gives its connection back."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port, seen = server.getsockname()[1], []

        def serve() -> None:
            for _ in range(2):
                connection, _ = server.accept()
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n")
                connection.settimeout(5)
                while connection.recv(100):
                    pass
                seen.append("closed")
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        roll = call_roll(1, 2, "127.0.0.1", port, 0.8)
        thread.join()
    assert seen == ["closed", "closed"]
    assert "(node 0) did not answer node 1 within 1 s: " in roll.problem and roll.lines == {}


def test_a_node_that_calls_twice_has_one_line() -> None:
    port, found = free_port(), {}
    head = threading.Thread(target=lambda: found.update({0: call_roll(0, 2 + 1, "127.0.0.1", port, 2)}))
    head.start()
    time.sleep(0.2)
    calls = [Line(socket.create_connection(("127.0.0.1", port), timeout=5)) for _ in range(2)]
    for line in calls:
        line.send({"node_rank": 1, "host": "pod-1"})
    assert calls[0].receive(1) == {}, "closed"
    assert set(calls[1].receive(5)["joined"]) == {"0", "1"}
    head.join()
    for line in (*calls, *found[0].lines.values()):
        line.close()


def test_a_head_that_never_comes_is_named() -> None:
    (roll,) = together(2, [1], 1.0).values()
    assert "(node 0) did not answer node 1 within 1 s" in roll.problem


def test_a_node_rank_beyond_the_job_is_told() -> None:
    found = together(3, [0, 7], 2.0)
    assert all("says it is node 7 of 3" in roll.problem for roll in found.values())
    assert len(found) == 2


def test_a_started_rank_that_does_not_announce_itself_is_named() -> None:
    store = TCPStore("127.0.0.1", free_port(), is_master=True, wait_for_workers=False)
    with pytest.raises(RankMissing, match=r"rank 1, rank 2 of 3 did not announce itself within 1 s"):
        announce(store, 0, 3, Here("host"), timedelta(seconds=1))
