"""Nodes as the scheduler sees them, before any of them exists: one entry a group of equal ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainyard.conventions import INSTANCE_TYPE_LABEL, ZONE_LABEL
from trainyard.recorded.model import UNKNOWN, RecordedResource

REGION: Final = "topology.kubernetes.io/region"
ARCHITECTURE: Final = "kubernetes.io/arch"
SYSTEM: Final = "kubernetes.io/os"
INSTANCE_TYPE: Final = INSTANCE_TYPE_LABEL

ELSEWHERE: Final = (
    "node.kubernetes.io/", "beta.kubernetes.io/", "failure-domain.beta.kubernetes.io/", "topology.",
    "node-role.kubernetes.io/", "kubernetes.io/",
)  # fmt: skip
"""Beginnings of labels that a kubelet, a cloud's controller or a driver may put on a node besides."""

RESERVED: Final = ("topology.kubernetes.io/", "kubernetes.io/")
"""Beginnings of labels that are Kubernetes' own: a node has those that its group has here and no other (kubernetes.io,
"Well-Known Labels, Annotations and Taints", 2026-11)."""

DISCOVERED: Final = ("nvidia.com/", "feature.node.kubernetes.io/")
"""Beginnings of labels that NVIDIA's GPU feature discovery and Node Feature Discovery put on nodes."""


@dataclass(frozen=True, slots=True)
class Taint:
    """What keeps pods off a node; an unknown part is `UNKNOWN`."""

    key: Any
    value: Any
    effect: str

    def as_recorded(self) -> dict[str, Any]:
        """As a node group or a node has it."""
        return {"key": self.key, "value": self.value, "effect": self.effect}

    def __str__(self) -> str:
        """As `kubectl` writes it."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Machine:
    """One kind of machine that a group may start. A resource that is left out is not known; 0 is none of it."""

    name: str  # its type
    most: Mapping[str, float]  # that pods can have for sure at most
    likely: Mapping[str, float]  # that they can count on
    pods: int | None  # at most; None where it is not known


@dataclass(frozen=True, slots=True)
class Nodes:
    """A group of nodes. A label's values are those that its nodes may have; None stands for any."""

    name: str
    resource: RecordedResource
    labels: Mapping[str, frozenset[str] | None]
    taints: tuple[Taint, ...]
    machines: tuple[Machine, ...]  # none: nobody knows
    least: int | None  # nodes; None where it is not known
    most: int | None
    desired: int | None = None  # that it starts with
    open_labels: bool = False  # whether more labels, or taints, are put on them by what nobody reads here
    elsewhere: tuple[str, ...] = ELSEWHERE  # beginnings of labels that may be there besides
    built_in: tuple[str, ...] = ()  # extended resources that its image offers without a plugin
    hardware: Mapping[str, float] = field(default_factory=dict)  # extended resources that a plugin would offer
    tolerated: tuple[str, ...] = ()  # taints that the cloud tolerates in the name of who asks for the resource

    @property
    def zones(self) -> frozenset[str] | None:
        """The zones of its nodes; None where they are not known."""
        return self.labels.get(ZONE_LABEL)

    def values(self, key: str) -> frozenset[str] | None:
        """What a label of its nodes may be: values, none of them where the label is not there, or None for any."""
        if key in self.labels:
            return self.labels[key]
        if self.open_labels or (key.startswith(self.elsewhere) and not key.startswith(RESERVED)):
            return None
        return frozenset()

    def told(self) -> str:
        """As messages name it."""
        return f"node group {self.name}"


def as_values(value: Any) -> frozenset[str] | None:
    """A label's value as the values that it may have."""
    return None if value is UNKNOWN else frozenset((str(value),))
