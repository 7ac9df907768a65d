"""Parameters of storage classes that a driver cannot do without, or that go with others or with one type of disk.

Sources: kubernetes-sigs/aws-ebs-csi-driver, docs/parameters.md and `CreateDisk` (what is not given is not sent, and EC2
wants IOPS for io1 and io2; `iops` beside `iopsPerGB` is refused; gp2, st1, sc1 and standard are sent neither, and
throughput goes with gp3 alone); Amazon EBS user guide, "Amazon EBS volume types" (a gp3 has 3,000 to 80,000 IOPS and
125 to 2,000 MiB/s); kubernetes-sigs/aws-efs-csi-driver, `CreateVolume`; Compute Engine, "About Hyperdisk" and "Extreme
Persistent Disk": the API refuses provisioned IOPS and throughput of other disks (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.drivers import EBS_DRIVER, PD_DRIVER
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_GP3: Final = {"iops": (3000, 80000), "throughput": (125, 2000)}
_OF_IOPS: Final = ("gp3", "io1", "io2")
_NEEDS_IOPS: Final = ("io1", "io2")
_NEEDED: Final = {"efs.csi.aws.com": ("provisioningMode", "fileSystemId")}
"""What a class says that has parameters at all: one without is of volumes that somebody records."""
_SPEEDS: Final = {
    "provisioned-iops-on-create": ("pd-extreme", "hyperdisk-balanced", "hyperdisk-extreme"),
    "provisioned-throughput-on-create": ("hyperdisk-balanced", "hyperdisk-ml", "hyperdisk-throughput"),
}
"""By parameter the types of disks that it is of, and those whose names begin so."""


def check(cluster: Cluster) -> None:
    """Every class whose parameters are known by name."""
    for view in cluster.of("StorageClass"):
        driver, given = view.text("provisioner"), view.mapping("parameters")
        if driver is None or view.is_unknown("parameters"):
            continue
        for key in _NEEDED.get(driver, ()) if given else ():
            if key not in given:
                view.error(
                    "programs-storage-class", f"parameters.{key}", "is missing: the driver makes no volume without it",
                    allowed=" and ".join(_NEEDED[driver]),
                )  # fmt: skip
        if driver == EBS_DRIVER:
            _ebs(view, given)
        elif driver == PD_DRIVER:
            _pd(view, given)


def _ebs(view: View, given: Mapping[str, Any]) -> None:
    kind = given.get("type", "gp3")
    said = {str(key).lower(): str(key) for key in given}
    iops, a_gib = said.get("iops"), said.get("iopspergb")
    if kind in _NEEDS_IOPS and iops is None and a_gib is None:
        view.error(
            "programs-storage-class", "parameters.iops", f"is missing for {kind}: EC2 makes no such disk",
            allowed="iops or iopsPerGB",
        )  # fmt: skip
    if iops is not None and a_gib is not None:
        view.error(
            "programs-storage-class", f"parameters.{a_gib}", "is given beside iops: the driver makes no volume",
            allowed="one of the two",
        )  # fmt: skip
    for key, kinds in ((iops, _OF_IOPS), (a_gib, _OF_IOPS), (said.get("throughput"), ("gp3",))):
        if key is not None and isinstance(kind, str) and kind not in kinds:
            view.warning(
                "programs-storage-class", f"parameters.{key}",
                f"is not sent for {show(kind)}: its disks are as fast as without it",
                allowed=f"with type {', '.join(kinds)}",
            )  # fmt: skip
    for key, (least, most) in _GP3.items() if kind == "gp3" else ():
        number = as_number(given.get(key))
        if number is not None and not least <= number <= most:
            view.error(
                "programs-storage-class", f"parameters.{key}", f"is {number:g}: EC2 makes no such gp3",
                allowed=f"{least} to {most}",
            )  # fmt: skip


def _pd(view: View, given: Mapping[str, Any]) -> None:
    kind = given.get("type", "pd-standard")
    for key, kinds in _SPEEDS.items():
        if key in given and isinstance(kind, str) and kind != "dynamic" and not kind.startswith(kinds):
            view.error(
                "programs-storage-class", f"parameters.{key}",
                f"is given for {show(kind)}, whose speed goes by its size: Compute Engine makes no such disk",
                allowed=f"with type {', '.join(kinds)}",
            )  # fmt: skip
