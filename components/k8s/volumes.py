"""The storage tiers as volumes in every team's namespace.

Static volumes, one pair of PersistentVolume and claim for a team and tier: they bind at once, nothing is made or
deleted on AWS by them.

- `data`: the FSx for Lustre file system, or, where the environment has none, the data bucket read-only. Shared by the
  teams; POSIX ownership decides who writes (files that came from the bucket belong to root and are readable).
- `scratch`, where the environment has FSx for Lustre: the team's own folder `teams/<team>` of the file system, beside
  the linked directory: fast, writable (`LustreFolders` makes it so), and on no bucket. No other team's pods see it.
- `checkpoints`: the team's own prefix of the checkpoints bucket. Mountpoint for S3 writes files in sequence and does
  not rename: save under the final name, or use the S3 API.
- `home`, where the environment has EFS: the team's own directory for code and notebooks, in every zone.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s.conventions import gibibytes, named, prerequisites
from trainyard.conventions import CHECKPOINTS_CLAIM, DATA_CLAIM, HOME_CLAIM, SCRATCH_CLAIM, team_prefix

EFS_DRIVER = "efs.csi.aws.com"
FSX_DRIVER = "fsx.csi.aws.com"
S3_DRIVER = "s3.csi.aws.com"

UNSIZED_CAPACITY_GIB = 1024
"""A bucket or an EFS file system has no size; Kubernetes wants one and the driver ignores it."""


class LustreVolumeArgs(TypedDict):
    """An FSx for Lustre file system."""

    file_system_id: pulumi.Input[str]
    """`fs-...`"""
    dns_name: pulumi.Input[str]
    """Host name of the file system."""
    mount_name: pulumi.Input[str]
    """Name that it is mounted by, with the directory to mount where that is not its root: `abcdefgh/data`."""
    capacity_gib: int
    """Its size, GiB."""


class SharedVolumeArgs(TypedDict):
    """An EFS file system with a directory for every team."""

    file_system_id: pulumi.Input[str]
    """`fs-...`"""
    access_point_ids: Mapping[str, pulumi.Input[str]]
    """Of each team's directory, by the team's name; `fsap-...`"""


class TeamVolumeArgs(TypedDict):
    """Whose volumes."""

    name: str
    """Short name of the team; its checkpoints are below `teams/<name>/`."""
    namespace: pulumi.Input[str]
    """Its namespace."""


class TeamVolumesArgs(TypedDict):
    """Arguments of `TeamVolumes`."""

    teams: Sequence[TeamVolumeArgs]
    """All teams."""
    region: str
    """Region of the buckets."""
    checkpoints_bucket: pulumi.Input[str]
    """Name of the checkpoints bucket."""
    lustre: NotRequired[LustreVolumeArgs]
    """The data tier's file system. Either this or `data_bucket`."""
    data_bucket: NotRequired[pulumi.Input[str]]
    """Name of the data bucket, mounted read-only. Either this or `lustre`."""
    shared: NotRequired[SharedVolumeArgs]
    """The shared file system. Default: there is none, and no claim `home`."""


class TeamVolumes(pulumi.ComponentResource):
    """The claims `data` and `checkpoints`, `scratch` where there is Lustre, `home` where there is EFS, for every team.

    Access to the buckets is that of the pod's own service account (`authenticationSource: pod`), so a team's role needs
    the bucket's list right and objects below its prefix. The driver gives the mount to the pod's `fsGroup`.

    Raises ValueError unless exactly one of `lustre` and `data_bucket` is given.
    """

    data_claims: dict[str, pulumi.Output[str]]
    """Name of the data claim by team; carries the dependency on it."""
    checkpoint_claims: dict[str, pulumi.Output[str]]
    """Name of the checkpoints claim by team."""
    scratch_claims: dict[str, pulumi.Output[str]]
    """Name of the scratch claim by team; empty without Lustre. A pod that mounts one waits for `LustreFolders`."""
    home_claims: dict[str, pulumi.Output[str]]
    """Name of the home claim by team; empty without a shared file system."""

    def __init__(self, name: str, args: TeamVolumesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:TeamVolumes", name, {}, opts)
        if ("lustre" in args) == ("data_bucket" in args):
            raise ValueError("give either lustre or data_bucket: the data tier is one of them")
        self._before = prerequisites(opts)
        self.data_claims, self.checkpoint_claims, self.scratch_claims, self.home_claims = {}, {}, {}, {}
        for team in args["teams"]:
            self.data_claims[team["name"]] = (
                self._lustre(name, team, DATA_CLAIM, args["lustre"])
                if "lustre" in args
                else self._volume(
                    name,
                    team,
                    DATA_CLAIM,
                    capacity=gibibytes(UNSIZED_CAPACITY_GIB),
                    access_mode="ReadOnlyMany",
                    mount_options=[f"region {args['region']}", "read-only"],
                    csi=_bucket(args["data_bucket"], f"{team['name']}-{DATA_CLAIM}"),
                )
            )
            self.checkpoint_claims[team["name"]] = self._volume(
                name,
                team,
                CHECKPOINTS_CLAIM,
                capacity=gibibytes(UNSIZED_CAPACITY_GIB),
                access_mode="ReadWriteMany",
                mount_options=[
                    f"region {args['region']}",
                    f"prefix {team_prefix(team['name'])}",
                    "allow-delete",
                    "allow-overwrite",
                ],
                csi=_bucket(args["checkpoints_bucket"], f"{team['name']}-{CHECKPOINTS_CLAIM}"),
            )
            if "lustre" in args:
                self.scratch_claims[team["name"]] = self._lustre(
                    name, team, SCRATCH_CLAIM, team_folder(args["lustre"], team["name"])
                )
            if "shared" in args:
                self.home_claims[team["name"]] = self._home(name, team, args["shared"])
        self.register_outputs(
            {
                "dataClaims": self.data_claims,
                "checkpointClaims": self.checkpoint_claims,
                "scratchClaims": self.scratch_claims,
                "homeClaims": self.home_claims,
            }
        )

    def _lustre(self, name: str, team: TeamVolumeArgs, claim: str, lustre: LustreVolumeArgs) -> pulumi.Output[str]:
        return self._volume(
            name,
            team,
            claim,
            capacity=gibibytes(lustre["capacity_gib"]),
            access_mode="ReadWriteMany",
            mount_options=["flock"],
            csi={
                "driver": FSX_DRIVER,
                # Kubernetes wants a handle of its own for every volume. The driver mounts by dnsname and mountname
                # and uses the handle only to tell its calls apart (aws-fsx-csi-driver pkg/driver/node.go, 2026-04-21).
                "volume_handle": pulumi.Output.concat(lustre["file_system_id"], "-", team["name"], "-", claim),
                "volume_attributes": {"dnsname": lustre["dns_name"], "mountname": lustre["mount_name"]},
            },
        )

    def _home(self, name: str, team: TeamVolumeArgs, shared: SharedVolumeArgs) -> pulumi.Output[str]:
        access_point = shared["access_point_ids"][team["name"]]
        return self._volume(
            name,
            team,
            HOME_CLAIM,
            capacity=gibibytes(UNSIZED_CAPACITY_GIB),
            access_mode="ReadWriteMany",
            # The driver encrypts in transit unless told otherwise; an access point needs it.
            mount_options=[],
            csi={
                "driver": EFS_DRIVER,
                "volume_handle": pulumi.Output.concat(shared["file_system_id"], "::", access_point),
            },
        )

    def _volume(
        self,
        name: str,
        team: TeamVolumeArgs,
        claim: str,
        *,
        capacity: str,
        access_mode: str,
        mount_options: list[str],
        csi: core.CSIPersistentVolumeSourceArgsDict,
    ) -> pulumi.Output[str]:
        volume_name = f"{team['name']}-{claim}"
        volume = core.PersistentVolume(
            f"{name}-{team['name']}-{claim}-volume",
            metadata={"name": volume_name},
            spec={
                "capacity": {"storage": capacity},
                "access_modes": [access_mode],
                # The files belong to the tier, not to the claim.
                "persistent_volume_reclaim_policy": "Retain",
                "storage_class_name": "",
                "volume_mode": "Filesystem",
                "claim_ref": {"namespace": team["namespace"], "name": claim},
                "mount_options": mount_options,
                "csi": csi,
            },
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=self._before,
                replace_on_changes=["spec.csi", "spec.claimRef"],  # the server refuses to change them
                delete_before_replace=True,
            ),
        )
        resource = core.PersistentVolumeClaim(
            f"{name}-{team['name']}-{claim}-claim",
            metadata={"name": claim, "namespace": team["namespace"]},
            spec={
                "access_modes": [access_mode],
                "storage_class_name": "",  # not the cluster's default class, which would make a disk
                "volume_mode": "Filesystem",
                "volume_name": named(volume, volume_name),
                "resources": {"requests": {"storage": capacity}},
            },
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=self._before,
                replace_on_changes=["spec.volumeName"],
                delete_before_replace=True,
            ),
        )
        return named(resource, claim)


def _bucket(bucket: pulumi.Input[str], volume_handle: str) -> core.CSIPersistentVolumeSourceArgsDict:
    return {
        "driver": S3_DRIVER,
        # Of two volumes with one handle a node mounts only one.
        "volume_handle": volume_handle,
        "volume_attributes": {"bucketName": bucket, "authenticationSource": "pod"},
    }


def file_system_root(lustre: LustreVolumeArgs) -> LustreVolumeArgs:
    """The same file system, mounted at its root: `abcdefgh/data` -> `abcdefgh`."""
    mount_name = pulumi.Output.from_input(lustre["mount_name"]).apply(lambda text: text.partition("/")[0])
    return {**lustre, "mount_name": mount_name}


def team_folder(lustre: LustreVolumeArgs, team: str) -> LustreVolumeArgs:
    """The same file system, mounted at a team's folder beside the linked directory."""
    root = file_system_root(lustre)
    return {**root, "mount_name": pulumi.Output.concat(root["mount_name"], f"/{team_prefix(team)}".rstrip("/"))}
