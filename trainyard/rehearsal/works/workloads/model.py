"""A workload: pods of one kind, wherever a stack says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trainyard.recorded.model import RecordedResource

Origin = Literal["object", "chart", "add-on"]

HOLDING = ("initContainers", "containers")
"""Where a pod's specification lists containers."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Pods of one kind.

    `spec` is a pod's specification as the API takes it, without marks of secrecy; parts that are not known yet are
    `UNKNOWN`. That of a chart or an add-on is what is known of its templates, filled with the values that it is given.
    """

    resource: RecordedResource  # which says of the pods
    name: str  # of the object, or of what the chart makes
    kind: str  # "Deployment", "DaemonSet", "Job", "TrainJob", "ClusterTrainingRuntime", …
    namespace: str  # empty for what has none of its own, such as a ClusterTrainingRuntime
    labels: Mapping[str, str] | None  # of the pods; None where they are not known
    spec: Mapping[str, Any]
    replicas: int | None  # at once; None where it is not known, or one a node
    origin: Origin = "object"
    path: str = ""  # of the pod's specification in the resource; of a chart, of the values that place it
    paths: Mapping[str, str] = field(default_factory=dict)  # of a chart: value path by key of the specification
    only_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # node labels that the chart asks for
    queue: str = ""  # LocalQueue of its namespace that admits it; empty where none is named
    is_template: bool = False  # nothing runs it as it is: a TrainJob fills it in
    offers: tuple[str, ...] = ()  # extended resources of a node that it runs on
    strategy: Any = None  # of a chart's Deployment: how its pods are replaced, as far as its values say
    driver: str = ""  # CSI driver whose volumes are mounted where it runs

    @property
    def every_node(self) -> bool:
        """Whether one runs on every node that takes it."""
        return self.kind == "DaemonSet"

    @property
    def place(self) -> str:
        """`namespace/name`; the name alone where there is no namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def told(self) -> str:
        """As a message names it: `Deployment mlflow/mlflow`."""
        return f"{self.kind} {self.place}"

    def containers(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every known container and init container, each with its path in the specification."""
        for kind in HOLDING:
            listed = self.spec.get(kind)
            for index, container in enumerate(listed if isinstance(listed, list) else ()):
                if isinstance(container, Mapping):
                    yield f"{kind}[{index}]", container

    def at(self, key: str) -> str:
        """Where in the resource's inputs a part of the specification stands: `nodeSelector`, `containers[0].image`."""
        head = key.partition(".")[0].partition("[")[0]
        if self.origin != "object":
            return self.paths.get(head, self.path)
        return f"{self.path}.{key}" if self.path else key
