"""Filestore: home directories and code, a directory a team, in three zones of the region.

It is mounted from the nodes' range alone, and by the nodes: no pod reaches the server. A team's pods mount their own
directory and see nothing beside it (`on_cluster/volumes.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

import pulumi
import pulumi_gcp.filestore as filestore

from trainyard.catalog.gcp_files import FILESTORE_TIERS
from trainyard.components.k8s.objects import prerequisites
from trainyard.components.outputs import register

TIER: Final = "REGIONAL"
SHARE: Final = "home"


class FilestoreShareArgs(TypedDict):
    """What `FilestoreShare` needs."""

    region: pulumi.Input[str]
    """Region of the share, which stands in three of its zones."""
    project: pulumi.Input[str]
    """Id of the project."""
    network_id: pulumi.Input[str]
    """`VpcNetwork.network_id`, whose private services access the share is reached by."""
    client_cidrs: Sequence[pulumi.Input[str]]
    """CIDR blocks of the nodes, which alone mount it; they do not overlap."""
    key_id: pulumi.Input[str]
    """Key of the files, in the region."""
    capacity_gib: int
    """Size, GiB: 100 to 102,400, from 10,240 on in steps of 2,560. Below 1,024 some regions sell none."""
    labels: Mapping[str, pulumi.Input[str]]
    """Labels on the bill."""
    protect: bool
    """Whether Filestore and Pulumi refuse to delete or replace it."""


class FilestoreShare(pulumi.ComponentResource):
    """A share of the regional tier, encrypted with the environment's key.

    `depends_on` is what it waits for: the connection of private services access, and the right on the key. Filestore
    makes no backup by itself, and no resource does on a schedule: `docs/how-to/share-files-on-google-cloud.md` has the
    command.
    """

    instance: pulumi.Output[str]
    """REGION/INSTANCE, as the storage driver names it."""
    address: pulumi.Output[str]
    """Address that nodes mount from."""

    def __init__(self, name: str, args: FilestoreShareArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a size that the tier is not sold in, and without nodes."""
        super().__init__("trainyard:index:FilestoreShare", name, None, opts)
        sold = FILESTORE_TIERS[TIER]
        if not sold.sells(args["capacity_gib"]):
            raise ValueError(f"capacity_gib: got {args['capacity_gib']}; {sold.words}")
        if not args["client_cidrs"]:
            raise ValueError("client_cidrs: got none; nobody could mount it")
        made = filestore.Instance(
            name,
            location=args["region"],
            tier=TIER,
            protocol="NFS_V3",  # what GKE's driver mounts where a volume says nothing else
            description="Home directories and code of the teams",
            file_shares={
                "name": SHARE,
                "capacity_gb": args["capacity_gib"],
                "nfs_export_options": [
                    {
                        "ip_ranges": list(args["client_cidrs"]),
                        "access_mode": "READ_WRITE",
                        # A node gives a directory to the pod's group as root; no pod is root.
                        "squash_mode": "NO_ROOT_SQUASH",
                    }
                ],
            },
            networks=[
                {
                    "network": args["network_id"],
                    "modes": ["MODE_IPV4"],
                    "connect_mode": "PRIVATE_SERVICE_ACCESS",
                }
            ],
            kms_key_name=args["key_id"],
            deletion_protection_enabled=args["protect"],
            labels=args["labels"],
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=prerequisites(opts),
                protect=args["protect"],
                custom_timeouts=pulumi.CustomTimeouts(create="1h", update="1h", delete="1h"),
            ),
        )
        self.instance = pulumi.Output.concat(args["region"], "/", made.name)
        self.address = made.networks.apply(lambda networks: _address(networks))
        register(self)


def _address(networks: Sequence[filestore.outputs.InstanceNetwork] | None) -> str:
    """The first address of the first network; empty where Filestore answers with none."""
    for network in networks or ():
        for address in network.ip_addresses or ():
            return str(address)
    return ""
