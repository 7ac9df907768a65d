"""The nodes' roll call before torchrun starts, so that a node that never came is named.

torchrun's own rendezvous waits ten minutes and then says only that it timed out. Here every wrapper tells the head
its index and host name over one TCP connection, and gets the same answer back: complete, or who is missing. The
connections stay open: they are how a node hears that another was lost (`peers.py`).
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from .peers import Line


@dataclass(frozen=True, slots=True)
class RollCall:
    """`joined` maps node index to host name; `problem` is empty when all are there.

    `lines` are the open connections by node index: the head's to every other node, another node's to the head.
    """

    joined: dict[int, str]
    problem: str
    lines: dict[int, Line] = field(default_factory=dict, compare=False)


def call_roll(
    node_rank: int, nodes: int, head: str, port: int, timeout_s: float, hosts: Sequence[str] = (), needed: int = 0
) -> RollCall:
    """Blocks until all `nodes` answered or `timeout_s` passed; the same on every node that is there.

    `needed` is a port of the head's that is used next: where it is taken, every node hears so.
    """
    deadline = time.monotonic() + timeout_s
    if node_rank == 0:
        return _host(nodes, port, deadline, timeout_s, hosts, needed)
    return _answer(node_rank, head, port, deadline, timeout_s)


def _host(nodes: int, port: int, deadline: float, timeout_s: float, hosts: Sequence[str], needed: int) -> RollCall:
    joined = {0: socket.gethostname()}
    twice = ""
    lines: dict[int, Line] = {}
    refused: Line | None = None
    server = _listen(port, nodes + 16)
    if isinstance(server, str):
        return RollCall(joined, server)
    with server:
        while len(joined) < nodes:
            server.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                break
            line = Line(connection)
            try:
                message = line.receive()
                rank, host = int(message["node_rank"]), str(message["host"])
            except (OSError, ValueError, KeyError, TypeError):
                line.close()  # a port scanner or a health probe, not one of us
                continue
            # The place of one that left is free, whatever the name of the next.
            if rank in joined and joined[rank] != host and not (rank in lines and lines[rank].gone()):
                twice = f"node {rank} is claimed by {joined[rank]} and by {host}"
            elif not 0 <= rank < nodes:
                twice = f"{host} says it is node {rank} of {nodes}"
            if twice:
                refused = line
                break
            joined[rank] = host
            if rank in lines:
                lines[rank].close()
            lines[rank] = line
            if len(joined) == nodes:
                # Who came and was taken away before the last one came has to come again.
                for rank in [rank for rank, other in lines.items() if other.gone()]:
                    lines.pop(rank).close()
                    joined.pop(rank, None)
    problem = _problem(joined, twice, nodes, timeout_s, hosts) or _taken(needed)
    for line in (*lines.values(), *([refused] if refused else [])):
        line.send({"joined": joined, "problem": problem})
    if refused:
        refused.close()
    return RollCall(joined, problem, lines)


def _listen(port: int, backlog: int = 1) -> socket.socket | str:
    """A server of the head's; in words why it cannot be."""
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    try:
        return socket.create_server(
            ("", port), family=family, backlog=backlog, dualstack_ipv6=family == socket.AF_INET6
        )
    except OSError as error:
        return f"port {port} of the head cannot be used ({error}): another job runs there; set --port"


def _taken(port: int) -> str:
    """Why a port cannot be used; empty where it can, or none is asked for."""
    server = _listen(port) if port else ""
    if isinstance(server, str):
        return server
    server.close()
    return ""


def _problem(joined: dict[int, str], twice: str, nodes: int, timeout_s: float, hosts: Sequence[str]) -> str:
    if twice:
        return twice + ": every node needs its own node_rank"
    missing = [rank for rank in range(nodes) if rank not in joined]
    if not missing:
        return ""
    names = ", ".join(f"node {rank}" + (f" ({hosts[rank]})" if rank < len(hosts) else "") for rank in missing)
    return (
        f"{len(joined)} of {nodes} nodes came within {timeout_s:.0f} s; missing: {names}. "
        "Look at its pod or instance: not scheduled, image still pulling, or its network policy blocks the head's port"
    )


def _answer(node_rank: int, head: str, port: int, deadline: float, timeout_s: float) -> RollCall:
    me = {"node_rank": node_rank, "host": socket.gethostname()}
    last: Exception | str = "no attempt was made"
    while time.monotonic() < deadline:
        try:
            line = Line(socket.create_connection((head, port), timeout=5))
        except OSError as error:
            last = error
        else:
            try:
                line.send(me)
                # The head answers at its own deadline at the latest; its clock may have started later than ours.
                reply = line.receive(timeout_s + 10)
                if reply:
                    return RollCall({int(k): v for k, v in reply["joined"].items()}, reply["problem"], {0: line})
                last = "it closed the connection"
            except (OSError, ValueError, KeyError, AttributeError) as error:
                last = error  # something else may listen there
            line.close()
        time.sleep(0.5)
    return RollCall(
        {}, f"the head {head}:{port} (node 0) did not answer node {node_rank} within {timeout_s:.0f} s: {last}"
    )
