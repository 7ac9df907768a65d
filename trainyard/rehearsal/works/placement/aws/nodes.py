"""The node groups of EKS as the scheduler will see their nodes.

Labels that EKS, the kubelet and the cloud's controller add: kubernetes.io, "Well-Known Labels", and EKS User Guide,
"Managed node groups" (2026-11). What a pod can have of a machine: `catalog.eks_nodes`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.catalog import eks_nodes
from trainyard.conventions import DEVICE_PLUGIN_LABEL, GPU_RESOURCE, HOSTNAME_LABEL, ZONE_LABEL, pods_per_gpu_of
from trainyard.conventions.aws import EFA_RESOURCE
from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE
from trainyard.recorded.model import UNKNOWN, RecordedResource, bare
from trainyard.recorded.node_groups import EFA_INTERFACES, EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.node_labels import has_other_nodes, labels_of_the_cloud
from trainyard.recorded.read import UnknownInput, as_number, follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.taints import EFFECTS
from trainyard.recorded.types import ADD_ON, EKS_CLUSTER, FARGATE_PROFILE, GKE_CLUSTER, HELM_RELEASE, SUBNET
from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.placement.kubernetes.nodes import (
    ARCHITECTURE,
    DISCOVERED,
    ELSEWHERE,
    INSTANCE_TYPE,
    REGION,
    SYSTEM,
    Machine,
    Nodes,
    Taint,
    as_values,
)
from trainyard.rehearsal.works.workloads.charts import chart_of

_OTHER_NODES: Final = (FARGATE_PROFILE, GKE_CLUSTER)
"""What makes nodes that no node group of EKS says of."""
_EKS_LABELS: Final = "eks.amazonaws.com/"
"""Beginning of the labels that EKS puts on nodes."""
_DISK_GIB: Final = 20  # of a node group's root without a template (EKS API, CreateNodegroup, `diskSize`)
_ROOT_DEVICES: Final = ("/dev/xvda", "/dev/xvdb")  # of Amazon Linux; of Bottlerocket's data
_STANDARD: Final = ("AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD")
_EBS_ZONE: Final = "topology.ebs.csi.aws.com/zone"


def nodes_of(resources: Resources, region: str) -> list[Nodes] | None:
    """Every node group of EKS; None where a stack has, or may have, nodes that it does not say of.

    With several clusters it is so too: their nodes are not told apart here.
    """
    clusters, groups = resources.of(EKS_CLUSTER), resources.of(EKS_NODE_GROUP)
    if len(clusters) != 1 or not groups or resources.of(*_OTHER_NODES) or _karpenter(resources):
        return None
    if has_other_nodes(resources):
        return None
    if any(bare(follow(cluster.inputs, "computeConfig")) is not None for cluster in clusters):
        return None
    prefixes, discovers = _prefixes(resources), _discovers(resources)
    return [_nodes(group, resources, region, prefixes, discovers) for group in groups]


def _karpenter(resources: Resources) -> bool:
    return any(chart_of(release) in ("karpenter", "") for release in resources.of(HELM_RELEASE))


def _nodes(group: RecordedResource, resources: Resources, region: str, prefixes: bool | None, discovers: bool) -> Nodes:
    inputs = bare(dict(group.inputs))
    template = next(iter(resources.referred(group, "launchTemplate", LAUNCH_TEMPLATE)), None)
    launched = bare(dict(template.inputs)) if template is not None else {}
    has_template = inputs.get("launchTemplate") is not None
    given = inputs.get("instanceTypes") or launched.get("instanceType")
    if given is None and not has_template:
        given = ["t3.medium"]  # EKS API, CreateNodegroup: the default
    types = _known(given if isinstance(given, list) else [given])
    ami = inputs.get("amiType")
    user_data = _user_data(launched.get("userData")) if template is not None or not has_template else None
    labels: dict[str, frozenset[str] | None] = {
        SYSTEM: frozenset(("windows",)) if "WINDOWS" in str(ami) else frozenset(("linux",)),
        HOSTNAME_LABEL: None,
        INSTANCE_TYPE: frozenset(types) if types else None,
        ARCHITECTURE: _architectures(types, ami),
        ZONE_LABEL: (zones := _zones(group, inputs, resources)),
        _EBS_ZONE: zones,
        REGION: frozenset((region,)) if region else None,
        **_added(group),
    }
    own = inputs.get("labels")
    if isinstance(own, Mapping):
        labels |= {str(key): as_values(value) for key, value in own.items()}
    elsewhere = (*ELSEWHERE, _EKS_LABELS, "topology.k8s.aws/", *(DISCOVERED if discovers else ()))
    hooked = user_data is None or "node-labels" in user_data or "register-with-taints" in user_data
    custom = ami == "CUSTOM" or launched.get("imageId") is not None
    efa = sum(
        isinstance(one, Mapping) and one.get("interfaceType") in EFA_INTERFACES
        for one in listed(launched.get("networkInterfaces"))
    )
    gpus = max((found.gpus for type_ in types if (found := eks_nodes.machine(type_))), default=0)
    if isinstance(own, Mapping):
        gpus *= pods_per_gpu_of(str(own.get(DEVICE_PLUGIN_LABEL, "")))
    hardware = {name: float(count) for name, count in ((GPU_RESOURCE, gpus), (EFA_RESOURCE, efa)) if count}
    sizes = inputs.get("scalingConfig")
    huge = _huge_pages(user_data, efa > 0, unsaid=custom or (not efa and ami not in _STANDARD))
    disk = _disk(inputs, launched, user_data, has_template and template is None)
    return Nodes(
        name=group.name,
        resource=group,
        labels=labels,
        taints=tuple(_taints(inputs.get("taints"))),
        machines=tuple(
            _machine(type_, prefixes, user_data or "", {**huge, **_storage(type_, disk, user_data or "")})
            for type_ in types
        ),
        least=_size(sizes, "minSize"),
        most=_size(sizes, "maxSize"),
        desired=_size(sizes, "desiredSize"),
        open_labels=own is UNKNOWN or inputs.get("taints") is UNKNOWN or hooked or custom,
        elsewhere=elsewhere,
        built_in=(GPU_RESOURCE,) if "BOTTLEROCKET" in str(ami) and "NVIDIA" in str(ami) else (),
        hardware=hardware,
    )


def _added(group: RecordedResource) -> dict[str, frozenset[str] | None]:
    """Labels that EKS adds; none are told where one is not known, so that each may be anything."""
    try:
        return {key: frozenset((value,)) for key, value in labels_of_the_cloud(group).items()}
    except UnknownInput:
        return {}


def _known(types: list[Any]) -> list[str]:
    """The instance types; none where one of them is not known."""
    return [str(type_) for type_ in types] if all(isinstance(type_, str) for type_ in types) else []


def _architectures(types: list[str], ami: Any) -> frozenset[str] | None:
    if types:
        return frozenset("arm64" if eks_nodes.is_arm(type_) else "amd64" for type_ in types)
    if isinstance(ami, str) and ami != "CUSTOM":
        return frozenset(("arm64" if "ARM_64" in ami else "amd64",))
    return None


def _zones(group: RecordedResource, inputs: Mapping[str, Any], resources: Resources) -> frozenset[str] | None:
    found: set[str] = set()
    subnets = inputs.get("subnetIds")
    if not isinstance(subnets, list) or not subnets:
        return None
    for index in range(len(subnets)):
        places = resources.referred(group, f"subnetIds[{index}]", SUBNET)
        zone = bare(follow(places[0].inputs, "availabilityZone")) if len(places) == 1 else None
        if not isinstance(zone, str):
            return None
        found.add(zone)
    return frozenset(found)


def _taints(taints: Any) -> Iterator[Taint]:
    for taint in listed(taints):
        if isinstance(taint, Mapping):
            yield Taint(taint.get("key"), taint.get("value"), EFFECTS.get(str(taint.get("effect")), ""))


def _huge_pages(user_data: str | None, has_fabric: bool, *, unsaid: bool) -> dict[str, float]:
    """Bytes of huge pages that a node has at most: none but what the driver of EFA reserves, where nothing else is said
    of them; empty where that is not known."""
    if user_data is None or "hugepages" in user_data or unsaid:
        return {}
    reserved = float(eks_nodes.HUGE_PAGES_OF_EFA * 2 * MEBIBYTE) if has_fabric else 0.0
    return {"hugepages-2Mi": reserved, "hugepages-1Gi": 0.0}


def _storage(type_: str, disk: float | None, user_data: str) -> dict[str, float]:
    """Bytes of scratch that a node has at most; empty where that is not known."""
    found = eks_nodes.machine(type_)
    joined = found.nvme_gb * 10**9 if found is not None and found.nvme_gb and "RAID0" in user_data else 0
    if disk is None and not joined:
        return {}
    return {"ephemeral-storage": float((joined or disk or 0) * eks_nodes.USABLE_DISK)}


def _machine(type_: str, prefixes: bool | None, user_data: str, most: dict[str, float]) -> Machine:
    found = eks_nodes.machine(type_)
    pods = (
        None
        if prefixes is None or "maxPods" in user_data or "max-pods" in user_data
        else eks_nodes.pods_of_interfaces(type_)
    )
    if prefixes and "maxPods" not in user_data:
        pods = eks_nodes.pods_of_prefixes(found.vcpus) if found is not None else None
    if found is None:
        return Machine(type_, most, most, pods)
    cores = float(found.vcpus - eks_nodes.kubelet_cores(found.vcpus))
    mib = found.memory_gib * 1024

    of_interfaces = eks_nodes.pods_of_interfaces(type_)
    usual = of_interfaces or (eks_nodes.PODS_OF_INTERFACES if found.vcpus >= 16 else 58)

    def memory(lost: float, of_pods: int) -> float:
        return (mib - lost - eks_nodes.kubelet_mib(of_pods)) * MEBIBYTE

    least = mib * float(eks_nodes.LEAST_VIRTUAL_MACHINE_SHARE)
    lost = mib * float(eks_nodes.USUAL_VIRTUAL_MACHINE_SHARE) + eks_nodes.USUAL_VIRTUAL_MACHINE_MIB
    return Machine(
        type_,
        {**most, "cpu": cores, "memory": memory(least, min(usual, 58))},
        {**most, "cpu": cores, "memory": memory(lost, max(usual, eks_nodes.MAX_PODS) if prefixes else usual)},
        pods,
    )


def _disk(
    inputs: Mapping[str, Any], launched: Mapping[str, Any], user_data: str | None, is_foreign: bool
) -> float | None:
    """Bytes of the file system that containers write to; None where that is not known."""
    if is_foreign or user_data is None or launched.get("imageId") is not None:
        return None
    for mapping in listed(launched.get("blockDeviceMappings")):
        if follow(mapping, "deviceName") in _ROOT_DEVICES:
            size = as_number(follow(mapping, "ebs", "volumeSize"))
            return None if size is None else size * GIBIBYTE
    if launched.get("blockDeviceMappings") is not None or launched:
        return None
    size = as_number(inputs.get("diskSize", _DISK_GIB))
    return None if size is None else size * GIBIBYTE


def _user_data(given: Any) -> str | None:
    """What a template tells its instances as text; empty where it tells nothing, None where that cannot be read."""
    if given is None:
        return ""
    if not isinstance(given, str):
        return None
    try:
        return base64.b64decode(given, validate=True).decode()
    except ValueError:  # as it is where the template takes plain text, or compressed: nothing is read out of that
        return None


def _prefixes(resources: Resources) -> bool | None:
    """Whether the network plugin hands out prefixes; None where nothing recorded says."""
    for add_on in resources.of(ADD_ON):
        if bare(follow(add_on.inputs, "addonName")) == "vpc-cni":
            given = bare(follow(add_on.inputs, "configurationValues"))
            try:
                values = json.loads(given) if isinstance(given, str) else given
            except ValueError:
                return None
            said = follow({} if values is None else values, "env", "ENABLE_PREFIX_DELEGATION")
            return None if said is UNKNOWN else str(said).lower() == "true"
    return None


def _discovers(resources: Resources) -> bool:
    """Whether something may label nodes by what hardware they have: it does not where the plugin is told not to."""
    plugins = [release for release in resources.of(HELM_RELEASE) if chart_of(release) == "nvidia-device-plugin"]
    others = [release for release in resources.of(HELM_RELEASE) if chart_of(release) in _DISCOVERING]
    return (
        bool(others)
        or not plugins
        or any(bare(follow(one.inputs, "values", "gfd", "enabled")) is not False for one in plugins)
    )


_DISCOVERING: Final = ("gpu-operator", "node-feature-discovery", "gpu-feature-discovery")


def _size(sizes: Any, key: str) -> int | None:
    number = as_number(follow(sizes, key))
    return None if number is None else int(number)
