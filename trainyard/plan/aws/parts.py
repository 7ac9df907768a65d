"""What AWS adds to a plan: account, network, file systems, database, and what only EKS asks of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.catalog.versions import AddOn

KEY_CLASSES = ("data", "checkpoints", "tracking", "platform")
"""What has a KMS key of its own."""

LUSTRE_FIRST_STEPS = (1200, 2400)
LUSTRE_STEP = 2400
"""GiB that FSx for Lustre is sold in: the first steps, then multiples (FSx API, CreateFileSystem, 2026-11)."""

LUSTRE_THROUGHPUTS = (125, 250, 500, 1000)
"""Throughputs of PERSISTENT_2 on SSD, MB/s for each TiB."""


DnsFirewall = Literal["block", "alert", "off"]
"""What becomes of lookups of names that nothing in the network needs."""


WayOut = Literal["nat", "transit-gateway", "none"]
"""Where the default route of an existing network's nodes leads; `none`: they have none."""


@dataclass(frozen=True, slots=True)
class Zone:
    """One availability zone of the network with its subnets (CIDR blocks, disjoint, inside the VPC's)."""

    name: str  # us-east-1a
    slot: int  # which part of the VPC's range its subnets have; stays with the name
    public_cidr: str  # NAT gateways only; empty where somebody else made the network
    private_cidr: str  # nodes and pods
    isolated_cidr: str  # database and interface endpoints; no route to the internet
    control_cidr: str  # the control plane's interfaces alone, so that a network policy can name them


@dataclass(frozen=True, slots=True)
class ExistingSubnetsPlan:
    """Ids of the subnets of one zone that somebody else made."""

    zone: str
    private: str
    isolated: str
    control: str


@dataclass(frozen=True, slots=True)
class ExistingNetworkPlan:
    """What of the network somebody else made and keeps."""

    vpc_id: str
    subnets: tuple[ExistingSubnetsPlan, ...]  # one a zone, in the order of the network's zones
    route_tables: tuple[str, ...]  # that S3's gateway endpoint is made for; none: it is there
    way_out: WayOut
    endpoints: tuple[str, ...]  # services that have one there already
    flow_logs: bool  # whether the environment writes them


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """The VPC: address ranges, zones, and how it reaches the internet and AWS."""

    cidr: str
    service_cidr: str  # Kubernetes services; outside `cidr`
    zones: tuple[Zone, ...]
    nat_gateways: int  # none, 1, or one a zone
    gateway_endpoints: tuple[str, ...]  # "s3"
    interface_endpoints: tuple[str, ...]  # "ecr.api", "sts", …
    endpoint_zones: tuple[str, ...]  # zones that they are in; nodes of the others reach them across
    flow_log_retention_days: int
    public_buckets: tuple[str, ...]  # of others, that may be read
    dns_firewall: DnsFirewall
    dns_allow: tuple[str, ...]  # further names that may be looked up
    secondary_cidrs: tuple[str, ...] = ()  # further blocks of an existing VPC
    existing: ExistingNetworkPlan | None = None  # None: the network is the environment's own

    @property
    def cidrs(self) -> tuple[str, ...]:
        """All address blocks of the VPC, the primary one first."""
        return (self.cidr, *self.secondary_cidrs)


@dataclass(frozen=True, slots=True)
class LustrePlan:
    """FSx for Lustre, PERSISTENT_2 SSD, linked to the data bucket. AWS backs no linked file system up."""

    capacity_gib: int  # 1200, or a multiple of 2400
    throughput_mbps_per_tib: int  # 125, 250, 500, 1000
    zone: str


@dataclass(frozen=True, slots=True)
class DatabasePlan:
    """PostgreSQL for MLflow, on RDS."""

    engine_version: str
    instance_class: str
    storage_gib: int
    max_storage_gib: int
    restore_from: str | None  # the snapshot that it was made from; None: it began empty
    multi_az: bool
    backup_retention_days: int
    deletion_protection: bool


@dataclass(frozen=True, slots=True)
class LoginPlan:
    """As whom the program comes into the account: the provider, and the tokens for its clusters alike."""

    assume_role: str | None  # ARN; None: as the credentials are
    profile: str | None


@dataclass(frozen=True, slots=True)
class RolesPlan:
    """What every IAM role of the environment has, because its account asks for it."""

    path: str  # "/", "/teams/ml/"
    boundary: str | None  # ARN of a policy


@dataclass(frozen=True, slots=True)
class AlertsPlan:
    """What AWS does besides the budget. Detection is off in a member account, which may not monitor a tag."""

    whole_account: bool  # the budget counts the account; else what has the environment's tag
    anomaly_detection: bool
    activate_cost_tags: bool  # only once billing has seen the keys, and in the payer account


@dataclass(frozen=True, slots=True)
class TrailPlan:
    """The stack's own trail, in a bucket with object lock."""

    retention_days: int
    lock: Literal["governance", "compliance"]
    lock_days: int


@dataclass(frozen=True, slots=True)
class ThreatDetectionPlan:
    """The stack's own detector of the region."""

    runtime: bool  # an agent on every node


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What is on record, and who is told of it."""

    trail: TrailPlan | None  # None: somebody else's, or none
    records: bool  # whether there is a trail, whose ever
    threat_detection: ThreatDetectionPlan | None  # None: the account's, or none
    watched: bool  # whether there is a detector, whose ever
    container_log_retention_days: int | None  # None: what the teams' containers write goes with the pod
    break_glass_user_arns: tuple[str, ...]  # IAM users; none: no such role


@dataclass(frozen=True, slots=True)
class ApiAccessPlan:
    """Who reaches the API's private address besides the nodes; the public ones are the cluster's."""

    bastion: str | None  # its instance type, in the network and reached by Session Manager alone; None: no bastion
    networks: tuple[str, ...]
    security_groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EksPlan:
    """What EKS asks of a cluster besides what every cluster has. Retention in days."""

    cluster: str  # its name
    zones: tuple[str, ...]  # of its interfaces: EKS keeps to those that it was made in
    access: ApiAccessPlan
    admin_principal_arns: tuple[str, ...]  # get AmazonEKSClusterAdminPolicy through an access entry
    log_types: tuple[str, ...]
    log_retention_days: int
    add_ons: tuple[AddOn, ...]
    autoscaler_image_tag: str
    node_release: str  # of the node images; another one starts every node anew
    deletion_protection: bool
    node_sessions: bool  # whether Session Manager gets onto the nodes


@dataclass(frozen=True, slots=True)
class CachedRegistryPlan:
    """A registry whose images are pulled through the account's own."""

    name: str  # docker.io, as images name it
    upstream: str  # registry-1.docker.io, as ECR names it
    prefix: str  # acme-demo/hub: its images are repositories below it
    credential_arn: str | None  # of the secret with the login there


@dataclass(frozen=True, slots=True)
class ImageCachePlan:
    """The images of the platform in the account's own registry, in the region."""

    registry: str  # 123456789012.dkr.ecr.us-east-1.amazonaws.com
    upstreams: tuple[CachedRegistryPlan, ...]
    repositories: tuple[str, ...]  # acme-demo/k8s/kueue/kueue: nothing else can be pulled through it


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """A person's place in the editors."""

    name: str  # of the user profile: 1 to 63 letters, digits and hyphens
    team: str


@dataclass(frozen=True, slots=True)
class ManagedSmokePlan:
    """The smoke job as a managed training job."""

    instance_type: str  # "ml.g4dn.xlarge"
    image: str
    level: str
    max_runtime_minutes: int
    usd: float | None  # that it costs at most; None: the catalogue has no price


@dataclass(frozen=True, slots=True)
class JobAlarmsPlan:
    """From when the jobs of managed training are worth an alarm, and where it says what to do."""

    runbooks: str
    gpu_use_percent: int
    gpus_at_least: int  # GPUs of the smallest machine that a job may have; figures are of whole machines
    idle_minutes: int
    failed_percent: int
    failed_of: int
    wait_hours: int


@dataclass(frozen=True, slots=True)
class ManagedPlan:
    """Managed training in place of clusters: SageMaker, which spells instance types `ml.g5.xlarge`."""

    private_domain: bool  # editors go out through the network's NAT gateway, and jobs with them
    spending_shown: bool  # on the dashboard: CloudWatch has it in us-east-1 alone
    seats: tuple[SeatPlan, ...]
    training_types: tuple[str, ...]  # that jobs may have
    editor_types: tuple[str, ...]  # likewise editors
    max_runtime_hours: int  # of a job
    idle_minutes: int
    kernel_idle_minutes: int
    space_gib: int
    max_space_gib: int
    tracking: bool  # whether there is an MLflow App
    deny_over_budget: bool  # whether nobody starts anything new over the budget
    smoke: ManagedSmokePlan | None
    alarms: JobAlarmsPlan | None  # None: the settings go without


@dataclass(frozen=True, slots=True)
class AwsPlan:
    """The ground on AWS: an account's region with what the clusters share there."""

    kind: Literal["aws"]
    region: str
    account_id: str | None  # None: whichever the credentials are of
    organization_id: str | None  # whose principals and buckets may be used from the network; None: the account's
    network: NetworkPlan
    control_planes: tuple[EksPlan, ...]  # one a cluster
    lustre: LustrePlan | None
    shared_file_system: bool  # EFS: home directories and code, where the profile says
    database: DatabasePlan | None  # None: nothing of the environment needs one
    alerts: AlertsPlan
    deployers: tuple[str, ...]  # ARNs of who runs `pulumi up`; none: whoever runs it
    login: LoginPlan
    roles: RolesPlan
    audit: AuditPlan
    image_cache: ImageCachePlan | None  # None: images come from where they are published
    managed: ManagedPlan | None  # None: there are clusters, or will be, and none of it stays beside them
    create_autoscaling_role: bool  # in an account that never ran Auto Scaling; a key policy has to name the role

    @property
    def admin_principal_arns(self) -> tuple[str, ...]:
        """Whoever administers any of the clusters."""
        return tuple(dict.fromkeys(arn for each in self.control_planes for arn in each.admin_principal_arns))

    def kept(self, clusters: Sequence[str]) -> dict[str, Any]:
        """What a stack's lock keeps of the ground, for its clusters."""
        existing = self.network.existing
        subnets = {each.zone: each.private for each in existing.subnets} if existing else {}
        return {
            **({"nodeRelease": self.control_plane(clusters[0]).node_release} if clusters else {}),
            "network": {
                "cidr": self.network.cidr,
                "serviceCidr": self.network.service_cidr,
                "id": existing.vpc_id if existing else None,
            },
            "zones": [
                {"name": zone.name, "slot": zone.slot, "nodes": subnets.get(zone.name)} for zone in self.network.zones
            ],
            "controlPlaneZones": [zone for each in self.control_planes[:1] for zone in each.zones],
            "lustre": {"zone": self.lustre.zone, "capacityGib": self.lustre.capacity_gib} if self.lustre else None,
            "restoredFrom": self.database.restore_from if self.database else None,
        }

    def control_plane(self, cluster: str) -> EksPlan:
        """That of the cluster of that name, which is one of the plan's."""
        (found,) = (control_plane for control_plane in self.control_planes if control_plane.cluster == cluster)
        return found
