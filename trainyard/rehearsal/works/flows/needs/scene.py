"""What needs are found in: the recorded pods with their places, and what their environment says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard import cards
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow, is_set, known_texts, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import CONFIG_MAP, NAMESPACE, SERVICE
from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.flows.kubernetes.pods import Workload
from trainyard.rehearsal.works.flows.model import Place

NAME_SERVER: Final = "kube-system/coredns"
"""The pods of the add-on, as the table of charts and add-ons names them."""
NAME_SERVER_OF_GKE: Final = "kube-system/kube-dns"
"""Those that every cluster of GKE has (GKE, "About service discovery and kube-dns", as generally known in 2026-11)."""

_NO_DESTINATION: Final = re.compile("origin|cors|allow|redirect|callback|external|advertis|no_proxy|issuer", re.I)
"""Names of variables and options whose URLs are no place that the pod itself opens."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Pods that need something, with the texts that say what."""

    place: Place
    namespace: str
    resource: RecordedResource  # that makes them
    texts: tuple[str, ...] = ()  # of its environment, options and the config maps that it reads its environment from
    account: str = ""  # its service account; empty where that is not known
    needs: tuple[str, ...] = ()  # by name, of a chart's pods
    from_api: tuple[int, ...] = ()
    mounts_token: bool = True  # of its service account
    ranks: int = 1  # pods of one job that talk to each other


@dataclass(frozen=True, slots=True)
class Scene:
    """A recorded cluster: who acts in it, and where."""

    resources: Resources
    places: Mapping[str, Place]
    teams: Mapping[str, Place]  # pods that members make, by team, or by namespace where it has queues and no team
    actors: tuple[Actor, ...]
    namespaces: Mapping[str, RecordedResource]  # by name

    def name_server(self) -> Actor | None:
        """The cluster's own."""
        return next((actor for actor in self.actors if actor.place.name in (NAME_SERVER, NAME_SERVER_OF_GKE)), None)


def actor_of(workload: Workload, place: Place, config_maps: Mapping[tuple[str, str], RecordedResource]) -> Actor:
    """The pods of a recorded object, or of a chart, as somebody who needs something."""
    resource = workload.resource
    assert resource is not None, "only pods that members of a team make come from no resource"
    card = cards.BY_TYPE.get(resource.type)
    if card is None or not card.pod_spec:
        return Actor(place, workload.pods.namespace, resource, needs=workload.needs, from_api=workload.from_api)
    path = card.pod_spec.split(".")
    spec = value_at(resource.inputs, *path, default={})
    job = path[:-2]
    width = value_at(resource.inputs, *job, "parallelism", default=1) if resource.type.endswith(":Job") else 1
    return Actor(
        place,
        workload.pods.namespace,
        resource,
        tuple(_texts(spec, workload.pods.namespace, config_maps)),
        str(value_at(spec, "serviceAccountName", default=value_at(spec, "serviceAccount", default="default"))),
        mounts_token=value_at(spec, "automountServiceAccountToken") is not False,
        ranks=width if isinstance(width, int) and _meet(spec) else 1,
    )


def _meet(spec: Any) -> bool:
    """Whether the pods of one job know of each other: they have names, hold devices, or start what makes ranks.

    Pods that take their share by index, or from a queue, never meet.
    """
    if is_set(spec, "subdomain"):
        return True
    for container in listed(follow(spec, "containers")):
        limits = follow(container, "resources", "limits")
        if isinstance(limits, Mapping) and any("/" in str(name) for name in limits):
            return True
        if any(_RENDEZVOUS.search(text) for _, text in known_texts(container)):
            return True
    return False


_RENDEZVOUS: Final = re.compile(
    r"torchrun|torch\.distributed|MASTER_ADDR|rdzv|mpirun|horovodrun|accelerate launch|deepspeed|COORDINATOR_ADDRESS",
    re.I,
)
"""What a launcher of ranks, or what it is told, is called (launchers' documentation, as generally known, 2026-11)."""


def selector_of(workload: Workload) -> Mapping[str, Any]:
    """The node selector of a recorded object's pods; of a chart's nothing is said here."""
    card = cards.BY_TYPE.get(workload.resource.type) if workload.resource is not None else None
    if workload.resource is None or card is None or not card.pod_spec:
        return {}
    found = follow(workload.resource.inputs, *card.pod_spec.split("."), "nodeSelector")
    return found if isinstance(found, Mapping) else {}


def config_maps_of(resources: Resources) -> dict[tuple[str, str], RecordedResource]:
    """By namespace and name."""
    return _by_name(resources, CONFIG_MAP)


def services_of(resources: Resources) -> dict[tuple[str, str], RecordedResource]:
    """By namespace and name."""
    return _by_name(resources, SERVICE)


def _by_name(resources: Resources, type_: str) -> dict[tuple[str, str], RecordedResource]:
    return {
        (
            str(value_at(found.inputs, "metadata", "namespace", default="default")),
            str(value_at(found.inputs, "metadata", "name", default=found.name)),
        ): found
        for found in resources.of(type_)
    }


def settings_of(config_map: RecordedResource) -> Iterator[str]:
    """What a config map sets that looks like variables: short texts, no programs and no files."""
    data = follow(config_map.inputs, "data")
    for key, text in data.items() if isinstance(data, Mapping) else ():
        if isinstance(text, str) and "\n" not in text.strip() and not _NO_DESTINATION.search(str(key)):
            yield text


def _texts(
    spec: Mapping[str, Any], namespace: str, config_maps: Mapping[tuple[str, str], RecordedResource]
) -> Iterator[str]:
    for kind in ("initContainers", "containers"):
        for container in mappings_at(spec, kind):
            for variable in mappings_at(container, "env"):
                name = str(value_at(variable, "name", default=""))
                text = follow(variable, "value")
                if isinstance(text, str) and not _NO_DESTINATION.search(name):
                    yield text
            for part in ("command", "args"):
                for _, text in known_texts(follow(container, part)):
                    if not _NO_DESTINATION.search(text.partition("=")[0]):
                        yield text
            for source in mappings_at(container, "envFrom"):
                read = config_maps.get((namespace, str(value_at(source, "configMapRef", "name", default=""))))
                if read is not None:
                    yield from settings_of(read)


def namespaces_of(resources: Resources) -> dict[str, RecordedResource]:
    """Recorded namespaces by name."""
    return {
        str(value_at(found.inputs, "metadata", "name", default=found.name)): found for found in resources.of(NAMESPACE)
    }
