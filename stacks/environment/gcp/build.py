"""Google Cloud as a ground: from the plan to the components of `trainyard.components.gcp`.

What the workloads on each cluster need of it leaves as a `Ground`; nothing else of Google Cloud is known to them.
"""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any, Final

import pulumi
import pulumi_gcp
import pulumi_random

from trainyard.components.gcp.budget import ProjectBudget, ProjectBudgetArgs
from trainyard.components.gcp.database import CloudSqlDatabase
from trainyard.components.gcp.encryption import ProjectKeys
from trainyard.components.gcp.fabric_networks import FabricNetworks, FabricNetworksArgs
from trainyard.components.gcp.google_apis import GoogleApis
from trainyard.components.gcp.image_cache import RemoteImages
from trainyard.components.gcp.network import VpcNetwork, VpcNetworkArgs
from trainyard.components.gcp.services import ProjectServices
from trainyard.components.gcp.shared_network import AnyVpc, SharedVpc, SharedVpcArgs
from trainyard.components.gcp.storage import GcsStorageTiers
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.parts import Plan
from trainyard.stacks.environment.gcp.storage import (
    after,
    make_backup_alarms,
    make_database,
    make_files,
    make_keys,
    make_record,
    make_storage,
)
from trainyard.stacks.environment.ground import Foundation, Ground

SERVICES: Final = (
    "cloudresourcemanager", "serviceusage", "iam", "iamcredentials", "compute", "storage", "cloudkms", "logging",
    "monitoring",
)  # fmt: skip
"""What every environment uses."""

OF_CLUSTERS: Final = (
    "servicenetworking", "dns", "container", "containerfilesystem", "artifactregistry", "sqladmin", "secretmanager",
)  # fmt: skip
"""What clusters, their images and their tracking server use besides."""

AGENTS: Final = ("logging",)
"""Services whose agents encrypt with the environment's keys."""

AGENTS_OF_CLUSTERS: Final = ("container", "sqladmin", "secretmanager")
"""Services whose agents do so where there are clusters."""

OF_MANAGED: Final = ("aiplatform", "dataform", "artifactregistry")
"""What managed training uses besides: notebooks are repositories of Dataform."""

OF_TRACKING: Final = ("servicenetworking", "sqladmin", "secretmanager", "run", "iap")
"""What a tracking server on Cloud Run uses besides, with its database."""

AGENTS_OF_TRACKING: Final = ("sqladmin", "secretmanager", "run", "iap")
"""Services whose agents encrypt with the environment's keys, or let people in, where there is one."""

AGENTS_OF_MANAGED: Final = ("aiplatform", "artifactregistry", "dataform")
"""Services whose agents encrypt with the environment's keys, where training is managed."""


def build(plan: Plan[GcpPlan]) -> Foundation:
    """Makes what stands in the project, with the clusters in it."""
    own = plan.ground
    provider = pulumi_gcp.Provider(
        "gcp",
        project=own.project,
        region=own.region,
        default_labels=dict(own.labels),
        # A budget's API asks whose quota a person's credentials use.
        user_project_override=True,
        billing_project=own.project,
    )
    gcp = pulumi.ResourceOptions(providers=[provider, pulumi_random.Provider("random-gcp")])
    services = _services(plan, gcp)
    network = _network(plan, services, after(gcp, services.ready))
    apis = None
    # A host's network answers names for every project that is joined to it: the zone there is its administrators'.
    if own.control_planes and own.network.shared is None:
        apis = GoogleApis(
            "google-apis", {"network_id": network.network_id, "labels": dict(own.labels)}, after(gcp, services.ready)
        )
    keys = make_keys(plan, services, gcp)
    make_record(plan, keys, services, gcp)
    storage = make_storage(plan, network, keys, services, gcp)
    files = make_files(plan, network, keys, services, storage, gcp)
    database = make_database(plan, network, keys, gcp)
    make_backup_alarms(plan, files, database, after(gcp, services.ready))
    budget = _budget(plan, after(gcp, services.ready))
    fabric = _fabric(plan, after(gcp, services.ready))
    images = _images(plan, keys, after(gcp, [*services.ready, *keys.granted["platform"]]))
    training = _managed(plan, network, storage, keys, services, database, gcp)
    clusters: dict[str, Ground] = {}
    if plan.clusters:
        # Their SDKs take a second, which an environment of managed training does not have to wait for.
        from trainyard.stacks.environment.gcp.cluster import Shared, make_ground

        ready = [*(apis.ready if apis else []), *images]
        shared = Shared(network, keys, storage, files, database, services.ready, ready, fabric)
        clusters = {planned.name: make_ground(plan, planned, shared, gcp) for planned in plan.clusters}
    return Foundation(
        clusters=clusters,
        outputs={
            "region": own.region,
            "project": own.project,
            "dataBucket": storage.data_bucket,
            "checkpointsBucket": storage.checkpoints_bucket,
            "artifactsBucket": storage.artifacts_bucket,
            **({"budget": budget.budget_name} if budget else {}),
            **training,
        },
    )


def _services(plan: Plan[GcpPlan], gcp: pulumi.ResourceOptions) -> ProjectServices:
    own = plan.ground
    billed = ["cloudbilling", "billingbudgets"] if own.billing else []
    clusters, managed = bool(own.control_planes), own.managed is not None
    served = own.managed is not None and own.managed.server is not None
    used = [
        *SERVICES,
        *(OF_CLUSTERS if clusters else ()),
        *(OF_MANAGED if managed else ()),
        *(OF_TRACKING if served else ()),
        *billed,
    ]
    used += [*(["lustre"] if own.lustre else ()), *(["file", "backupdr"] if own.shared_files else ())]
    agents = [*AGENTS, *(AGENTS_OF_CLUSTERS if clusters else ()), *(AGENTS_OF_MANAGED if managed else ())]
    agents += AGENTS_OF_TRACKING if served else ()
    agents += [*(["lustre"] if own.lustre else ()), *(["file", "backupdr"] if own.shared_files else ())]
    if own.image_cache and not managed:
        agents.append("artifactregistry")
    return ProjectServices("services", {"services": used, "agents": agents}, gcp)


def _managed(
    plan: Plan[GcpPlan],
    network: AnyVpc,
    storage: GcsStorageTiers,
    keys: ProjectKeys,
    services: ProjectServices,
    database: CloudSqlDatabase | None,
    gcp: pulumi.ResourceOptions,
) -> dict[str, pulumi.Input[Any]]:
    """Managed training, where the plan has it; what the stack reports of it."""
    planned = plan.ground.managed
    if planned is None:
        return {}
    # Its SDKs take a second, which an environment with a cluster alone does not have to wait for.
    from trainyard.stacks.environment.gcp import managed

    made = managed.make_managed(plan, planned, network, storage, keys, services, database, gcp)
    managed.make_proof(plan, made, storage, gcp)
    return made.outputs


def _network(plan: Plan[GcpPlan], services: ProjectServices, opts: pulumi.ResourceOptions) -> AnyVpc:
    own, shared = plan.ground.network, plan.ground.network.shared
    if shared is not None:
        given: SharedVpcArgs = {
            "host_project": shared.project,
            "region": plan.ground.region,
            "network": shared.network,
            "subnetwork": shared.subnetwork,
        }
        if shared.rights_by_stack:
            agent = services.agent_emails["container"]
            given["rights"] = {"project_number": plan.ground.project_number, "gke_agent_email": agent}
        return SharedVpc("network", given, opts)
    args: VpcNetworkArgs = {"region": plan.ground.region, "node_cidr": own.node_cidr, "nat": own.nat}
    if plan.ground.control_planes:
        args["pod_cidr"], args["service_cidr"] = own.pod_cidr, own.service_cidr
        args["control_plane_cidr"] = own.control_plane_cidr
    if plan.ground.control_planes or plan.ground.database is not None:
        private = IPv4Network(own.private_services_cidr)
        args["private_services_prefix"] = private.prefixlen
        args["private_services_address"] = str(private.network_address)
    return VpcNetwork("network", args, opts)


def _images(plan: Plan[GcpPlan], keys: ProjectKeys, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
    """The cache of images; what pods wait for that are of them."""
    own = plan.ground
    if own.image_cache is None:
        return []
    made = RemoteImages(
        "images",
        {
            "project": own.project,
            "location": own.region,
            "registries": [{"repository": each.repository, "uri": each.uri} for each in own.image_cache.upstreams],
            "key_id": keys.key_ids["platform"],
            "labels": dict(own.labels),
            "protect": plan.core.protect,
        },
        opts,
    )
    return made.ready


def _fabric(plan: Plan[GcpPlan], opts: pulumi.ResourceOptions) -> FabricNetworks | None:
    """Networks of the fast interfaces, where GKE does not set them up itself."""
    own = plan.ground.fabric_networks
    if own is None:
        return None
    args: FabricNetworksArgs = {"project": plan.ground.project, "region": plan.ground.region, "zone": own.zone}
    if own.transport:
        args["tcp_cidrs"] = own.tcp_cidrs
    else:
        args["gvnic_cidr"], args["rdma_cidrs"] = own.gvnic_cidr, own.rdma_cidrs
    return FabricNetworks("fabric-networks", args, opts)


def _budget(plan: Plan[GcpPlan], opts: pulumi.ResourceOptions) -> ProjectBudget | None:
    """The project's budget, where the billing account is in reach."""
    own, billing = plan.core.budget, plan.ground.billing
    if billing is None:
        return None
    args: ProjectBudgetArgs = {
        "billing_account": billing.account,
        "project": plan.ground.project,
        "project_number": plan.ground.project_number,
        "display_name": plan.core.name,
        "currency": billing.currency,
        "monthly_amount": billing.monthly_amount,
        "actual_percents": own.actual_percents,
        "forecast_percents": own.forecast_percents,
        "emails": own.alert_emails,
    }
    if plan.clusters:  # else nearly all is what people start by hand, which carries no label: the whole project counts
        args["label"] = {"project": dict(plan.ground.labels)["project"]}
    return ProjectBudget("budget", args, opts)
