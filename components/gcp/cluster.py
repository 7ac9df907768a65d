"""The GKE cluster: control plane, who reaches it, the nodes without GPUs and the account that all nodes have.

Private nodes; an API that is reached by a name which IAM guards, so that no network has to be opened; Dataplane V2, so
that network policies hold; identities of pods instead of keys; etcd encrypted with the environment's key. Nothing here
is replaced by a later setting but what Google itself cannot change.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_gcp.container as container

from trainyard.components.gcp.network import PODS, SERVICES
from trainyard.components.gcp.nodes import CLOUD_PLATFORM, MANAGEMENT, SHIELDED, node_account, plain_config
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import CPU_NODES, SYSTEM_NODES, SYSTEM_TAINT

LOGS = ("SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER")
METRICS = ("SYSTEM_COMPONENTS", "STORAGE", "HPA", "POD", "DAEMONSET", "DEPLOYMENT", "STATEFULSET", "DCGM", "JOBSET")
"""What Managed Prometheus collects of itself: DCGM brings the GPUs' figures, without an exporter of ours."""

_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}

RELEASE_CHANNELS = ("RAPID", "REGULAR", "STABLE", "EXTENDED")


class CpuNodesArgs(TypedDict):
    """Nodes without GPUs."""

    machine_type: str
    """Machine type, such as `e2-standard-4`."""
    min_nodes: int
    """Fewest nodes in all zones together."""
    max_nodes: int
    """Most nodes in all zones together."""
    disk_gib: int
    """Size of a node's boot disk, GiB."""


class GkeClusterArgs(TypedDict):
    """What `GkeCluster` needs."""

    cluster_name: str
    """Name of the cluster: at most 40 of a-z, 0-9 and `-`, a letter first, no `-` last."""
    project: pulumi.Input[str]
    """Id of the project."""
    region: pulumi.Input[str]
    """Region of the control plane, which stands in three zones of it."""
    zones: Sequence[str]
    """Zones of the nodes without GPUs."""
    network_id: pulumi.Input[str]
    """The network that nodes stand in: `VpcNetwork.network_id`."""
    subnetwork_id: pulumi.Input[str]
    """Its subnetwork of nodes: `VpcNetwork.subnetwork_id`."""
    pod_range: NotRequired[str]
    """Name of the subnet's secondary range of pods. Default: that of `VpcNetwork`."""
    service_range: NotRequired[str]
    """Name of its secondary range of services. Default: that of `VpcNetwork`."""
    control_plane_cidr: pulumi.Input[str]
    """`VpcNetworkArgs.control_plane_cidr`: a /28."""
    kubernetes_version: pulumi.Input[str]
    """Oldest version that the control plane starts with, such as `1.35`; the release channel moves it on."""
    release_channel: str
    """RAPID, REGULAR, STABLE or EXTENDED."""
    key_id: pulumi.Input[str]
    """Key of etcd and of the nodes' disks, in the cluster's region."""
    node_account_id: str
    """Id of the nodes' service account: 6 to 30 characters."""
    system_nodes: CpuNodesArgs
    """The nodes of the platform's own pods."""
    cpu_pool: NotRequired[CpuNodesArgs]
    """The nodes of people's pods without GPUs. Default: none."""
    labels: Mapping[str, pulumi.Input[str]]
    """Labels on the bill, of the cluster and its nodes."""
    lustre: NotRequired[bool]
    """Whether pods mount Managed Lustre. Default: no."""
    shared_files: NotRequired[bool]
    """Whether pods mount Filestore. Default: no."""
    authenticator_group: NotRequired[str]
    """gke-security-groups@DOMAIN, below which Google groups are groups of RBAC. Default: people are named one by one.
    """
    ip_endpoint_cidrs: NotRequired[Mapping[str, str]]
    """Networks that may reach the API by its address too, by a name for people. Default: none; the name that IAM
    guards is enough."""
    deletion_protection: bool
    """Whether a destroy, or a change that replaces the cluster, is refused, by GKE and by Pulumi."""


class GkeCluster(pulumi.ComponentResource):
    """Control plane and the nodes without GPUs.

    `depends_on` is what it waits for: services, NAT, rights on the key. `ready` lists what workloads wait for;
    `nodes_wait_for` what further node pools wait for.
    """

    cluster_name: pulumi.Output[str]
    """Name of the cluster."""
    cluster_id: pulumi.Output[str]
    """projects/PROJECT/locations/REGION/clusters/NAME."""
    version: pulumi.Output[str]
    """Version that the control plane has, and new nodes with it."""
    dns_endpoint: pulumi.Output[str]
    """Name of the API server that IAM guards, without https://."""
    workload_pool: pulumi.Output[str]
    """The pool of the pods' identities: PROJECT.svc.id.goog."""
    node_account_email: pulumi.Output[str]
    """E-mail address of the nodes' account."""

    def __init__(self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a name, a channel or nodes that GKE refuses."""
        super().__init__("trainyard:index:GkeCluster", name, None, opts)
        _check(args)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        after_services = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        account, roles = node_account(name, args["node_account_id"], args["project"], after_services)
        self.node_account_email = account.email
        self.workload_pool = pulumi.Output.concat(args["project"], ".svc.id.goog")
        self._before = [*prerequisites(opts), *roles]
        self._cluster = self._make_control_plane()
        self.cluster_name, self.cluster_id = self._cluster.name, self._cluster.id
        self.version = self._cluster.master_version
        self.dns_endpoint = self._cluster.control_plane_endpoints_config.apply(_name_of_api)
        self.nodes_wait_for: list[pulumi.Resource] = [self._cluster, *roles]
        system = self._nodes("system", args["system_nodes"], SYSTEM_NODES, taint=True)
        self.ready: list[pulumi.Resource] = [self._cluster, system]
        if "cpu_pool" in args:
            self._nodes("cpu", args["cpu_pool"], CPU_NODES, taint=False)
        register(self)

    def _make_control_plane(self) -> container.Cluster:
        name, args = self._name, self._args
        groups = args.get("authenticator_group")
        return container.Cluster(
            f"{name}-cluster",
            name=args["cluster_name"],
            location=args["region"],
            network=args["network_id"],
            subnetwork=args["subnetwork_id"],
            min_master_version=args["kubernetes_version"],
            release_channel={"channel": args["release_channel"]},
            # Pools are resources of their own; the first one, which GKE insists on, goes at once.
            remove_default_node_pool=True,
            initial_node_count=1,
            node_config={
                "service_account": self.node_account_email,
                "oauth_scopes": [CLOUD_PLATFORM],
                "workload_metadata_config": {"mode": "GKE_METADATA"},
                "shielded_instance_config": SHIELDED,
            },
            networking_mode="VPC_NATIVE",
            ip_allocation_policy={
                "cluster_secondary_range_name": args.get("pod_range", PODS),
                "services_secondary_range_name": args.get("service_range", SERVICES),
            },
            private_cluster_config={
                "enable_private_nodes": True,
                "enable_private_endpoint": not args.get("ip_endpoint_cidrs"),
                "master_ipv4_cidr_block": args["control_plane_cidr"],
            },
            master_authorized_networks_config={
                "cidr_blocks": [
                    {"cidr_block": cidr, "display_name": who} for who, cidr in args.get("ip_endpoint_cidrs", {}).items()
                ],
                "gcp_public_cidrs_access_enabled": False,
            },
            control_plane_endpoints_config={
                "dns_endpoint_config": {"allow_external_traffic": True},
                "ip_endpoints_config": {"enabled": True},
            },
            datapath_provider="ADVANCED_DATAPATH",
            network_policy={"enabled": False},  # Dataplane V2 enforces them itself; both together are refused
            enable_intranode_visibility=True,
            enable_multi_networking=True,  # interfaces of fast fabrics; it can be had at creation only
            workload_identity_config={"workload_pool": self.workload_pool},
            master_auth={"client_certificate_config": {"issue_client_certificate": False}},
            anonymous_authentication_config={"mode": "LIMITED"},
            rbac_binding_config={
                "enable_insecure_binding_system_authenticated": False,
                "enable_insecure_binding_system_unauthenticated": False,
            },
            authenticator_groups_config={"security_group": groups} if groups else None,
            database_encryption={"state": "ENCRYPTED", "key_name": args["key_id"]},
            enable_shielded_nodes=True,
            security_posture_config={"mode": "BASIC"},
            cost_management_config={"enabled": True},
            logging_config={"enable_components": list(LOGS)},
            monitoring_config={"enable_components": list(METRICS), "managed_prometheus": {"enabled": True}},
            addons_config={
                "http_load_balancing": {"disabled": False},
                "horizontal_pod_autoscaling": {"disabled": False},
                "gcs_fuse_csi_driver_config": {"enabled": True},
                "gce_persistent_disk_csi_driver_config": {"enabled": True},
                "dns_cache_config": {"enabled": True},
                **({"lustre_csi_driver_config": {"enabled": True}} if args.get("lustre") else {}),
                **({"gcp_filestore_csi_driver_config": {"enabled": True}} if args.get("shared_files") else {}),
            },
            # Nodes go when the queues are empty, ten minutes after the last pod.
            cluster_autoscaling={"enabled": False, "autoscaling_profile": "OPTIMIZE_UTILIZATION"},
            maintenance_policy=_maintenance(),
            resource_labels=args["labels"],
            deletion_protection=args["deletion_protection"],
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=self._before,
                ignore_changes=["nodeConfig", "minMasterVersion"],
                protect=args["deletion_protection"],
            ),
        )

    def _nodes(self, kind: str, nodes: CpuNodesArgs, labels: Mapping[str, str], *, taint: bool) -> container.NodePool:
        args = self._args
        config = plain_config(
            nodes["machine_type"],
            nodes["disk_gib"],
            self.node_account_email,
            labels,
            args["labels"],
            args["key_id"],
        )
        if taint:
            config["taints"] = [
                {"key": SYSTEM_TAINT["key"], "value": SYSTEM_TAINT["value"], "effect": _EFFECTS[SYSTEM_TAINT["effect"]]}
            ]
        return container.NodePool(
            f"{self._name}-{kind}",
            cluster=self.cluster_id,
            location=args["region"],
            node_locations=list(args["zones"]),
            autoscaling={
                "total_min_node_count": nodes["min_nodes"],
                "total_max_node_count": nodes["max_nodes"],
                "location_policy": "BALANCED",
            },
            management=MANAGEMENT,
            upgrade_settings={"strategy": "SURGE", "max_surge": 1, "max_unavailable": 0},
            node_config=config,
            ignore_node_count_changes=True,
            opts=self._child,
        )


def _maintenance() -> container.ClusterMaintenancePolicyArgsDict:
    """Nodes are not upgraded under a running job: within a version's support that is for a person to start."""
    return {
        "recurring_window": {
            "start_time": "2026-01-03T02:00:00Z",
            "end_time": "2026-01-03T08:00:00Z",
            "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
        },
        "maintenance_exclusions": [
            {
                "exclusion_name": "jobs-run-on",
                "start_time": "2026-01-01T00:00:00Z",
                "exclusion_options": {
                    "scope": "NO_MINOR_OR_NODE_UPGRADES",
                    "end_time_behavior": "UNTIL_END_OF_SUPPORT",
                },
            }
        ],
    }


def _name_of_api(endpoints: Any) -> str:
    """The name in what GKE answers; empty where it has none."""
    dns = endpoints.dns_endpoint_config if endpoints is not None else None
    return str(dns.endpoint or "") if dns is not None else ""


def _check(args: GkeClusterArgs) -> None:
    name = args["cluster_name"]
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-")
    if not 0 < len(name) <= 40 or not set(name) <= allowed or not name[0].isalpha() or name[-1] == "-":
        raise ValueError(f"cluster_name: got {name!r}; at most 40 of a-z, 0-9 and '-', a letter first, no '-' last")
    if args["release_channel"] not in RELEASE_CHANNELS:
        raise ValueError(f"release_channel: got {args['release_channel']!r}; {', '.join(RELEASE_CHANNELS)}")
    if not args["zones"]:
        raise ValueError("zones: got none; nodes need at least one")
    for key, fewest in (("system_nodes", 1), ("cpu_pool", 0)):
        nodes = args.get(key)
        if isinstance(nodes, dict) and not fewest <= nodes["min_nodes"] <= nodes["max_nodes"]:
            raise ValueError(f"{key}: {nodes['min_nodes']} to {nodes['max_nodes']} nodes; at least {fewest}, no fewer")
