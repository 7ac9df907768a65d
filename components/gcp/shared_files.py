"""Filestore: home directories and code, a directory a team, in three zones of the region.

It is mounted from the nodes' range alone, and by the nodes: no pod reaches the server. A team's pods mount their own
directory and see nothing beside it (`on_cluster/volumes.py`). Filestore has no schedule of backups of its own: a plan
of Backup and DR makes one a day, into a vault of the region.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp.backupdisasterrecovery as backupdr
import pulumi_gcp.filestore as filestore

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.gcp_files import FILESTORE_TIERS

TIER: Final = "REGIONAL"
SHARE: Final = "home"
INSTANCE: Final = "file.googleapis.com/Instance"
"""What Backup and DR calls an instance of Filestore (pulumi_gcp 10.2.0, `BackupPlan.resource_type`)."""
BACKUP_DAYS: Final = 35
"""Days that a daily backup is kept: as long as Amazon EFS keeps its automatic ones, so that both clouds do the same."""


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
    backup_days: NotRequired[int]
    """Days that the backup of each day is kept, 1 to 366. Default 35. The project's agent of Backup and DR has to be
    let to `key_id`, and its service has to be on."""


class FilestoreShare(pulumi.ComponentResource):
    """A share of the regional tier, encrypted with the environment's key.

    `depends_on` is what it waits for: the connection of private services access, and the right on the key. It is
    backed up every day; how files come back is in `docs/how-to/share-files-on-google-cloud.md`.
    """

    instance: pulumi.Output[str]
    """REGION/INSTANCE, as the storage driver names it."""
    address: pulumi.Output[str]
    """Address that nodes mount from."""
    backup_plan_id: pulumi.Output[str]
    """Id of the plan of Backup and DR that backs it up."""

    def __init__(self, name: str, args: FilestoreShareArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a size that the tier is not sold in, impossible days of backups, and without nodes."""
        super().__init__("trainyard:index:FilestoreShare", name, None, opts)
        sold = FILESTORE_TIERS[TIER]
        if not sold.sells(args["capacity_gib"]):
            raise ValueError(f"capacity_gib: got {args['capacity_gib']}; {sold.words}")
        if not args["client_cidrs"]:
            raise ValueError("client_cidrs: got none; nobody could mount it")
        days = args.get("backup_days", BACKUP_DAYS)
        if not 1 <= days <= 366:
            raise ValueError(f"backup_days: got {days}; must be from 1 to 366")
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
        self.backup_plan_id = _back_up(name, made, days, args, pulumi.ResourceOptions(parent=self))
        self.instance = pulumi.Output.concat(args["region"], "/", made.name)
        self.address = made.networks.apply(lambda networks: _address(networks))
        register(self)


def _back_up(
    name: str, share: filestore.Instance, days: int, args: FilestoreShareArgs, opts: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    """A backup a day, kept in a vault of the share's region; the id of its plan.

    A vault with backups in it cannot be deleted, and they only go with their days: a destroy leaves it, so that who
    deleted the share by mistake has them still. Its name ends as the share's does, as no later one's will.
    """
    vault = backupdr.BackupVault(
        f"{name}-vault",
        backup_vault_id=share.name,
        location=args["region"],
        description="Daily backups of home directories and code",
        # Nobody deletes a backup in its first day; the plan keeps it longer.
        backup_minimum_enforced_retention_duration="86400s",
        access_restriction="WITHIN_PROJECT",
        encryption_config={"kms_key_name": args["key_id"]},
        labels=args["labels"],
        deletion_policy="ABANDON",
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=args["protect"])),
    )
    daily = backupdr.BackupPlan(
        f"{name}-daily",
        backup_plan_id=share.name,
        location=args["region"],
        resource_type=INSTANCE,
        backup_vault=vault.id,
        description=f"A backup a day, kept {days} days",
        backup_rules=[
            {
                "rule_id": "daily",
                "backup_retention_days": days,
                "standard_schedule": {
                    "recurrence_type": "DAILY",
                    "time_zone": "UTC",
                    # The whole day: what has not started when the window ends is left out.
                    "backup_window": {"start_hour_of_day": 0, "end_hour_of_day": 24},
                },
            }
        ],
        opts=opts,
    )
    backupdr.BackupPlanAssociation(
        f"{name}-backups",
        backup_plan_association_id=share.name,
        location=args["region"],
        resource_type=INSTANCE,
        resource=share.id,
        backup_plan=daily.id,
        opts=opts,
    )
    return daily.backup_plan_id


def _address(networks: Sequence[filestore.outputs.InstanceNetwork] | None) -> str:
    """The first address of the first network; empty where Filestore answers with none."""
    for network in networks or ():
        for address in network.ip_addresses or ():
            return str(address)
    return ""
