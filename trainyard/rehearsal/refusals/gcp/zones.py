"""What has to stand in one zone: a disk, the machine that it is attached to, and where a schedule is attached to it.

Source: Compute Engine API, `instances.insert`, `instances.attachDisk` and `disks.addResourcePolicies` (2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import GCP_MACHINE
from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals.rules import Rules

RULE: Final = "gcp-region"
_DISK: Final = "gcp:compute/disk:Disk"
_ATTACHED: Final = "gcp:compute/attachedDisk:AttachedDisk"
_SNAPSHOTS: Final = "gcp:compute/diskResourcePolicyAttachment:DiskResourcePolicyAttachment"


def disks(view: View) -> None:
    """Disks of a machine are of its zone."""
    for path, _ in view.items("attachedDisks"):
        _of_zone(view, f"{path}.source", view.text("zone"), view.name)
    _of_zone(view, "bootDisk.source", view.text("zone"), view.name)


def attached(view: View) -> None:
    """A disk that is attached by itself is of the machine's zone."""
    machine = view.referred("instance", GCP_MACHINE)
    if machine is not None:
        _of_zone(view, "disk", machine.text("zone"), machine.name)


def snapshots(view: View) -> None:
    """A schedule is attached to a disk where the disk is."""
    _of_zone(view, "disk", view.text("zone"), "the attachment")


def _of_zone(view: View, path: str, own: str | None, title: str) -> None:
    disk = view.referred(path, _DISK)
    theirs = disk.text("zone") if disk is not None else None
    if disk is not None and own and theirs and own.rpartition("/")[2] != theirs.rpartition("/")[2]:
        view.error(RULE, path, f"disk {disk.name} is in {theirs}, and {title} in {own}", allowed=f"a disk of {own}")


RULES: Final[Rules] = {
    disks: (GCP_MACHINE,),
    attached: (_ATTACHED,),
    snapshots: (_SNAPSHOTS,),
}
