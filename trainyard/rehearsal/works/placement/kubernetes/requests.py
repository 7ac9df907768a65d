"""What a pod requests: the sum of its containers, or the most that it needs while it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.recorded.quantities import quantity

Amounts = Mapping[str, float]


def requested(spec: Mapping[str, Any]) -> dict[str, float]:
    """Amounts by resource, as the scheduler counts them; what is not known counts as nothing.

    Containers add up. Init containers run one after the other, beside those of them that go on running (sidecars,
    `restartPolicy: Always`). A limit without a request is the request. `overhead` comes on top (Kubernetes 1.35,
    "Resource sharing within containers", "Sidecar Containers", "Pod Overhead", 2026-11).
    """
    running: dict[str, float] = {}
    starting: dict[str, float] = {}
    for container in _mappings(spec.get("initContainers")):
        amounts = _of(container)
        if container.get("restartPolicy") == "Always":
            _add(running, amounts)
            _most(starting, running)
        else:
            _most(starting, _sum(running, amounts))
    for container in _mappings(spec.get("containers")):
        _add(running, _of(container))
    _most(running, starting)
    whole = spec.get("resources")
    if isinstance(whole, Mapping):
        running |= {key: value for key, value in _of(spec).items() if key in ("cpu", "memory") or "hugepages" in key}
    _add(running, dict(_amounts(spec.get("overhead"))))
    return running


def host_ports(spec: Mapping[str, Any]) -> set[tuple[int, str]]:
    """Ports of the node that a pod takes, with their protocol: those that it maps, all that it names on the host."""
    found = set()
    for container in _mappings(spec.get("containers")):
        for port in _mappings(container.get("ports")):
            number = port.get("hostPort") or (port.get("containerPort") if spec.get("hostNetwork") is True else None)
            if isinstance(number, (int, float)) and number:
                found.add((int(number), str(port.get("protocol", "TCP"))))
    return found


def _of(container: Mapping[str, Any]) -> dict[str, float]:
    resources = container.get("resources")
    if not isinstance(resources, Mapping):
        return {}
    return dict(_amounts(resources.get("limits"))) | dict(_amounts(resources.get("requests")))


def _amounts(given: Any) -> Iterator[tuple[str, float]]:
    for key, value in given.items() if isinstance(given, Mapping) else ():
        amount = quantity(value)
        if amount is not None:
            yield str(key), amount


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _add(to: dict[str, float], more: Amounts) -> None:
    for key, amount in more.items():
        to[key] = to.get(key, 0) + amount


def _sum(one: Amounts, other: Amounts) -> dict[str, float]:
    found = dict(one)
    _add(found, other)
    return found


def _most(of: dict[str, float], other: Amounts) -> None:
    for key, amount in other.items():
        of[key] = max(of.get(key, 0), amount)
