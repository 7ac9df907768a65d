"""What a node needs of its template to start and to join: interfaces, a disk to boot from, metadata, a market.

Sources: EC2 API reference, CreateVolume (st1 and sc1 are no boot volumes, read 2026-11); EC2 user guide (Capacity
Reservations are not used by Spot Instances), EKS user guide, "Customize managed nodes with launch templates"
(hibernation), and nodeadm, which reads what instance it is from the metadata service: as generally known (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.refusals.aws.launch_templates import against_catalogue

ROOTS: Final = ("/dev/xvda", "/dev/sda1")
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+-\d{8}")
_PREFERENCE: Final = "capacityReservationSpecification.capacityReservationPreference"


def check(stack: Stack) -> None:
    """Looks at every managed node group and at its template."""
    for group in stack.of_type(EKS_NODE_GROUP):
        _release(group)
        template = group.referred("launchTemplate", LAUNCH_TEMPLATE)
        if template is None:
            continue
        if template.lacks("instanceType"):
            for name in group.texts("instanceTypes"):
                against_catalogue(template, name)
        _joins(group, template)
        _boots(template)


def _release(group: View) -> None:
    """A release of Amazon Linux is told whole, and is one of the group's own version of Kubernetes.

    EKS has none that is called by its version alone, and says of one of another version that it "is not valid".
    """
    release = group.text("releaseVersion")
    if not release or not (group.text("amiType") or "").startswith("AL2"):
        return
    if not _RELEASE.fullmatch(release):
        group.error(
            "machines-release",
            "releaseVersion",
            f"got {show(release)}, which is no release of an Amazon Linux image",
            allowed="such as 1.35.2-20260714, or left out",
        )
        return
    version = group.text("version") or ""
    if re.fullmatch(r"\d+\.\d+", version) and not release.startswith(f"{version}."):
        group.error(
            "machines-release",
            "releaseVersion",
            f"{release} is an image of another version than the group's, {version}: EKS refuses the two together",
            allowed=f"a release of {version}, or left out",
        )


def _joins(group: View, template: View) -> None:
    if template.text("metadataOptions.httpEndpoint") == "disabled":
        template.error(
            "machines-metadata",
            "metadataOptions.httpEndpoint",
            f"a node of {group.name} reads from the metadata service who it is: without it, it does not join",
            allowed="enabled, with httpTokens required",
        )
    if group.text("capacityType") == "SPOT" and template.text(_PREFERENCE) == "capacity-reservations-only":
        template.error(
            "machines-reservation",
            _PREFERENCE,
            f"{group.name} is of Spot, which never runs in a Capacity Reservation: none of its nodes would start",
            allowed="none, or capacityType ON_DEMAND",
        )
    if template.flag("hibernationOptions.configured"):
        template.error(
            "machines-hibernation",
            "hibernationOptions",
            f"EKS refuses a template with hibernation for managed nodes, as of {group.name}",
            allowed="left out",
        )


def _boots(template: View) -> None:
    for path, item in template.items("blockDeviceMappings"):
        disk = item.get("ebs")
        kind = disk.get("volumeType") if isinstance(disk, dict) else None
        if item.get("deviceName") in ROOTS and kind in ("st1", "sc1"):
            template.error(
                "machines-root-device",
                f"{path}.ebs.volumeType",
                f"no instance boots from a volume of {kind}",
                allowed="gp3, gp2, io1 or io2",
            )
