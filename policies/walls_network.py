"""Walls in the cluster's network: policies are enforced from the first packet, everywhere, and name whom they mean."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.network_peers import every_port, fenced_namespaces, from_anywhere, names_only
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.read import is_on, is_set, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ADD_ON,
    EKS_CLUSTER,
    GCP_SUBNETWORK,
    GKE_CLUSTER,
    HELM_RELEASE,
    NAMESPACE,
    NETWORK_POLICY,
    VPC,
)
from trainyard.rehearsal.works.flows.aws.plugin import enforced_by

METADATA = ("169.254.169.254/32", "fd00:ec2::254/128")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@stack_rule(
    "network-policies-not-strict",
    "The network plugin enforces network policies, from a pod's first packet.",
    types=(EKS_CLUSTER, ADD_ON, GKE_CLUSTER),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.3.1", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Set enableNetworkPolicy and NETWORK_POLICY_ENFORCING_MODE: strict in the configuration of the vpc-cni add-on.",
)
def network_policies_not_strict(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """In standard mode a pod starts with everything open until its policies are worked out; without enforcement they
    are paper. A cluster without the add-on has AWS's own copy of the plugin, which enforces nothing."""
    clusters = resources.of(EKS_CLUSTER)
    if not clusters and not resources.of(GKE_CLUSTER):
        raise NotApplicable("there is no cluster")
    for cluster in resources.of(GKE_CLUSTER):
        # Autopilot always has Dataplane V2 (GKE, "Autopilot overview", as generally known in 2026-11).
        by_dataplane = value_at(cluster.inputs, "datapathProvider") == "ADVANCED_DATAPATH" or is_on(
            cluster.inputs, "enableAutopilot"
        )
        if not by_dataplane and not is_on(cluster.inputs, "networkPolicy", "enabled"):
            yield cluster, "datapathProvider is not ADVANCED_DATAPATH: no network policy is enforced"
    plugins = [found for found in resources.of(ADD_ON) if value_at(found.inputs, "addonName") == "vpc-cni"]
    for plugin in plugins:
        mode = enforced_by(plugin)
        if mode == "off":
            yield plugin, "enableNetworkPolicy is not on: no network policy is enforced"
        elif mode != "strict":
            yield plugin, "NETWORK_POLICY_ENFORCING_MODE is not strict: pods start with everything open"
    for cluster in clusters[len(plugins) :]:
        yield cluster, "has no add-on vpc-cni that would enforce network policies"


@stack_rule(
    "namespace-without-network-policy",
    "Every namespace that the stack makes, or runs something in, denies what no network policy allows.",
    types=(NAMESPACE, HELM_RELEASE, NETWORK_POLICY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Give the namespace a network policy for all pods and both directions that allows nothing, and one a flow.",
)
def namespace_without_network_policy(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Teams' namespaces have a policy of their own (team-namespace-without-default-deny)."""
    fenced = fenced_namespaces(resources, allowing=True)
    teams = {found.urn for found in team_namespaces(resources)}
    told = set[str]()
    for resource in resources.of(NAMESPACE, HELM_RELEASE):
        path = ("metadata", "name") if resource.type == NAMESPACE else ("namespace",)
        name = str(value_at(resource.inputs, *path, default="default"))
        if resource.urn not in teams and name not in fenced and name not in told:
            told.add(name)
            yield resource, f"{name} has no network policy for all of its pods: everybody talks to them, or nobody can"


@stack_rule(
    "platform-namespace-open",
    "No network policy of the platform's namespaces is for every namespace, for everybody, or for every port outside.",
    types=(NAMESPACE, NETWORK_POLICY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Name the pods, the namespaces or the network that are meant, and the ports of what goes out.",
)
def platform_namespace_open(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A rule without peers is for everybody, a selector that asks for nothing for every namespace, teams' too. Names
    may be asked by everybody."""
    teams = {value_at(namespace.inputs, "metadata", "name") for namespace in team_namespaces(resources)}
    for policy in resources.of(NETWORK_POLICY):
        if value_at(policy.inputs, "metadata", "namespace") in teams:
            continue
        for rule in list_at(policy.inputs, "spec", "ingress"):
            if from_anywhere(rule, "from") and not names_only(rule):
                yield policy, "lets everybody in: every namespace, or the internet"
        for rule in list_at(policy.inputs, "spec", "egress"):
            if from_anywhere(rule, "to") and not names_only(rule) and (every_port(rule) or not is_set(rule, "to")):
                yield policy, "lets everything out to anywhere"


@stack_rule(
    "team-egress-reaches-network",
    "What a team's pods may reach by address is outside of the network: not nodes, API server, services or metadata.",
    types=(NAMESPACE, NETWORK_POLICY, VPC, EKS_CLUSTER, GCP_SUBNETWORK, GKE_CLUSTER),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 AC-4", "ISO 27001:2022 A.8.22"),
    fix="Except the VPC, the service addresses and 169.254.169.254 from the block, or name what is meant by its pods.",
)
def team_egress_reaches_network(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """443 of everywhere is 443 of every service too: of webhooks, of other teams, of the API server."""
    teams = {value_at(namespace.inputs, "metadata", "name") for namespace in team_namespaces(resources)}
    inside = list(_inside(resources))
    for policy in resources.of(NETWORK_POLICY):
        if value_at(policy.inputs, "metadata", "namespace") not in teams:
            continue
        for rule in list_at(policy.inputs, "spec", "egress"):
            named = [peer for peer in list_at(rule, "to") if value_at(peer, "ipBlock") is None]
            whole = not is_set(rule, "to") or (named and from_anywhere({"to": named}, "to"))
            if whole and not names_only(rule) and not every_port(rule):  # every port: team-namespace-open
                yield policy, "lets its ports out to every namespace: a rule that names no peer, or a selector of all"
        blocks = [
            value_at(peer, "ipBlock")
            for rule in list_at(policy.inputs, "spec", "egress")
            for peer in list_at(rule, "to")
            if value_at(peer, "ipBlock") is not None
        ]
        for block in blocks:
            for network, what in inside:
                if _reaches(block, network):
                    yield policy, f"{value_at(block, 'cidr')} reaches {what} ({network})"


def _inside(resources: Resources) -> Iterator[tuple[Network, str]]:
    for vpc in resources.of(VPC):
        own = _network(value_at(vpc.inputs, "cidrBlock"))
        if own is not None:
            yield own, "the network's own addresses"
    for cluster in resources.of(EKS_CLUSTER):
        services = _network(value_at(cluster.inputs, "kubernetesNetworkConfig", "serviceIpv4Cidr"))
        if services is not None:
            yield services, "the cluster's services"
    for subnetwork in resources.of(GCP_SUBNETWORK):
        for each in (subnetwork.inputs, *list_at(subnetwork.inputs, "secondaryIpRanges")):
            own = _network(value_at(each, "ipCidrRange"))
            if own is not None:
                yield own, "the network's own addresses"
    # GKE's server answers there with the pod's identity, which pods need: instance-metadata-v1 sees to it.
    for address in METADATA if not resources.of(GKE_CLUSTER) else ():
        yield ipaddress.ip_network(address), "the identity of nodes"


def _reaches(block: Any, inside: Network) -> bool:
    """Whether a block, without its exceptions, holds an address of a network. Networks nest or are apart."""
    cidr = _network(value_at(block, "cidr"))
    if cidr is None or cidr.version != inside.version or not cidr.overlaps(inside):
        return False
    shared = cidr if cidr.prefixlen >= inside.prefixlen else inside
    excepted = [found for entry in list_at(block, "except") if (found := _network(entry)) is not None]
    return not any(found.version == shared.version and _holds(found, shared) for found in excepted)


def _holds(outer: Network, inner: Network) -> bool:
    return outer.overlaps(inner) and outer.prefixlen <= inner.prefixlen


def _network(text: Any) -> Network | None:
    try:
        return ipaddress.ip_network(str(text), strict=False)
    except ValueError:
        return None
