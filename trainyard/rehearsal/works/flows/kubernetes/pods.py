"""The pods of a cluster: what teams may make, what a stack makes, and what the charts that it installs make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard import cards
from trainyard.conventions import TEAM_LABEL
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number, is_on, is_set, mapping_at, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import ADD_ON, HELM_RELEASE, NAMESPACE, SERVICE
from trainyard.rehearsal.works.flows.model import Pods, Port
from trainyard.rehearsal.works.workloads.charts import table


@dataclass(frozen=True, slots=True)
class Workload:
    """Pods of one kind, with a name by which they are told."""

    name: str
    pods: Pods
    ports: tuple[Port, ...]
    resource: RecordedResource | None = None  # that makes them, where it is recorded
    needs: tuple[str, ...] = ()  # of a chart's pods: flows by name, as the table says
    from_api: tuple[int, ...] = ()  # of a chart's pods: ports that the API server calls


def teams(resources: Resources) -> dict[str, Workload]:
    """What each team may make in its namespace, by team. Raises UnknownInput."""
    found = {}
    for namespace in resources.of(NAMESPACE):
        if is_set(namespace.inputs, "metadata", "labels", TEAM_LABEL):
            team = str(value_at(namespace.inputs, "metadata", "labels", TEAM_LABEL))
            name = str(value_at(namespace.inputs, "metadata", "name"))
            found[team] = Workload(f"pods of team {team}", Pods(name, None), ())
    return found


def platform(resources: Resources) -> Iterator[Workload]:
    """The pods that are no team's: of recorded objects, of charts and of add-ons. Those in the network of their node
    are the node. Raises UnknownInput.
    """
    theirs = {workload.pods.namespace for workload in teams(resources).values()}
    yield from (workload for workload in of_objects(resources) if workload.pods.namespace not in theirs)
    yield from of_charts(resources)


def of_objects(resources: Resources) -> Iterator[Workload]:
    """The pods of recorded objects, a team's too, that are not in the network of their node. Raises UnknownInput."""
    services = _services(resources)
    for resource in resources.all:
        card = cards.BY_TYPE.get(resource.type)
        if card is None or not card.pod_spec or is_on(resource.inputs, *card.pod_spec.split("."), "hostNetwork"):
            continue
        yield _recorded(resource, card.pod_spec, services)


def of_charts(resources: Resources) -> Iterator[Workload]:
    """The pods of charts and of add-ons that are not in the network of their node. Raises UnknownInput."""
    for release in resources.of(HELM_RELEASE):
        chart = str(value_at(release.inputs, "chart")).rpartition("/")[2]
        release_name = str(value_at(release.inputs, "name", default=release.name))
        namespace = str(value_at(release.inputs, "namespace", default="default"))
        values = value_at(release.inputs, "values", default={})
        yield from _known("charts", chart, release, release_name, namespace, values)
    for add_on in resources.of(ADD_ON):
        name = str(value_at(add_on.inputs, "addonName"))
        yield from _known("add-ons", name, add_on, name, "kube-system", {})


def _services(resources: Resources) -> Mapping[str, list[RecordedResource]]:
    """Services that choose pods, by namespace."""
    found: dict[str, list[RecordedResource]] = {}
    for service in resources.of(SERVICE):
        if is_set(service.inputs, "spec", "selector"):
            namespace = str(value_at(service.inputs, "metadata", "namespace", default="default"))
            found.setdefault(namespace, []).append(service)
    return found


def _recorded(
    resource: RecordedResource, pod_spec: str, by_namespace: Mapping[str, list[RecordedResource]]
) -> Workload:
    path = pod_spec.split(".")
    spec = value_at(resource.inputs, *path, default={})
    namespace = str(value_at(resource.inputs, "metadata", "namespace", default="default"))
    labels = {key: str(value) for key, value in mapping_at(resource.inputs, *path[:-1], "metadata", "labels").items()}
    opened = [
        entry
        for kind in ("initContainers", "containers")
        for container in mappings_at(spec, kind)
        for entry in mappings_at(container, "ports")
    ]
    named = {str(value_at(entry, "name")): _number(entry, "containerPort") for entry in opened if is_set(entry, "name")}
    services = tuple(
        (_number(port, "port"), named.get(str(target), 0) or int(as_number(target) or 0))
        for service in by_namespace.get(namespace, ())
        if selects({"matchLabels": value_at(service.inputs, "spec", "selector")}, labels)
        for port in mappings_at(service.inputs, "spec", "ports")
        for target in [value_at(port, "targetPort", default=value_at(port, "port"))]
    )
    name = str(value_at(resource.inputs, "metadata", "name", default=resource.name))
    return Workload(
        f"{namespace}/{name}",
        Pods(namespace, labels, named, services),
        tuple(Port(_number(entry, "containerPort")) for entry in opened),
        resource,
    )


def _number(entry: Mapping[str, Any], key: str) -> int:
    return int(as_number(value_at(entry, key)) or 0)


def _known(
    kind: str, chart: str, resource: RecordedResource, release: str, namespace: str, values: Mapping[str, Any]
) -> Iterator[Workload]:
    """What a chart or an add-on makes; of one that the table does not hold, pods with labels that nobody knows."""
    entries = table()[kind].get(chart)
    if entries is None:
        yield Workload(f"{namespace}/{release}", Pods(namespace, {}), (), resource)
        return
    for entry in entries["pods"]:
        on_host = entry.get("hostNetwork", False)
        if on_host is True or (on_host and is_on(values, *str(on_host).split("."))):
            continue
        if "when" in entry and value_at(values, *entry["when"].split("."), default=True, unknown=True) is False:
            continue
        yield Workload(
            f"{entry.get('namespace', namespace)}/{entry['name']}",
            Pods(
                entry.get("namespace", namespace),
                {key: str(value).replace("RELEASE", release) for key, value in entry.get("labels", {}).items()},
                dict(entry.get("ports", {})),
                tuple((port, target) for port, target in entry.get("services", [])),
            ),
            (
                *(Port(number) for number in entry.get("ports", {}).values()),
                *(Port(number, "UDP") for number in entry.get("udp", [])),
            ),
            resource,
            tuple(entry.get("needs", ())),
            tuple(entry.get("from_api", ())),
        )
