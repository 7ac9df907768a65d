"""What Google Cloud adds to a plan: project, network, database, and what only GKE asks of a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.conventions import Capacity

KEY_CLASSES = ("data", "checkpoints", "tracking", "platform", "record")
"""What has a key of Cloud KMS of its own."""

UNKNOWN_PROJECT, UNKNOWN_NUMBER = "unknown-project", "100000000000"
"""They stand in for what the settings' own checks miss."""

ReleaseChannel = Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"]


@dataclass(frozen=True, slots=True)
class SharedNetworkPlan:
    """A Shared VPC that the nodes stand in: names in the host project."""

    project: str
    network: str
    subnetwork: str
    pod_range: str
    service_range: str
    rights_by_stack: bool  # whether the stack gives Google's accounts their rights there
    further_cidrs: tuple[str, ...]  # what else it reaches

    def network_id(self) -> str:
        """As every input takes it."""
        return f"projects/{self.project}/global/networks/{self.network}"

    def subnetwork_id(self, region: str) -> str:
        """As every input takes it."""
        return f"projects/{self.project}/regions/{region}/subnetworks/{self.subnetwork}"


@dataclass(frozen=True, slots=True)
class GcpNetworkPlan:
    """The VPC with its one regional subnet: CIDR blocks, disjoint."""

    cidr: str  # holds all but the services
    node_cidr: str
    pod_cidr: str
    service_cidr: str
    private_services_cidr: str  # the database's, in a network of Google's
    control_plane_cidr: str  # a /28
    nat: bool  # whether what stands in it has a way out to the internet
    shared: SharedNetworkPlan | None = None  # None: the network is the environment's own

    @property
    def cidrs(self) -> tuple[str, ...]:
        """All that is of the network and nobody else's, but the services."""
        if self.shared is None:
            return (self.cidr,)
        own = (self.node_cidr, self.pod_cidr, self.private_services_cidr, self.control_plane_cidr)
        return (*own, *self.shared.further_cidrs)


@dataclass(frozen=True, slots=True)
class FabricNetworksPlan:
    """Networks of the fast interfaces of A3 and A4, in one zone: CIDR blocks, disjoint from all others."""

    zone: str
    gvnic_cidr: str  # of the second ordinary interface of A3 Ultra and A4; empty: there is none
    rdma_cidrs: tuple[str, ...]  # one an interface of theirs
    tcp_cidrs: tuple[str, ...]  # one an interface of A3 High or A3 Mega, each a network
    transport: str  # tcpx, tcpxo: of those; empty: RDMA


@dataclass(frozen=True, slots=True)
class GkePlan:
    """What GKE asks of a cluster besides what every cluster has."""

    cluster: str  # its name
    release_channel: ReleaseChannel
    deletion_protection: bool
    api_networks: tuple[tuple[str, str], ...]  # that reach the API by its address: name and CIDR block


@dataclass(frozen=True, slots=True)
class DataCachePlan:
    """Caches of the data bucket beside the nodes that read it."""

    zones: tuple[str, ...]
    hours: int  # that something is kept after it was read


@dataclass(frozen=True, slots=True)
class GcpLustrePlan:
    """Managed Lustre: the teams' scratch space, in one zone."""

    capacity_gib: int
    throughput_mbps_per_tib: int
    zone: str


@dataclass(frozen=True, slots=True)
class FilestorePlan:
    """Filestore, of the regional tier: home directories and code."""

    capacity_gib: int


@dataclass(frozen=True, slots=True)
class CachedRegistryPlan:
    """A registry whose images are pulled through the project's own."""

    name: str  # docker.io, as images name it
    uri: str  # https://registry-1.docker.io
    repository: str  # acme-demo-hub: the remote repository's name


@dataclass(frozen=True, slots=True)
class ImageCachePlan:
    """The images of the platform in the project's own registry, in the region."""

    registry: str  # us-central1-docker.pkg.dev/acme-ml
    upstreams: tuple[CachedRegistryPlan, ...]


@dataclass(frozen=True, slots=True)
class CloudSqlPlan:
    """PostgreSQL for MLflow, on Cloud SQL."""

    version: str  # POSTGRES_18
    tier: str
    storage_gib: int
    max_storage_gib: int
    highly_available: bool
    backup_retention_days: int
    deletion_protection: bool


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """Who did what in the project, and how long nobody takes it back."""

    by_stack: bool  # whether the stack has the project's logs written down and kept in the region
    log_retention_days: int
    locked: bool  # whether the days can never be made fewer
    access_log_days: int
    access_log_lock_days: int  # in which nobody deletes a log of access to a bucket


@dataclass(frozen=True, slots=True)
class BillingPlan:
    """The billing account, as far as a budget needs it."""

    account: str
    currency: str
    monthly_amount: int  # in that currency


@dataclass(frozen=True, slots=True)
class ManagedSmokePlan:
    """The smoke job as a custom job of Vertex AI."""

    machine_type: str  # "g2-standard-8", "n1-standard-4+t4"
    image: str
    level: str
    max_runtime_minutes: int
    usd: float | None  # that it costs at most; None: the catalogue has no price


TrackedBy = Literal["experiments", "mlflow"]


@dataclass(frozen=True, slots=True)
class TrackingServerPlan:
    """MLflow on Cloud Run, behind IAP."""

    service: str  # its name
    host: str  # acme-research-mlflow-123456789012.us-central1.run.app
    cpu: str  # whole CPUs
    memory: str  # a quantity, "2Gi"
    workers: int  # server processes of an instance
    least_instances: int
    most_instances: int
    concurrency: int  # requests at once, of an instance

    @property
    def uri(self) -> str:
        """What a client takes for MLFLOW_TRACKING_URI."""
        return f"https://{self.host}"

    @property
    def audience(self) -> str:
        """What a token has to be signed for: every path of the server."""
        return f"{self.uri}/*"

    def client_account(self, project: str) -> str:
        """Address of the account that programs come in as; its id is at most 30 characters."""
        return f"{self.account('track')}@{project}.iam.gserviceaccount.com"

    def account(self, kind: str) -> str:
        """Id of one of the server's accounts. The environment's name is cut to what fits, and told apart then: two of a
        project may begin alike."""
        name, room = self.service.removesuffix("-mlflow"), LONGEST_LOGIN - len(kind) - 1
        if len(name) > room:
            name = f"{name[: room - 7].rstrip('-')}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
        return f"{name}-{kind}"


LONGEST_LOGIN = 28
"""An account's id and the project's, both at most 30, are a name of PostgreSQL together, `ID@PROJECT.iam`, of 63 at
most."""


@dataclass(frozen=True, slots=True)
class ManagedPlan:
    """Managed training in place of clusters: Vertex AI."""

    private_domain: bool  # editors go out through the network's NAT; jobs stand in a network of Google's in either case
    training_types: tuple[str, ...]  # whose GPUs jobs may have
    editor_types: tuple[str, ...]  # a template of an editor each
    closed_quotas: tuple[str, ...]  # metrics of GPUs that nobody gets, set to 0
    idle_minutes: int
    space_gib: int  # disk of an editor
    tracked_by: TrackedBy | None  # Experiments with a TensorBoard, or a server of MLflow; None: nothing
    server: TrackingServerPlan | None  # None: it is not MLflow
    smoke: ManagedSmokePlan | None


@dataclass(frozen=True, slots=True)
class TpuCapacityPlan:
    """Slices of a pool that are had in one way: a flavor of the queues, and one or more node pools."""

    name: str  # slices-spot: the flavor's
    capacity: Capacity
    slices: int  # at most
    node_pools: tuple[str, ...]  # names: one a slice where a slice has several machines
    nodes_of_pool: int  # at most, of each node pool
    reservation: str | None  # its name, where the slices are bought already
    max_hours: int | None  # after which a slice of flex-start is taken away
    owners: tuple[tuple[str, int], ...]  # slices by team, where it owns some
    proof_team: str | None  # for whom slices are proven; None: nothing proves one
    chip_hour_usd: float | None  # what an hour of a chip counts as to the team that holds it; None: no price

    @property
    def proven(self) -> tuple[str, ...]:
        """Node pools that a job proves, each by one slice. Reserved machines stay, and each may be bad; on demand and
        on spot a slice is another one each time: one tells what can be told, and a second would be paid for only."""
        if self.proof_team is None:
            return ()
        return self.node_pools if self.capacity == "reserved" else self.node_pools[:1]

    @property
    def has_choice(self) -> bool:
        """Whether a queue counts a slice free that may be another than the one that a proof names."""
        return len(self.node_pools) > 1


@dataclass(frozen=True, slots=True)
class TpuPoolPlan:
    """Slices of TPU chips of one kind, in one zone."""

    name: str
    purpose: str  # one line for people
    instance_type: str  # ct6e-standard-4t
    accelerator: str  # tpu-v6e-slice
    topology: str  # 4x4
    hosts: int  # machines of a slice
    chips_of_host: int
    vcpus: int  # of a machine
    memory_gib: float
    job_cpu: int  # cores that a pod of the pool's runtime requests, which takes a machine whole
    job_memory_gib: int
    zone: str
    image: str  # of the runtime
    root_disk_gib: int
    usd_per_hour: float | None  # of a machine on demand; None: the catalogue has no price
    capacities: tuple[TpuCapacityPlan, ...]

    @property
    def chips_of_slice(self) -> int:
        """Chips of a slice, which a job takes all."""
        return self.hosts * self.chips_of_host

    @property
    def usd_per_chip_hour(self) -> float | None:
        """List price of an hour of a chip on demand."""
        return None if self.usd_per_hour is None else self.usd_per_hour / self.chips_of_host

    @property
    def most_machines(self) -> int:
        """Machines of all slices together."""
        return self.hosts * sum(each.slices for each in self.capacities)


@dataclass(frozen=True, slots=True)
class GcpPlan:
    """The ground on Google Cloud: a project's region with what the clusters share there."""

    kind: Literal["gcp"]
    region: str
    project: str
    project_number: str
    labels: tuple[tuple[str, str], ...]  # the environment's tags, as Google takes them
    zones: tuple[str, ...]  # that nodes may stand in
    network: GcpNetworkPlan
    fabric_networks: FabricNetworksPlan | None  # None: GKE sets up the fast interfaces itself, or there are none
    control_planes: tuple[GkePlan, ...]  # one a cluster
    bucket_networks: tuple[tuple[str, str], ...] | None  # public ones besides the VPC; None: from everywhere
    data_cache: DataCachePlan | None
    lustre: GcpLustrePlan | None
    shared_files: FilestorePlan | None
    image_cache: ImageCachePlan | None  # None: images come from where they are published
    database: CloudSqlPlan | None  # None: nothing of the environment needs one
    record: RecordPlan
    tpu_pools: tuple[TpuPoolPlan, ...]  # slices of TPU chips, beside the GPU pools
    run_hours: tuple[tuple[str, int], ...]  # after which nodes of flex-start are taken away, by node group
    local_ssds: tuple[tuple[str, int], ...]  # of a node, by pool, where the stack file gives their number
    authenticator_group: str | None  # below which groups of Google's are groups of RBAC
    billing: BillingPlan | None  # None: no budget of Google's
    managed: ManagedPlan | None  # None: there are clusters, and none of it stays beside them

    def control_plane(self, cluster: str) -> GkePlan:
        """That of the cluster of that name, which is one of the plan's."""
        (found,) = (control_plane for control_plane in self.control_planes if control_plane.cluster == cluster)
        return found

    def kept(self, clusters: Sequence[str]) -> dict[str, Any]:
        """What a stack's lock keeps of the ground. A zone has no subnet of its own here: its slot is its number."""
        del clusters
        return {
            "network": {
                "cidr": self.network.cidr,
                "serviceCidr": self.network.service_cidr,
                **({"id": shared.subnetwork_id(self.region)} if (shared := self.network.shared) else {}),
            },
            "zones": [{"name": zone, "slot": slot} for slot, zone in enumerate(self.zones)],
            "lustre": {"zone": self.lustre.zone, "capacityGib": self.lustre.capacity_gib} if self.lustre else None,
        }
