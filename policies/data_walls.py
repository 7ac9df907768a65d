"""Data: the walls between teams in what they share. Whose a volume is, and who writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.conventions import TEAM_LABEL
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, is_set, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE, VOLUME

S3_DRIVER, EFS_DRIVER = "s3.csi.aws.com", "efs.csi.aws.com"

_READ_ONLY_OPTIONS = frozenset({"ro", "read-only"})


@resource_rule(
    "volume-for-any-claim",
    "A volume says which claim of which namespace may have it.",
    types=(VOLUME,),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-4", "ISO 27001:2022 A.8.3"),
    fix="Give the volume a claimRef with namespace and name.",
)
def volume_for_any_claim(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Without one, the first claim that fits takes it, in whatever namespace it is."""
    missing = [key for key in ("namespace", "name") if not is_set(resource.inputs, "spec", "claimRef", key)]
    if missing:
        yield f"claimRef names no {' and no '.join(missing)}: any claim may take it"


@resource_rule(
    "volume-with-the-drivers-rights",
    "A volume shows what its own pods may see, not all that the storage driver or the node reaches.",
    types=(VOLUME,),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="S3: authenticationSource pod. EFS: an access point in volumeHandle, mount option iam. No nfs, no hostPath.",
)
def volume_with_the_drivers_rights(resource: RecordedResource, _: Config) -> Iterator[str]:
    """A bucket is mounted by the pod's role; a file system through the access point of one directory, by a role."""
    spec = value_at(resource.inputs, "spec")
    for kind in ("nfs", "hostPath", "local"):
        if value_at(spec, kind) is not None:
            yield f"{kind} shows whatever the node reaches"
    driver = value_at(spec, "csi", "driver")
    if driver == S3_DRIVER and value_at(spec, "csi", "volumeAttributes", "authenticationSource") != "pod":
        yield "authenticationSource is not pod: every pod sees what the driver may read"
    if driver == EFS_DRIVER:
        if not _access_point(spec):
            yield "names no access point: it shows the whole file system"
        if "iam" not in list_at(spec, "mountOptions"):
            yield "is mounted without iam: anonymous, whoever mounts it"
        if str(value_at(spec, "csi", "volumeAttributes", "encryptInTransit")).lower() == "false":
            yield "encryptInTransit is off"


def _access_point(spec: Any) -> str:
    handle = str(value_at(spec, "csi", "volumeHandle", default=""))
    point = handle.split(":")[2] if handle.count(":") == 2 else ""
    options = [str(each) for each in list_at(spec, "mountOptions")]
    return point or next((each for each in options if each.lower().startswith("accesspoint=")), "")


@stack_rule(
    "team-writes-what-others-read",
    "What several namespaces mount, no team's namespace may write.",
    types=(VOLUME, NAMESPACE),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Mount shared data read-only (csi.readOnly; mount option ro or read-only), or give the team its own folder.",
)
def team_writes_what_others_read(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """An access mode does not bind a pod: it says where a claim binds. What counts is what the driver mounts by."""
    teams = {
        str(value_at(namespace.inputs, "metadata", "name"))
        for namespace in resources.of(NAMESPACE)
        if is_set(mapping_at(namespace.inputs, "metadata", "labels"), TEAM_LABEL)
    }
    places = [
        (volume, str(value_at(volume.inputs, "spec", "claimRef", "namespace", default="")), place)
        for volume in resources.of(VOLUME)
        if (place := _place(value_at(volume.inputs, "spec")))
    ]
    for volume, namespace, place in places:
        if namespace not in teams or _read_only(value_at(volume.inputs, "spec")):
            continue
        others = sorted({other for _, other, seen in places if other != namespace and _meet(place, seen)})
        if others:
            yield volume, f"{namespace} writes what {', '.join(others)} mounts too"


def _place(spec: Any) -> tuple[str, ...]:
    """Where the files of a CSI volume are: driver, store, and the folders on the way; empty for another kind."""
    csi = value_at(spec, "csi")
    if csi is None:
        return ()
    driver, attributes = str(value_at(csi, "driver")), mapping_at(csi, "volumeAttributes")
    if driver == S3_DRIVER:
        options = [str(option) for option in list_at(spec, "mountOptions")]
        prefix = next((option.split(maxsplit=1)[1] for option in options if option.startswith("prefix ")), "")
        return (driver, str(attributes.get("bucketName")), *filter(None, prefix.split("/")))
    if is_set(attributes, "dnsname"):
        return (
            driver,
            str(value_at(attributes, "dnsname")),
            *filter(None, str(value_at(attributes, "mountname")).split("/")),
        )
    return (driver, str(value_at(csi, "volumeHandle")))


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one of two places is in the other."""
    least = min(len(one), len(other))
    return one[:least] == other[:least]


def _read_only(spec: Any) -> bool:
    options = {str(option) for option in list_at(spec, "mountOptions")}
    return is_on(spec, "csi", "readOnly") or bool(options & _READ_ONLY_OPTIONS)
