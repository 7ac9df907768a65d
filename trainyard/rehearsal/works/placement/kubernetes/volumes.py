"""Where a pod's volumes let it run: nodes that a volume can be reached from, and where its driver runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainyard.recorded.model import RecordedResource, bare
from trainyard.recorded.read import follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import VOLUME, VOLUME_CLAIM
from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.workloads.model import Workload

STORAGE_CLASS: Final = "kubernetes:storage.k8s.io/*:StorageClass"

Terms = Sequence[Any]


class Volumes:
    """The recorded claims, volumes and storage classes."""

    def __init__(self, resources: Resources) -> None:
        self._claims = {_place(one): bare(follow(one.inputs, "spec")) for one in resources.of(VOLUME_CLAIM)}
        self._volumes = {_place(one)[1]: bare(follow(one.inputs, "spec")) for one in resources.of(VOLUME)}
        self._classes = {_place(one)[1]: bare(dict(one.inputs)) for one in resources.of(STORAGE_CLASS)}

    def of(self, workload: Workload) -> tuple[tuple[Terms, ...], frozenset[str]]:
        """Node selector terms, one of each of which has to hold, and the CSI drivers of a workload's volumes."""
        terms: list[Terms] = []
        drivers: set[str] = set()
        for claim in self._specs(workload):
            volume = self._volumes.get(str(follow(claim, "volumeName")))
            of_class = self._classes.get(str(follow(claim, "storageClassName")))
            found = follow(volume, "nodeAffinity", "required", "nodeSelectorTerms")
            if isinstance(found, list):
                terms.append(found)
            elif volume is None and of_class is not None:
                allowed = list(_allowed(of_class.get("allowedTopologies")))
                terms += [allowed] if allowed else []
            driver = follow(volume, "csi", "driver") or (of_class or {}).get("provisioner")
            if isinstance(driver, str):
                drivers.add(driver)
        for volume in listed(workload.spec.get("volumes")):
            if isinstance(driver := follow(volume, "csi", "driver"), str):
                drivers.add(driver)
        return tuple(terms), frozenset(drivers)

    def _of_any_team(self, workload: Workload, name: str) -> Any:
        """The claim that a template means: every team has one of the name, and they are alike."""
        if not workload.is_template or workload.namespace:
            return None
        return next((claim for (_, own), claim in self._claims.items() if own == name), None)

    def mounted(self, workload: Workload) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The CSI driver and the attributes of each volume of a workload, those in its own specification too."""
        for claim in self._specs(workload):
            csi = follow(self._volumes.get(str(follow(claim, "volumeName"))), "csi")
            if isinstance(driver := follow(csi, "driver"), str):
                yield driver, _mapping(follow(csi, "volumeAttributes"))
        for volume in listed(workload.spec.get("volumes")):
            if isinstance(driver := follow(volume, "csi", "driver"), str):
                yield driver, _mapping(follow(volume, "csi", "volumeAttributes"))

    def _specs(self, workload: Workload) -> Iterator[Any]:
        for volume in listed(workload.spec.get("volumes")):
            name = follow(volume, "persistentVolumeClaim", "claimName")
            if isinstance(name, str):
                yield self._claims.get((workload.namespace, name)) or self._of_any_team(workload, name)
            template = follow(volume, "ephemeral", "volumeClaimTemplate", "spec")
            if template is not None:
                yield template
        if workload.kind == "StatefulSet":
            for template in listed(bare(follow(workload.resource.inputs, "spec", "volumeClaimTemplates"))):
                yield follow(template, "spec")


def _allowed(topologies: Any) -> Iterator[Mapping[str, Any]]:
    """Allowed topologies of a storage class as terms of a node selector."""
    for topology in listed(topologies):
        expressions = [
            {"key": follow(one, "key"), "operator": "In", "values": follow(one, "values")}
            for one in listed(follow(topology, "matchLabelExpressions"))
        ]
        if expressions:
            yield {"matchExpressions": expressions}


def _place(resource: RecordedResource) -> tuple[str, str]:
    metadata = bare(follow(resource.inputs, "metadata"))
    name, namespace = follow(metadata, "name"), follow(metadata, "namespace")
    return (
        namespace if isinstance(namespace, str) else "default",
        name if isinstance(name, str) else resource.name,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
