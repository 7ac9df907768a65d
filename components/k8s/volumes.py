"""The storage tiers as volumes in every team's namespace.

Static volumes, a pair of PersistentVolume and claim for each team and tier: they bind at once, and nothing of the tier
itself is made or deleted by them. What stands behind a claim is the ground's to say (`VolumeSourceArgs`); the claims
have the same names in every namespace (`trainyard.conventions`), so one training runtime mounts them.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.core.v1 as core

from trainyard import cards
from trainyard.components.k8s.objects import named
from trainyard.components.k8s.quantities import gibibytes
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites


class VolumeSourceArgs(TypedDict):
    """Where the files of a static volume are, for a storage driver (CSI) to mount."""

    driver: str
    """Name of the CSI driver."""
    handle: pulumi.Input[str]
    """What the driver knows the volume by. Of two volumes with one handle a node mounts only one."""
    attributes: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Further values for the driver. Default: none."""
    mount_options: Sequence[str]
    """Options of the mount, as the driver spells them."""
    access_mode: str
    """`ReadWriteMany`, or `ReadOnlyMany`: then no pod can write to it."""
    capacity_gib: int
    """Size, GiB. Kubernetes wants one even of storage that has none, and drivers then ignore it."""
    storage_class: NotRequired[str]
    """A class that the cluster brings and that the driver takes further options of the mount from. Default: none."""


class TeamVolumeArgs(TypedDict):
    """One team, and the volumes that it mounts."""

    name: str
    """Short name of the team."""
    namespace: pulumi.Input[str]
    """Namespace of the team, which the claims are in."""
    volumes: Mapping[str, VolumeSourceArgs]
    """The volumes that the team mounts, by the name of the claim."""


class TeamVolumesArgs(TypedDict):
    """Arguments of `TeamVolumes`."""

    teams: Sequence[TeamVolumeArgs]
    """All teams of the environment."""


class TeamVolumes(pulumi.ComponentResource):
    """The claims of every team, each bound to a volume of its own."""

    claims: dict[str, dict[str, pulumi.Output[str]]]
    """Name of each team's claims, by team and then by claim; carries the dependency on it."""

    def __init__(self, name: str, args: TeamVolumesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:TeamVolumes", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        self.claims = {}
        for team in args["teams"]:
            self.claims[team["name"]] = {}
            for claim, source in team["volumes"].items():
                logical_name = f"{name}-{team['name']}-{claim}"
                volume = static_volume(
                    logical_name,
                    source,
                    volume_name=f"{team['name']}-{claim}",
                    claim=claim,
                    namespace=team["namespace"],
                    opts=child,
                )
                self.claims[team["name"]][claim] = static_claim(
                    logical_name, source, volume=volume, claim=claim, namespace=team["namespace"], opts=child
                )
        register(self)


def static_volume(
    name: str,
    source: VolumeSourceArgs,
    *,
    volume_name: str,
    claim: str,
    namespace: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> pulumi.Output[str]:
    """Makes the volume `volume_name` that only the claim of that name and namespace binds to; returns its name."""
    csi: core.CSIPersistentVolumeSourceArgsDict = {"driver": source["driver"], "volume_handle": source["handle"]}
    if source["access_mode"] == "ReadOnlyMany":
        # The access mode only says where a claim binds; this is what the driver mounts by, whatever a pod asks for.
        csi["read_only"] = True
    if "attributes" in source:
        csi["volume_attributes"] = source["attributes"]
    # No `storageClassName: ""` and no empty list: an API server does not keep them on a volume, and every refresh would
    # show the difference.
    spec: core.PersistentVolumeSpecArgsDict = {
        "capacity": {"storage": gibibytes(source["capacity_gib"])},
        "access_modes": [source["access_mode"]],
        # The files belong to the tier, not to the claim.
        "persistent_volume_reclaim_policy": "Retain",
        "volume_mode": "Filesystem",
        "claim_ref": {"namespace": namespace, "name": claim},
        "csi": csi,
    }
    if source["mount_options"]:
        spec["mount_options"] = list(source["mount_options"])
    if "storage_class" in source:
        spec["storage_class_name"] = source["storage_class"]
    volume = core.PersistentVolume(
        f"{name}-volume",
        metadata={"name": volume_name},
        spec=spec,
        # Another class is another claim, and a volume stays with the claim that it was first bound to.
        opts=replaced_when_it_must(opts, "kubernetes:core/v1:PersistentVolume", "spec.storageClassName"),
    )
    return named(volume, volume_name)


def static_claim(
    name: str,
    source: VolumeSourceArgs,
    *,
    volume: pulumi.Input[str],
    claim: str,
    namespace: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> pulumi.Output[str]:
    """Makes the claim on that volume; returns its name."""
    resource = core.PersistentVolumeClaim(
        f"{name}-claim",
        metadata={"name": claim, "namespace": namespace},
        spec={
            "access_modes": [source["access_mode"]],
            # By default none: the cluster's default class would make a disk.
            "storage_class_name": source.get("storage_class", ""),
            "volume_mode": "Filesystem",
            "volume_name": volume,
            "resources": {"requests": {"storage": gibibytes(source["capacity_gib"])}},
        },
        opts=replaced_when_it_must(opts, "kubernetes:core/v1:PersistentVolumeClaim"),
    )
    return named(resource, claim)


def replaced_when_it_must(opts: pulumi.ResourceOptions, type_: str, *further: str) -> pulumi.ResourceOptions:
    """The server refuses to change some fields, and two objects of one name cannot be there at once."""
    fields = [*cards.of(type_).unchangeable, *further]
    return pulumi.ResourceOptions.merge(
        opts, pulumi.ResourceOptions(replace_on_changes=fields, delete_before_replace=True)
    )
