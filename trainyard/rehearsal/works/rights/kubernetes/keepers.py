"""What the programs that Trainyard sends to a cluster ask its API server for, by the configuration that each is given.

`tests/rehearsal/works/rights/test_keepers.py` has each of them take a turn and holds its requests against this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import known_texts

Asked = tuple[str, str, str, str]
"""Verb, resource, namespace and name."""

_KEEPER: Final = re.compile(r"keepers\.(\w+)")
_EVENTS: Final = "events.events.k8s.io"
_QUEUES: Final = "localqueues.kueue.x-k8s.io"
_WORKLOADS: Final = "workloads.kueue.x-k8s.io"
_OWNERS: Final = ("jobs.batch", "jobsets.jobset.x-k8s.io", "trainjobs.trainer.kubeflow.org")


def asked(container: Mapping[str, Any]) -> Iterator[Asked]:
    """What the keeper in a container asks for; nothing where it is none, or its configuration is not known."""
    words = [text for _, text in known_texts(container.get("command"))]
    found = next((match for text in words if (match := _KEEPER.fullmatch(text))), None)
    said = container.get("args")
    given = said[0] if isinstance(said, list) and said else None
    if found is None or found[1] not in _ASK or not isinstance(given, str):
        return
    try:
        configuration = json.loads(given)
    except ValueError:
        return
    if isinstance(configuration, dict):
        try:
            asked_for = [one for one in _ASK[found[1]](configuration) if all(isinstance(part, str) for part in one)]
        except (AttributeError, KeyError, TypeError):  # none of ours: the keeper ends on it, and asks for nothing
            return
        yield from dict.fromkeys(asked_for)


def _flavors(configuration: Mapping[str, Any]) -> Iterator[Asked]:
    for flavor in configuration.get("flavors", ()):
        for verb in ("get", "patch"):
            yield verb, "resourceflavors.kueue.x-k8s.io", "", flavor
    yield "get", "configmaps", "kube-system", "cluster-autoscaler-status"


def _held(namespace: str, queues: list[str]) -> Iterator[Asked]:
    for queue in queues:
        for verb in ("get", "patch"):
            yield verb, _QUEUES, namespace, queue
    yield "create", _EVENTS, namespace, ""


def _budgets(configuration: Mapping[str, Any]) -> Iterator[Asked]:
    for team in configuration.get("teams", {}).values():
        yield from _held(team["namespace"], team["queues"])


def _off_peak(configuration: Mapping[str, Any]) -> Iterator[Asked]:
    for queue in configuration.get("queues", ()):
        yield from _held(queue["namespace"], [queue["name"]])


def _jobs(namespace: str) -> Iterator[Asked]:
    for verb in ("list", "patch"):
        yield verb, _WORKLOADS, namespace, ""
    for owner in _OWNERS:
        yield "get", owner, namespace, ""
    yield "create", _EVENTS, namespace, ""


def _idle(configuration: Mapping[str, Any]) -> Iterator[Asked]:
    for namespace in configuration.get("namespaces", ()):
        yield from _jobs(namespace)
        yield "list", "pods", namespace, ""


def _sleep(configuration: Mapping[str, Any]) -> Iterator[Asked]:
    for namespace in configuration.get("namespaces", ()):
        yield from _jobs(namespace)


_ASK: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[Asked]]]] = {
    "flavors": _flavors,
    "budgets": _budgets,
    "off_peak": _off_peak,
    "idle": _idle,
    "sleep": _sleep,
}
"""By the keeper's module; one that is not here asks the API server for nothing."""
