"""What Kueue adds to the pods of a job that a queue admits: a flavor's node labels and tolerations.

Kueue's own rules of quota are `works.queues`; here a job may get any flavor of its queue that covers what it requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from trainyard.recorded.model import bare
from trainyard.recorded.queues import CLUSTER_QUEUE, LOCAL_QUEUE, RESOURCE_FLAVOR
from trainyard.recorded.read import follow
from trainyard.recorded.resources import Resources

_MOST_WAYS = 64


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a job's pods may be admitted."""

    flavor: str  # names of the flavors; empty where none is given
    labels: Mapping[str, Any]
    tolerations: tuple[Any, ...]


PLAIN = Way("", {}, ())
"""Pods that no queue stands before."""


class Flavors:
    """The recorded queues and flavors."""

    def __init__(self, resources: Resources) -> None:
        self._flavors = {
            str(bare(follow(one.inputs, "metadata", "name"))): bare(follow(one.inputs, "spec"))
            for one in resources.of(RESOURCE_FLAVOR)
        }
        self._groups = {
            bare(follow(one.inputs, "metadata", "name")): bare(follow(one.inputs, "spec", "resourceGroups"))
            for one in resources.of(CLUSTER_QUEUE)
        }
        self._queues = {
            (bare(follow(one.inputs, "metadata", "namespace")), bare(follow(one.inputs, "metadata", "name"))): bare(
                follow(one.inputs, "spec", "clusterQueue")
            )
            for one in resources.of(LOCAL_QUEUE)
        }

    def any(self) -> list[Way]:
        """Every flavor that there is, and none."""
        return [PLAIN, *(way for name in self._flavors if (way := self._way(name)) is not None)]

    def ways(self, namespace: str, queue: str, requests: Mapping[str, float]) -> list[Way] | None:
        """How a queue may admit pods of these requests; None where it is not known, or not recorded."""
        groups = self._groups.get(self._queues.get((namespace, queue)))
        if not isinstance(groups, list):
            return None
        choices: list[list[Way]] = []
        for group in groups:
            covered, flavors = follow(group, "coveredResources"), follow(group, "flavors")
            if not isinstance(covered, list) or not isinstance(flavors, list):
                return None
            if not any(requests.get(str(name)) for name in covered):
                continue
            ways = [self._way(str(follow(flavor, "name"))) for flavor in flavors]
            if None in ways:
                return None
            choices.append([way for way in ways if way is not None])
        return list(self._joined(choices))[:_MOST_WAYS] if choices else [PLAIN]

    def _way(self, name: str) -> Way | None:
        spec = self._flavors.get(name)
        if not isinstance(spec, Mapping):
            return None
        labels, tolerations = spec.get("nodeLabels") or {}, spec.get("tolerations") or []
        if not isinstance(labels, Mapping) or not isinstance(tolerations, list):
            return None
        return Way(name, labels, tuple(tolerations))

    def _joined(self, choices: list[list[Way]]) -> Iterator[Way]:
        for ways in product(*choices):
            labels: dict[str, Any] = {}
            for way in ways:
                labels |= way.labels
            given = tuple(one for way in ways for one in way.tolerations)
            yield Way(" and ".join(way.flavor for way in ways), labels, given)
