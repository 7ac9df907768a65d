"""Settings: the nodes, with GPUs and without."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.settings.types import Model, Name, Nodes, StandIn, matching


class NodeRange(Model):
    """A node group that the autoscaler moves between two sizes, in nodes."""

    min_nodes: Nodes | None = Field(default=None, description="fewest nodes")
    max_nodes: Nodes | None = Field(default=None, description="most nodes; 0 takes this capacity away")


class SpotNodes(NodeRange):
    """Spot nodes."""

    instance_types: list[str] | None = Field(
        default=None, description="alternatives with the pool's GPU and GPU count; [] for none"
    )


Instant = Annotated[
    str,
    matching(
        r"20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z",
        "must be an instant in UTC, like 2026-12-01T11:30:00Z",
    ),
]


class Reserved(Model):
    """Capacity that is bought already: on AWS an On-Demand Capacity Reservation or a Capacity Block, on Google Cloud
    a reservation that is used by name, or a block of one."""

    reservation_id: Annotated[str, StandIn("cr-{number:017x}")] = Field(
        description="its id, on AWS cr-…; on Google Cloud NAME or projects/P/reservations/NAME, a block behind"
    )
    kind: Literal["odcr", "capacity-block"] = Field(default="odcr", description="how it was bought")
    nodes: int = Field(ge=1, le=1000, description="instances in the reservation")
    max_nodes: int | None = Field(default=None, ge=1, description="nodes to use of it; all by default")
    availability_zone: str = Field(description="the zone that it is in")
    start: Instant | None = Field(
        default=None, description="when a Capacity Block begins: before, no job is sent there"
    )
    end: Instant | None = Field(
        default=None,
        description="when a Capacity Block ends: its nodes go 45 minutes before, and jobs are sent there until then",
    )
    last_start_hours: int | None = Field(
        default=None,
        ge=0,
        le=4320,
        description="hours before the nodes of a Capacity Block go from which on no job is sent there any more",
    )


class FlexStart(Model):
    """Nodes that Google Cloud gives when it has all that a job waits for (Dynamic Workload Scheduler)."""

    max_nodes: int = Field(ge=1, le=1000, description="most nodes")
    max_hours: int = Field(
        default=168, ge=1, le=168, description="hours after which a node is taken away, and its job with it"
    )


class GpuSharing(Model):
    """How pods share a GPU: they take turns on it, or each has an instance of it (one of the two)."""

    time_slices: Annotated[int, Field(ge=2, le=48)] | None = Field(
        default=None,
        description="how many pods take turns on each GPU, each one turn at most; nothing keeps their memory apart",
    )
    mig: Annotated[str, matching(r"[1-7]g\.[0-9]{1,3}gb", "must be a profile of MIG, like 1g.10gb")] | None = Field(
        default=None,
        description="size of the instances that each GPU is partitioned into, NVIDIA's name of it; keeps memory apart",
    )
    across_teams: bool = Field(
        default=False,
        description="accepts that pods of different teams share a GPU, where there are several teams",
    )


class GpuPool(Model):
    """Overrides of one of the profile's pools, or a pool of its own."""

    enabled: bool = Field(default=True, description="false takes the profile's pool away")
    purpose: Annotated[str, matching(r"[^\x00-\x1f\x7f]{1,200}", "must be one line of 1 to 200 characters")] | None = (
        Field(default=None, description="one line for people")
    )
    gpu: str | None = Field(default=None, description="GPU model; picks the cheapest instance that has it")
    instance_type: str | None = Field(default=None, description="instance type; names the GPU too")
    fabric: bool | None = Field(
        default=None, description="fast interfaces between nodes, and one zone; where the instance is made for it"
    )
    zone: str | None = Field(
        default=None, description="the pool's zone; its reservation's, or one that has the instance"
    )
    reserved: Reserved | None = Field(default=None, description="capacity that is bought already")
    spot: SpotNodes | None = Field(default=None, description="spot nodes")
    on_demand: NodeRange | None = Field(default=None, description="on-demand nodes")
    flex_start: FlexStart | None = Field(
        default=None,
        description="on Google Cloud, nodes below the price on demand, for a time, for which a job waits in its queue",
    )
    owners: dict[Name, Nodes] | None = Field(
        default=None,
        description=(
            "how many whole nodes teams own, by team, of a pool with several GPUs a node and a fabric, or of whole "
            "machines; the others share the rest by their shares, which decide alone by default"
        ),
    )
    gang_nodes: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="nodes of a job that a pool with a fabric promises to hold in a capacity other than spot",
    )
    whole_nodes_only: bool | None = Field(
        default=None,
        description=(
            "refuse jobs whose pods leave GPUs of a node to others; where a pool has several GPUs a node and a fabric, "
            "or trains on nodes of several without one"
        ),
    )
    sharing: GpuSharing | None = Field(
        default=None, description="pods share its GPUs: for small work, on a pool without a fabric or a reservation"
    )
    root_disk_gib: int | None = Field(default=None, ge=50, le=16_384, description="root disk of a node, GiB")
    local_ssds: int | None = Field(
        default=None,
        ge=1,
        le=32,
        description=(
            "on Google Cloud, local SSDs of 375 GiB a node, for pods' scratch files and the cache of what they read; "
            "what the machine always has by default"
        ),
    )


class SystemNodes(Model):
    """Overrides of the CPU nodes that run the platform's own pods."""

    instance_types: list[str] | None = Field(
        default=None, min_length=1, description="instance types, the first tried first"
    )
    min_nodes: int | None = Field(default=None, ge=1, le=100, description="fewest nodes")
    max_nodes: int | None = Field(default=None, ge=1, le=100, description="most nodes")
    disk_gib: int | None = Field(default=None, ge=20, le=16_384, description="root disk of a node, GiB")


class CpuPool(Model):
    """Overrides of the CPU nodes that run people's pods without GPUs."""

    instance_types: list[str] | None = Field(
        default=None, min_length=1, description="instance types, the first tried first"
    )
    min_nodes: int | None = Field(default=None, ge=0, le=100, description="fewest nodes")
    max_nodes: int | None = Field(
        default=None, ge=0, le=100, description="most nodes; 0 for no such nodes, and no work without GPUs"
    )
    disk_gib: int | None = Field(default=None, ge=20, le=16_384, description="root disk of a node, GiB")
