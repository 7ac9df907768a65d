"""Managed Lustre: fast space that all nodes share, in one zone, for what is written while a job runs.

Only clients in the environment's own range of nodes are taken at their word: the root of any other is nobody here. The
root of a node is root, since GKE's driver gives a mounted folder to the pod's group as root; a pod is never root
(level `restricted`), and a team's pods mount their own folder and see nothing beside it (`on_cluster/volumes.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp.compute as compute
import pulumi_gcp.lustre as lustre
import pulumi_gcp.storage as storage

from trainyard.catalog.gcp_files import LUSTRE_TIERS
from trainyard.components.k8s.objects import prerequisites
from trainyard.components.outputs import register

PORT: Final = "988"
"""Where clients are called back by the servers, TCP (cluster-toolkit, 2026-06-25)."""

FILESYSTEM: Final = "scratch"
"""Name that clients mount: at most eight letters and digits, and one a node (lustre-csi-driver, 2026-08-19)."""

NOBODY: Final = 65534


class LustreImportsArgs(TypedDict):
    """From where files may be brought in: by a call of whoever has the right to make it, and by nobody else."""

    bucket: pulumi.Input[str]
    """Name of the bucket."""
    agent_email: pulumi.Input[str]
    """Managed Lustre's account in the project, which reads there."""


class ManagedLustreArgs(TypedDict):
    """What `ManagedLustre` needs."""

    instance_id: str
    """Name of the instance: 1 to 63 of a-z, 0-9 and `-`, a letter first, no `-` last."""
    zone: pulumi.Input[str]
    """Zone of the file servers: that of the nodes which use it most."""
    network_id: pulumi.Input[str]
    """`VpcNetwork.network_id`, whose private services access the instance is reached by."""
    private_services_cidr: NotRequired[pulumi.Input[str]]
    """CIDR block of private services access, which the servers have addresses of: it is let in to the nodes. Default:
    whoever keeps the network has let it in."""
    client_cidrs: Sequence[pulumi.Input[str]]
    """CIDR blocks of the nodes, whose root is root; they do not overlap."""
    key_id: pulumi.Input[str]
    """Key of the files, in the region of the zone."""
    capacity_gib: int
    """Size, GiB, in the steps that the throughput is sold in (`catalog.gcp_files.LUSTRE_TIERS`)."""
    throughput_mbps_per_tib: int
    """MB/s for every TiB of capacity: 125, 250, 500 or 1000."""
    imports: NotRequired[LustreImportsArgs]
    """A bucket that files may be brought in from (`gcloud lustre instances import-data`). Default: none."""
    labels: Mapping[str, pulumi.Input[str]]
    """Labels on the bill."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the file system."""


class ManagedLustre(pulumi.ComponentResource):
    """A file system for scratch space, with the way by which its servers reach the nodes.

    `depends_on` is what it waits for: the connection of private services access, and the right on the key. There are no
    backups: Managed Lustre has none, and what is to stay belongs into the checkpoints bucket. It grows in place and
    never shrinks; another throughput, key or zone replaces it.
    """

    instance: pulumi.Output[str]
    """PROJECT/ZONE/INSTANCE, as the storage driver names it."""
    address: pulumi.Output[str]
    """Address that clients mount from."""

    def __init__(self, name: str, args: ManagedLustreArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a capacity or a throughput that Google does not sell, and without nodes."""
        super().__init__("trainyard:index:ManagedLustre", name, None, opts)
        _check(args)
        ways_in: list[pulumi.Resource] = [
            compute.Firewall(
                f"{name}-servers",
                network=args["network_id"],
                description="The servers of the file system call their clients back",
                direction="INGRESS",
                priority=1000,
                source_ranges=[servers],
                allows=[{"protocol": "tcp", "ports": [PORT]}],
                log_config={"metadata": "INCLUDE_ALL_METADATA"},
                opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
            )
            for servers in [args.get("private_services_cidr")]
            if servers is not None
        ]
        made = lustre.Instance(
            name,
            instance_id=args["instance_id"],
            location=args["zone"],
            network=args["network_id"],
            filesystem=FILESYSTEM,
            capacity_gib=str(args["capacity_gib"]),
            per_unit_storage_throughput=str(args["throughput_mbps_per_tib"]),
            kms_key=args["key_id"],
            labels=args["labels"],
            description="Scratch space of the teams",
            access_rules_options={
                "default_squash_mode": "ROOT_SQUASH",
                "default_squash_uid": NOBODY,
                "default_squash_gid": NOBODY,
                "access_rules": [
                    {"name": "nodes", "ip_address_ranges": list(args["client_cidrs"]), "squash_mode": "NO_SQUASH"}
                ],
            },
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*prerequisites(opts), *ways_in],
                protect=args["protect"],
                # The name is given, and there are no two of it.
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="3h", update="3h", delete="2h"),
            ),
        )
        if "imports" in args:
            storage.BucketIAMMember(
                f"{name}-imports",
                bucket=args["imports"]["bucket"],
                role="roles/storage.objectViewer",
                member=pulumi.Output.concat("serviceAccount:", args["imports"]["agent_email"]),
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.instance = made.id.apply(_handle)
        self.address = made.mount_point.apply(lambda point: str(point).partition("@")[0])
        register(self)


def _handle(id_: str) -> str:
    """PROJECT/ZONE/INSTANCE of projects/PROJECT/locations/ZONE/instances/INSTANCE."""
    return "/".join(id_.split("/")[1::2])


def _check(args: ManagedLustreArgs) -> None:
    throughput, capacity = args["throughput_mbps_per_tib"], args["capacity_gib"]
    tier = LUSTRE_TIERS.get(throughput)
    if tier is None:
        raise ValueError(f"throughput_mbps_per_tib: got {throughput}; one of {', '.join(map(str, LUSTRE_TIERS))}")
    if not tier.sells(capacity):
        raise ValueError(f"capacity_gib: got {capacity}; {tier.words} with {throughput} MB/s per TiB")
    if not args["client_cidrs"]:
        raise ValueError("client_cidrs: got none; the root of every node would be nobody, and no folder could be made")
