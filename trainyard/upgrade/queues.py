"""Queues that are held: by an upgrade all of people's, the smoke jobs' own stays open; by a drain those of a team.

A hold is applied under a field manager of its own, without force: where somebody else has set `stopPolicy`, theirs
stays, and letting go takes back what was said here and nothing else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from trainyard.conventions import SMOKE_LOCAL_QUEUE
from trainyard.problems import count
from trainyard.teardown.freeze import LOOK_AGAIN_SECONDS, Kubectl, holds_quota

MANAGER: Final = "trainyard-upgrade"
_API: Final = "kueue.x-k8s.io/v1beta2"
_OPEN: Final = "None"

Policy = Literal["Hold", "HoldAndDrain"]
"""Kueue's words: what runs goes on, or is evicted so that it can save; nothing new starts in either case."""

Say = Callable[[str], None]


class QueuesError(Exception):
    """The cluster does not answer, or jobs still run when the time is over."""


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A LocalQueue that is held."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """As people write it."""
        return f"{self.namespace}/{self.name}"


def open_queues(kubectl: Kubectl) -> list[LocalQueue]:
    """The queues that admit jobs now, without those of smoke jobs. Raises `QueuesError`."""
    return sorted(
        (
            _queue(each)
            for each in _listed(kubectl)
            if (each.get("spec", {}).get("stopPolicy") or _OPEN) == _OPEN
            and each["metadata"]["name"] != SMOKE_LOCAL_QUEUE
        ),
        key=str,
    )


def hold(kubectl: Kubectl, queues: Iterable[LocalQueue], policy: Policy, folder: Path, manager: str = MANAGER) -> None:
    """Lets nothing new start in the queues, as far as they are there. Raises `QueuesError`."""
    wanted = set(queues)
    _say_of(kubectl, lambda queue: queue in wanted, {"stopPolicy": policy}, folder, manager)


def let_go(kubectl: Kubectl, of: Callable[[LocalQueue], bool], folder: Path, manager: str = MANAGER) -> None:
    """Takes back every hold that was applied here, of the queues that are there. Raises `QueuesError`."""
    _say_of(kubectl, of, {}, folder, manager)


def wait_until_idle(
    kubectl: Kubectl,
    queues: Sequence[LocalQueue],
    say: Say,
    *,
    minutes: float,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Waits until no job of the queues holds quota. Raises `QueuesError` where some still do when the time is over."""
    wait_until_none(lambda: running(kubectl, queues), say, minutes=minutes, sleep=sleep)


def wait_until_none(
    look_again: Callable[[], list[str]],
    say: Say,
    *,
    minutes: float,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Waits until there are no such jobs. Raises `QueuesError` where there still are some when the time is over."""
    looks = max(1, round(minutes * 60 / LOOK_AGAIN_SECONDS))
    told: list[str] = []
    for look in range(looks):
        left = look_again()
        if not left:
            return
        if left != told:
            say(f"waiting for {count(len(left), 'job')} to end: {', '.join(left[:5])}")
            told = left
        if look < looks - 1:
            sleep(LOOK_AGAIN_SECONDS)
    raise QueuesError(
        f"after {count(minutes, 'minute')} there still run {', '.join(told)}: the same command waits "
        "on; --evict has them save"
        " and end, to start again afterwards; --release lets the queues go, and gives up"
    )


def running(kubectl: Kubectl, queues: Sequence[LocalQueue]) -> list[str]:
    """The workloads of the queues that hold quota. Raises `QueuesError`."""
    of = {(queue.namespace, queue.name) for queue in queues}
    return sorted(
        f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        for each in workloads(kubectl)
        if (each["metadata"]["namespace"], each.get("spec", {}).get("queueName")) in of and holds_quota(each)
    )


def workloads(kubectl: Kubectl) -> list[dict[str, Any]]:
    """All workloads of the cluster. Raises `QueuesError`."""
    listed = json.loads(ask(kubectl, "get", "workloads.kueue.x-k8s.io", "--all-namespaces", "--output", "json"))
    return list(listed.get("items", ()))


def _say_of(
    kubectl: Kubectl, of: Callable[[LocalQueue], bool], spec: dict[str, Any], folder: Path, manager: str
) -> None:
    """Applies a part of the spec to queues that are listed now.

    What is applied to a queue that is gone would make one without a ClusterQueue, or be refused with its namespace: the
    change for which a team's queues are held may be the one that takes the team out.
    """
    for queue in filter(of, map(_queue, _listed(kubectl))):
        metadata = {"name": queue.name, "namespace": queue.namespace}
        apply(kubectl, {"kind": "LocalQueue", "metadata": metadata, "spec": spec}, folder, manager)


def _listed(kubectl: Kubectl) -> list[dict[str, Any]]:
    listed = json.loads(ask(kubectl, "get", "localqueues.kueue.x-k8s.io", "--all-namespaces", "--output", "json"))
    return list(listed.get("items", ()))


def _queue(listed: dict[str, Any]) -> LocalQueue:
    return LocalQueue(listed["metadata"]["namespace"], listed["metadata"]["name"])


def apply(kubectl: Kubectl, of_kueue: dict[str, Any], folder: Path, manager: str) -> None:
    """Says of an object of Kueue's what a manager says of it, and nothing else. Raises `QueuesError`."""
    path = folder / "applied.json"
    path.write_text(json.dumps({"apiVersion": _API, **of_kueue}))
    ask(kubectl, "apply", "--server-side", f"--field-manager={manager}", "--filename", str(path))


def ask(kubectl: Kubectl, *command: str) -> str:
    """What `kubectl` writes. Raises `QueuesError`."""
    done = kubectl(command)
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
        raise QueuesError(
            f"kubectl {command[0]} {command[1]} failed: {said}; a private API is reached "
            "from the networks of apiAccess alone"
        )
    return done.stdout
