"""Security: the network around nodes. No door to the internet, no address on it, no metadata for pods."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.access import internet
from trainyard.policies.each import of_each
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.machines import MACHINE_PARTS, are_of_ecs, machines_of, starts_no_node
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, GKE_NODE_POOL, LAUNCH_TEMPLATE
from trainyard.recorded.read import is_on, is_set, length_at, list_at, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    DEFAULT_SECURITY_GROUP,
    EC2_INSTANCE,
    GCP_FIREWALL,
    GCP_FIREWALL_RULES,
    GCP_MACHINES,
    GKE_CLUSTER,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
    SUBNET,
)

METADATA_TYPES: Final = (LAUNCH_TEMPLATE, EC2_INSTANCE, GKE_CLUSTER, GKE_NODE_POOL)
"""What says how instance metadata answers."""
_SOURCES: Final = ("sourceRanges", "sourceTags", "sourceServiceAccounts")
"""Without any of them a rule of Google Cloud is for 0.0.0.0/0 (Compute Engine API, `firewalls`, as generally
known, 2026-11)."""


@resource_rule(
    "security-group-open-to-internet",
    "No security group lets the internet in, and none lets everything out to it.",
    types=(
        SECURITY_GROUP_INGRESS_RULE,
        SECURITY_GROUP_EGRESS_RULE,
        SECURITY_GROUP_RULE,
        SECURITY_GROUP,
        DEFAULT_SECURITY_GROUP,
        GCP_FIREWALL,
        *GCP_FIREWALL_RULES,
    ),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 5.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.20"),
    fix="Name the network or the security group that is meant.",
)
def security_group_open_to_internet(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Checks separate rules and rules inside of a group, in both directions."""
    kind, props = resource.type, resource.inputs
    if kind in GCP_FIREWALL_RULES:
        inward = (value_at(props, "direction"), str(value_at(props, "action")).lower()) == ("INGRESS", "allow")
        if inward and any(internet(network) for network in list_at(props, "match", "srcIpRanges")):
            yield "lets the internet in"
        return
    if kind == GCP_FIREWALL:
        inward = value_at(props, "direction", default="INGRESS") == "INGRESS" and bool(list_at(props, "allows"))
        if inward and any(internet(network) for network in list_at(props, "sourceRanges")):
            yield "lets the internet in"
        if inward and not any(is_set(props, key) for key in _SOURCES):
            yield "names no source: it lets the internet in"
        return
    incoming = [props] if "IngressRule" in kind or value_at(props, "type") == "ingress" else list_at(props, "ingress")
    outgoing = [props] if "EgressRule" in kind or value_at(props, "type") == "egress" else list_at(props, "egress")
    for rule in incoming:
        if _anywhere(rule):
            yield f"lets the internet in on {_ports(rule)}"
    for rule in outgoing:
        if _anywhere(rule) and _protocol(rule) == "-1":
            yield "lets everything out to the internet"


def _anywhere(rule: Any) -> bool:
    keys = ("cidrIpv4", "cidrIpv6", "cidrBlocks", "ipv6CidrBlocks")
    return any(internet(network) for key in keys for network in list_at(rule, key))


def _protocol(rule: Any) -> str:
    return str(value_at(rule, "ipProtocol") or value_at(rule, "protocol", default=""))


def _ports(rule: Any) -> str:
    first, last = value_at(rule, "fromPort"), value_at(rule, "toPort")
    return "all ports" if first is None else f"port {first:.0f}" + (f"-{last:.0f}" if last not in (None, first) else "")


@resource_rule(
    "node-with-public-address",
    "Nodes and interfaces have private addresses only, and nobody logs in to them over SSH.",
    types=(SUBNET, LAUNCH_TEMPLATE, EC2_INSTANCE, EKS_NODE_GROUP, GKE_NODE_POOL, *GCP_MACHINES),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 5.4.3", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.20"),
    fix="Use the network and the node groups as they are.",
)
def node_with_public_address(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Subnets that hand out public addresses, interfaces that ask for one, SSH keys on node groups."""
    if resource.type == GKE_NODE_POOL:
        if is_set(resource.inputs, "nodeConfig", "metadata", "ssh-keys"):
            yield "nodeConfig.metadata.ssh-keys lets whoever has the key log in over SSH"
        if value_at(resource.inputs, "networkConfig", "enablePrivateNodes") in (False, "false"):
            yield "networkConfig.enablePrivateNodes is off, whatever the cluster says"
        return
    if is_on(resource.inputs, "mapPublicIpOnLaunch"):
        yield "mapPublicIpOnLaunch is on"
    for interface in list_at(resource.inputs, "networkInterfaces"):
        if is_on(interface, "associatePublicIpAddress"):
            yield "a network interface asks for a public address"
    if value_at(resource.inputs, "remoteAccess") is not None:
        yield "remoteAccess opens SSH"
    if is_on(resource.inputs, "associatePublicIpAddress"):
        yield "associatePublicIpAddress is on"
    for interface in list_at(resource.inputs, "networkInterfaces"):
        if length_at(interface, "accessConfigs"):
            yield "a network interface has accessConfigs: an address on the internet"
    if resource.type in (LAUNCH_TEMPLATE, EC2_INSTANCE) and is_set(resource.inputs, "keyName"):
        yield "keyName lets whoever has the key log in over SSH"


@stack_rule(
    "instance-metadata-v1",
    "Instance metadata takes session tokens only, and stays out of reach of pods.",
    types=(*METADATA_TYPES, *MACHINE_PARTS, EKS_NODE_GROUP),
    severity=Severity.HIGH,
    controls=("CIS AWS 3.0.0 5.6", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Use the node groups as they are (httpTokens required, hop limit 1).",
)
def instance_metadata_v1(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """One hop ends at the node; a second one lets a pod, or a task of ECS, take the machine's role.

    On Google Cloud GKE's own server stands between, where a pool or its cluster's first one asks for it.
    """
    yield from of_each(resources.of(*METADATA_TYPES), partial(_answers, resources))


def _answers(resources: Resources, resource: RecordedResource) -> Iterator[str]:
    """What the metadata of a machine or of a cluster's nodes answers that it should not."""
    if resource.type == GKE_CLUSTER:
        by_workload = is_set(resource.inputs, "workloadIdentityConfig", "workloadPool")
        if not by_workload and not is_on(resource.inputs, "enableAutopilot"):  # Autopilot always has it
            yield "workloadIdentityConfig is not set: pods have the node's account"
        return
    if resource.type == GKE_NODE_POOL:
        node = value_at(resource.inputs, "nodeConfig")
        if value_at(node, "workloadMetadataConfig", "mode", default="") != "GKE_METADATA":
            yield "nodeConfig.workloadMetadataConfig.mode is not GKE_METADATA: pods have the node's account"
        if str(value_at(node, "metadata", "disable-legacy-endpoints", default="true")).lower() == "false":
            yield "nodeConfig.metadata opens the old endpoints, which ask for no header"
        return
    options = value_at(resource.inputs, "metadataOptions")
    if value_at(options, "httpEndpoint") == "disabled":
        return
    if value_at(options, "httpTokens") != "required":
        yield "metadataOptions.httpTokens is not required"
    if resource.type != LAUNCH_TEMPLATE or number_at(options, "httpPutResponseHopLimit", default=1) <= 1:
        return
    of_ecs = any(
        one.type == AUTOSCALING_GROUP and are_of_ecs(one, resources) for one in machines_of(resource, resources)
    )
    if of_ecs or not starts_no_node(resource, resources):  # no pod and no task runs on another machine
        yield "metadataOptions.httpPutResponseHopLimit is above 1"
