"""Stopping what runs on a cluster: queues are held and drained, so that jobs can save, then people's pods end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from subprocess import CompletedProcess
from typing import Any, Final

from trainyard.problems import count
from trainyard.recorded.queues import CLUSTER_QUEUE, LOCAL_QUEUE
from trainyard.teardown.state import State

HOLD: Final = {"spec": {"stopPolicy": "HoldAndDrain"}}
"""Admits nothing more, and evicts what is admitted (Kueue, ClusterQueue `stopPolicy`)."""

LOOK_AGAIN_SECONDS: Final = 5.0

Kubectl = Callable[[Sequence[str]], "CompletedProcess[str]"]
Say = Callable[[str], None]


class FreezeError(Exception):
    """The cluster could not be stopped: nothing is deleted."""


@dataclass(frozen=True, slots=True)
class Running:
    """What may run on the stack's clusters."""

    queues: tuple[str, ...]
    namespaces: tuple[str, ...]  # of teams: those with a queue


def running_in(state: State) -> Running:
    """The queues of a state, and the namespaces that have one."""
    queues = tuple(sorted(str(each["id"]) for each in state.of(CLUSTER_QUEUE)))
    namespaces = {str(each["id"]).partition("/")[0] for each in state.of(LOCAL_QUEUE) if "/" in str(each["id"])}
    return Running(queues, tuple(sorted(namespaces)))


def freeze(
    running: Running, kubectl: Kubectl, say: Say, *, minutes: float, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Holds every queue, waits until they are drained, and takes people's pods down.

    Raises:
        FreezeError: the cluster does not answer, or jobs still run when the time is over.
    """
    for queue in running.queues:
        say(f"holding queue {queue}")
        _ask(kubectl, "patch", "clusterqueues.kueue.x-k8s.io", queue, "--type", "merge", "--patch", json.dumps(HOLD))
    if running.queues:
        _drain(running, kubectl, say, minutes, sleep)
    for namespace in running.namespaces:
        say(f"stopping what people run in {namespace}")
        own = ("--namespace", namespace)
        _ask(kubectl, "scale", "deployments,statefulsets", "--all", "--replicas=0", *own)
        _ask(kubectl, "delete", "pods", "--all", "--ignore-not-found", "--wait=false", *own)


def _drain(running: Running, kubectl: Kubectl, say: Say, minutes: float, sleep: Callable[[float], None]) -> None:
    looks = max(1, round(minutes * 60 / LOOK_AGAIN_SECONDS))
    left: list[str] = []
    for look in range(looks):
        text = _ask(kubectl, "get", "workloads.kueue.x-k8s.io", "--all-namespaces", "--output", "json")
        left = sorted(admitted(json.loads(text).get("items", ()), running.queues))
        if not left:
            return
        if look == 0:
            say(f"waiting for {len(left)} workloads to end: {', '.join(left[:5])}")
        sleep(LOOK_AGAIN_SECONDS)
    raise FreezeError(
        f"after {count(minutes, 'minute')} there still run {', '.join(left)}: end them, or wait longer "
        "with --drain-minutes"
    )


def admitted(workloads: Iterable[Any], queues: Sequence[str]) -> list[str]:
    """The workloads that hold quota of a queue: reserved, and neither finished nor evicted."""
    return [
        f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        for each in workloads
        if ((each.get("status") or {}).get("admission") or {}).get("clusterQueue") in queues and holds_quota(each)
    ]


def holds_quota(workload: Any) -> bool:
    """Whether a workload has quota reserved: it runs, or is about to, or has not ended yet."""
    conditions = (workload.get("status") or {}).get("conditions") or ()
    true = {each["type"] for each in conditions if each.get("status") == "True"}
    return "QuotaReserved" in true and "Finished" not in true


def _ask(kubectl: Kubectl, *command: str) -> str:
    done = kubectl(command)
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
        raise FreezeError(
            f"kubectl {command[0]} {command[1]} failed: {said}; a private API is reached "
            "from the networks of apiAccess alone"
        )
    return done.stdout
