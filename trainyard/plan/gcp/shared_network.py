"""A Shared VPC: what of it the environment uses, and what the host project's administrators have to do."""

from __future__ import annotations

from trainyard.conventions.gcp import GOOGLE_APIS_CIDR
from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import GcpNetworkPlan, SharedNetworkPlan
from trainyard.plan.lock import LockedNetwork
from trainyard.settings.shared_network import HOST, KEY, SharedNetwork


def plan_shared_network(own: SharedNetwork, context: Context) -> GcpNetworkPlan:
    """The network as the stack file says it is, with what is decided of rights."""
    ledger, project = context.ledger, context.settings.gcp.network_project or "unknown-host"
    shared = SharedNetworkPlan(
        project=project,
        network=own.network,
        subnetwork=own.subnetwork,
        pod_range=own.pod_range,
        service_range=own.service_range,
        rights_by_stack=own.host_rights == "stack",
        further_cidrs=tuple(own.further_cidrs),
    )
    _check_lock(shared, own, context)
    source = f"settings {HOST} and {KEY}"
    ledger.decide("network.id", shared.network_id(), source)
    ledger.decide("network.subnetwork", shared.subnetwork_id(context.region), source)
    who = f"setting {KEY}.hostRights: "
    ledger.decide(
        "network.host_rights",
        host_rights(shared, context.settings.gcp.project_number or "PROJECT_NUMBER", context.region),
        who + ("given by the stack" if shared.rights_by_stack else "given by the host project's administrators"),
    )
    ledger.decide(
        "network.host_duties",
        host_duties(own),
        f"{KEY}: the stack makes nothing in the host project's network",
    )
    return GcpNetworkPlan(
        cidr=ledger.decide("network.cidr", own.node_cidr, f"setting {KEY}.nodeCidr"),
        node_cidr=ledger.decide("network.node_cidr", own.node_cidr, f"setting {KEY}.nodeCidr"),
        pod_cidr=ledger.decide("network.pod_cidr", own.pod_cidr, f"setting {KEY}.podCidr"),
        service_cidr=ledger.decide("network.service_cidr", own.service_cidr, f"setting {KEY}.serviceCidr"),
        private_services_cidr=ledger.decide(
            "network.private_services_cidr", own.private_services_cidr, f"setting {KEY}.privateServicesCidr"
        ),
        control_plane_cidr=ledger.decide(
            "network.control_plane_cidr", own.control_plane_cidr, f"setting {KEY}.controlPlaneCidr"
        ),
        nat=True,
        shared=shared,
    )


def _check_lock(shared: SharedNetworkPlan, own: SharedNetwork, context: Context) -> None:
    """Nothing that lives moves to another network."""
    kept, name = context.lock.network or LockedNetwork(), shared.subnetwork_id(context.region)
    if kept.cidr is not None and kept.id is None:
        context.contradiction(f"{KEY}.subnetwork", name, "a network of the environment's own", "network")
    elif kept.id not in (None, name):
        context.contradiction(f"{KEY}.subnetwork", name, kept.id, "network.id")
    elif kept.service_cidr not in (None, own.service_cidr):
        context.contradiction(f"{KEY}.serviceCidr", own.service_cidr, kept.service_cidr, "network.serviceCidr")


def check_own_network(context: Context) -> None:
    """Nor to a network of the environment's own."""
    kept = context.lock.network or LockedNetwork()
    if kept.id is not None:
        context.contradiction(KEY, "nothing", f"{kept.id}, a network that somebody else made", "network")


def host_rights(shared: SharedNetworkPlan, number: str, region: str) -> tuple[str, ...]:
    """Who needs which role where (GKE, "Set up clusters with Shared VPC", as generally known in 2026-11)."""
    subnet = f"subnet {shared.subnetwork} of {region}"
    return tuple(
        f"{role} on {where}: {member}"
        for role, where, member in (
            ("roles/compute.networkUser", subnet, f"service-{number}@container-engine-robot.iam.gserviceaccount.com"),
            ("roles/compute.networkUser", subnet, f"{number}@cloudservices.gserviceaccount.com"),
            (
                "roles/container.hostServiceAgentUser",
                f"project {shared.project}",
                f"service-{number}@container-engine-robot.iam.gserviceaccount.com",
            ),
        )
    )


def host_duties(own: SharedNetwork) -> tuple[str, ...]:
    """What the stack would make of a network of its own, and somebody has to have made of this one."""
    return (
        f"private Google access on subnet {own.subnetwork}, its ranges {own.pod_range} and {own.service_range}",
        f"a private zone for googleapis.com on network {own.network}, which answers *.googleapis.com with "
        f"private.googleapis.com, {GOOGLE_APIS_CIDR}: pods are let out to no other address of Google's services",
        "Cloud NAT for the subnet, with ports enough for nodes that pull images",
        f"private services access in {own.private_services_cidr}",
        f"a firewall rule that lets {own.control_plane_cidr} in to the nodes at TCP 8443, 9443 and 10260",
        f"with storage.lustre, one that lets {own.private_services_cidr} in to the nodes at TCP 988",
    )
