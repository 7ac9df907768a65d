"""EKS: what the models and the provider let pass and the service refuses.

Source: EKS user guide as generally known and the probes of 2026-11-21 (accepted by `validate` and `plan`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.conventions import LABEL_PREFIX
from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import EFA_INTERFACES, EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.types import ACCESS_POLICY_ASSOCIATION, EKS_CLUSTER, SUBNET
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.aws.models import operation
from trainyard.rehearsal.refusals.labels import LABEL_KEY, check_label, is_label_key
from trainyard.rehearsal.refusals.rules import Rules

_RESERVED = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
_OPEN_RESERVED = ("node.kubernetes.io", "k8s.amazonaws.com", "node-restriction.kubernetes.io", "kubelet.kubernetes.io")


def instance_types() -> tuple[str, ...]:
    """Every EC2 instance type that Amazon's model lists."""
    return operation("ec2", "CreateLaunchTemplate").members["LaunchTemplateData"].members["InstanceType"].enum


def zones_of(view: View, path: str) -> set[str] | None:
    """The zones of the subnets that an input lists; None where one of them is not in the recording."""
    found = set()
    for index, _ in enumerate(view.entries(path)):
        subnet = view.referred(f"{path}[{index}]", SUBNET)
        zone = subnet.text("availabilityZone") if subnet else None
        if zone is None:
            return None
        found.add(zone)
    return found


def cluster(view: View) -> None:
    """Version as text, endpoints, zones, Auto Mode's three switches."""
    version = view.value("version")
    if version is not None and not isinstance(version, str):
        view.error(
            "kubernetes-version", "version", f"got the number {show(version)}", allowed='must be text, like "1.35"',
            hint="1.30 without quotes is the number 1.3",
        )  # fmt: skip
    if view.flag("vpcConfig.endpointPrivateAccess") is False and view.flag("vpcConfig.endpointPublicAccess") is False:
        view.error(
            "eks-endpoints", "vpcConfig", "both endpoints are off: nothing could reach the cluster",
            allowed="at least one of endpointPrivateAccess, endpointPublicAccess",
        )  # fmt: skip
    subnets = view.entries("vpcConfig.subnetIds")
    zones = zones_of(view, "vpcConfig.subnetIds") if all(item is not UNKNOWN for item in subnets) else None
    if 0 < len(subnets) < 2 or (zones is not None and 0 < len(zones) < 2):
        view.error(
            "eks-zones", "vpcConfig.subnetIds", f"lies in one zone ({', '.join(sorted(zones or ())) or 'one subnet'})",
            allowed="subnets in at least two availability zones",
        )  # fmt: skip
    switches = {
        path: view.flag(path) or False
        for path in (
            "computeConfig.enabled",
            "storageConfig.blockStorage.enabled",
            "kubernetesNetworkConfig.elasticLoadBalancing.enabled",
        )
    }
    if len(set(switches.values())) > 1 and not any(view.is_unknown(path) for path in switches):
        off = next(path for path, on in switches.items() if not on)
        view.error("eks-auto-mode", off, "Auto Mode is on in part", allowed=f"{', '.join(switches)} all on or all off")


def node_group_sizes(view: View) -> None:
    """Sizes in order, one way of updating, at least one subnet."""
    least, wanted, most = (view.number(f"scalingConfig.{key}") for key in ("minSize", "desiredSize", "maxSize"))
    if least is not None and most is not None and least > most:
        view.error(
            "eks-sizes", "scalingConfig.minSize", f"{least:g} is above maxSize {most:g}", allowed="minSize <= maxSize"
        )
    elif wanted is not None and ((least is not None and wanted < least) or (most is not None and wanted > most)):
        view.error(
            "eks-sizes", "scalingConfig.desiredSize", f"got {wanted:g}", allowed="minSize <= desiredSize <= maxSize"
        )
    if view.has("updateConfig"):
        given = [key for key in ("maxUnavailable", "maxUnavailablePercentage") if view.has(f"updateConfig.{key}")]
        if view.is_unknown("updateConfig"):
            return
        if len(given) == 2 or (not given and view.lacks("updateConfig.updateStrategy")):
            view.error(
                "eks-update-config", "updateConfig", f"{'both' if given else 'none'} of the two limits given",
                allowed="exactly one of maxUnavailable, maxUnavailablePercentage",
            )  # fmt: skip
    if view.value("subnetIds") == []:
        view.error("eks-subnets", "subnetIds", "is empty", allowed="at least one subnet")
    if len(view.entries("taints")) > 50:
        view.error("eks-taints", "taints", f"has {len(view.entries('taints'))} entries", allowed="at most 50")


def node_group_labels(view: View) -> None:
    """Label keys and values as Kubernetes takes them, and prefixes that EKS keeps for itself."""
    for key, value in view.mapping("labels").items():
        check_label(view, f"labels.{key}", key, value)
        prefix = key.partition("/")[0] if "/" in key else ""
        if (
            prefix
            and prefix not in _OPEN_RESERVED
            and any(prefix == own or prefix.endswith("." + own) for own in _RESERVED)
        ):
            view.error(
                "eks-label-reserved",
                f"labels.{key}",
                "lies under a prefix that Kubernetes reserves",
                allowed=f"a prefix of your own, like {LABEL_PREFIX}",
            )
    for path, taint in view.items("taints"):
        name = taint.get("key")
        if isinstance(name, str) and not is_label_key(name):
            view.error("eks-taint-key", f"{path}.key", f"got {show(name)}", allowed=LABEL_KEY)


def node_group_types(view: View) -> None:
    """A node group's instance types exist in EC2."""
    known = instance_types()
    for index, name in enumerate(view.entries("instanceTypes")):
        if isinstance(name, str) and name not in known:
            view.error(
                "instance-type",
                f"instanceTypes[{index}]",
                f"EC2 has no instance type {show(name)}",
                hint=nearest(name, known),
            )


def node_group_template(view: View) -> None:
    """What a node group may not say beside its launch template, and what both must agree on."""
    if view.lacks("launchTemplate"):
        if view.text("capacityType") == "CAPACITY_BLOCK":
            view.error(
                "capacity-block",
                "capacityType",
                "CAPACITY_BLOCK without a launch template",
                allowed="a launch template with market type capacity-block and the reservation's id",
            )
        return
    if view.is_unknown("launchTemplate"):
        return
    given = [key for key in ("id", "name") if view.has(f"launchTemplate.{key}")]
    if len(given) != 1:
        view.error(
            "launch-template-reference",
            "launchTemplate",
            f"{len(given)} of id and name given",
            allowed="exactly one of id, name",
        )
    if view.lacks("launchTemplate.version"):
        view.error(
            "launch-template-reference", "launchTemplate.version", "is missing", allowed="a version of the template"
        )
    for key in ("diskSize", "remoteAccess"):
        if view.has(key):
            view.error(
                "launch-template-conflict",
                key,
                "cannot be given beside a launch template",
                allowed="put it into the launch template",
            )
    key = given[0] if given else "id"
    template = view.referred(f"launchTemplate.{key}", LAUNCH_TEMPLATE)
    if template is not None:
        _agreement(view, template)


def _agreement(view: View, template: View) -> None:
    own = template.name
    if template.has("instanceType") and view.entries("instanceTypes"):
        view.error(
            "launch-template-conflict",
            "instanceTypes",
            f"launch template {own} has an instance type too",
            allowed="in one of the two",
        )
    if template.has("imageId") and (view.text("amiType") not in (None, "CUSTOM") or view.has("releaseVersion")):
        view.error(
            "launch-template-conflict",
            "amiType",
            f"launch template {own} names an image",
            allowed="CUSTOM, or no image in the template",
        )
    if view.text("amiType") == "CUSTOM" and template.lacks("imageId"):
        view.error(
            "launch-template-conflict",
            "amiType",
            f"CUSTOM, and launch template {own} names no image",
            allowed="imageId in the template",
        )
    for key in ("iamInstanceProfile", "instanceInitiatedShutdownBehavior"):
        if template.has(key):
            template.error(
                "launch-template-conflict",
                key,
                f"node group {view.name} uses this template",
                allowed="not in a template of a managed node group",
            )
    _market(view, template)
    for path, _ in template.items("networkInterfaces"):
        if template.has(f"{path}.subnetId"):
            template.error("launch-template-conflict", f"{path}.subnetId", f"node group {view.name} uses this template",
                           allowed="the node group's subnetIds")  # fmt: skip
    cards = template.entries("networkInterfaces")
    if any(isinstance(item, Mapping) and item.get("interfaceType") in EFA_INTERFACES for item in cards):
        zones = zones_of(view, "subnetIds")
        if len(view.entries("subnetIds")) > 1 and (zones is None or len(zones) > 1):
            view.error(
                "efa-one-zone",
                "subnetIds",
                f"{len(view.entries('subnetIds'))} subnets, and {own} has EFA interfaces",
                allowed="subnets of one zone: EFA does not cross zones",
            )


def _market(view: View, template: View) -> None:
    capacity = view.text("capacityType") or "ON_DEMAND"
    market = template.text("instanceMarketOptions.marketType")
    if view.is_unknown("capacityType") or template.is_unknown("instanceMarketOptions"):
        return
    if capacity == "CAPACITY_BLOCK":
        if market != "capacity-block":
            view.error(
                "capacity-block",
                "capacityType",
                f"CAPACITY_BLOCK, and launch template {template.name} has market type {show(market)}",
                allowed="market type capacity-block in the template",
            )
        if template.lacks("capacityReservationSpecification.capacityReservationTarget"):
            template.error(
                "capacity-block",
                "capacityReservationSpecification",
                "a Capacity Block needs its reservation's id",
                allowed="capacityReservationTarget.capacityReservationId",
            )
        if template.lacks("instanceType"):
            template.error(
                "capacity-block",
                "instanceType",
                "a Capacity Block needs the instance type in the template",
                allowed="the reservation's instance type",
            )
        if template.has("placement.groupName") or template.has("placement.groupId"):
            template.error(
                "capacity-block",
                "placement",
                "a Capacity Block places its instances itself",
                allowed="no placement group",
            )
    elif market == "capacity-block":
        view.error(
            "capacity-block",
            "capacityType",
            f"{capacity}, and launch template {template.name} buys from a Capacity Block",
            allowed="CAPACITY_BLOCK",
        )
    elif market == "spot":
        template.error(
            "launch-template-conflict",
            "instanceMarketOptions.marketType",
            f"managed node group {view.name} sets spot itself",
            allowed="capacityType SPOT on the node group",
        )
    if capacity == "SPOT" and template.has("capacityReservationSpecification.capacityReservationTarget"):
        view.error(
            "capacity-reservation",
            "capacityType",
            f"SPOT, and launch template {template.name} is bound to a reservation",
            allowed="ON_DEMAND",
        )


def access_scope(view: View) -> None:
    """A scope of namespaces names them; one of the cluster does not."""
    scope = view.text("accessScope.type")
    named = view.entries("accessScope.namespaces")
    if scope == "namespace" and not named and view.lacks("accessScope.namespaces"):
        view.error(
            "eks-access-scope", "accessScope.namespaces", "is missing", allowed="the namespaces of a namespace scope"
        )
    if scope == "cluster" and named:
        view.error(
            "eks-access-scope", "accessScope.namespaces", "given with scope cluster", allowed="scope namespace, or none"
        )


RULES: Final[Rules] = {
    cluster: (EKS_CLUSTER,),
    node_group_sizes: (EKS_NODE_GROUP,),
    node_group_labels: (EKS_NODE_GROUP,),
    node_group_types: (EKS_NODE_GROUP,),
    node_group_template: (EKS_NODE_GROUP,),
    access_scope: (ACCESS_POLICY_ASSOCIATION,),
}
