"""The nodes' roll call before torchrun starts, so that a node that never came is named.

torchrun's own rendezvous waits ten minutes and then says only that it timed out. Here every wrapper tells the head
its index and host name over one TCP connection, and gets the same answer back: complete, or who is missing.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RollCall:
    """`joined` maps node index to host name; `problem` is empty when all are there."""

    joined: dict[int, str]
    problem: str


def call_roll(
    node_rank: int, nodes: int, head: str, port: int, timeout_s: float, hosts: Sequence[str] = ()
) -> RollCall:
    """Blocks until all `nodes` answered or `timeout_s` passed; the same on every node that is there."""
    deadline = time.monotonic() + timeout_s
    if node_rank == 0:
        return _host(nodes, port, deadline, timeout_s, hosts)
    return _answer(node_rank, head, port, deadline, timeout_s)


def _host(nodes: int, port: int, deadline: float, timeout_s: float, hosts: Sequence[str]) -> RollCall:
    joined = {0: socket.gethostname()}
    twice: list[str] = []
    connections: list[socket.socket] = []
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    with socket.create_server(
        ("", port), family=family, backlog=nodes + 16, dualstack_ipv6=family == socket.AF_INET6
    ) as server:
        while len(joined) < nodes and not twice:
            server.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                break
            connection.settimeout(5)
            try:
                message = json.loads(connection.makefile().readline())
                rank, host = int(message["node_rank"]), str(message["host"])
            except (OSError, ValueError, KeyError, TypeError):
                connection.close()  # a port scanner or a health probe, not one of us
                continue
            connections.append(connection)
            if rank in joined and joined[rank] != host:
                twice.append(f"node {rank} is claimed by {joined[rank]} and by {host}")
            elif not 0 <= rank < nodes:
                twice.append(f"{host} says it is node {rank} of {nodes}")
            else:
                joined[rank] = host
        problem = _problem(joined, twice, nodes, timeout_s, hosts)
        for connection in connections:
            try:
                connection.sendall((json.dumps({"joined": joined, "problem": problem}) + "\n").encode())
            except OSError as error:
                problem = problem or f"a node left during the roll call: {error}"
            connection.close()
    return RollCall(joined, problem)


def _problem(joined: dict[int, str], twice: list[str], nodes: int, timeout_s: float, hosts: Sequence[str]) -> str:
    if twice:
        return "; ".join(twice) + ": every node needs its own node_rank"
    missing = [rank for rank in range(nodes) if rank not in joined]
    if not missing:
        return ""
    names = ", ".join(f"node {rank}" + (f" ({hosts[rank]})" if rank < len(hosts) else "") for rank in missing)
    return (
        f"{len(joined)} of {nodes} nodes came within {timeout_s:.0f} s; missing: {names}. "
        "Look at its pod or instance: not scheduled, image still pulling, or its network policy blocks the head's port"
    )


def _answer(node_rank: int, head: str, port: int, deadline: float, timeout_s: float) -> RollCall:
    me = json.dumps({"node_rank": node_rank, "host": socket.gethostname()}) + "\n"
    last: Exception | str = "no attempt was made"
    while time.monotonic() < deadline:
        try:
            with socket.create_connection((head, port), timeout=5) as connection:
                connection.sendall(me.encode())
                # The head answers at its own deadline at the latest; its clock may have started later than ours.
                connection.settimeout(timeout_s + 10)
                reply = connection.makefile().readline()
            if reply:
                message = json.loads(reply)
                return RollCall({int(k): v for k, v in message["joined"].items()}, message["problem"])
            last = "it closed the connection"
        except OSError as error:
            last = error
        time.sleep(0.5)
    return RollCall(
        {}, f"the head {head}:{port} (node 0) did not answer node {node_rank} within {timeout_s:.0f} s: {last}"
    )
