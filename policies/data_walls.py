"""Data: the walls between teams in what they share. Whose a volume is, and who writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.conventions import TEAM_LABEL, team_namespace, team_prefix
from trainyard.policies.data_volumes import EFS_DRIVER, FUSE_DRIVER, S3_DRIVER
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, is_set, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EFS, EFS_ACCESS_POINT, NAMESPACE, VOLUME

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


@stack_rule(
    "team-writes-what-others-read",
    "What several namespaces mount, no team's namespace may write.",
    types=(VOLUME, NAMESPACE, EFS, EFS_ACCESS_POINT),
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
        if (place := _of_a_point(volume, resources) or _place(value_at(volume.inputs, "spec")))
    ]
    for volume, namespace, place in places:
        theirs = next((team for team in sorted(teams - {namespace}) if _is_of(place, team)), None)
        if namespace in teams and theirs is not None:
            yield volume, f"{namespace} mounts the folder of {theirs}"
    for volume, namespace, place in places:
        if namespace not in teams or _read_only(value_at(volume.inputs, "spec")):
            continue
        others = sorted({other for _, other, seen in places if other != namespace and _meet(place, seen)})
        if others:
            yield volume, f"{namespace} writes what {', '.join(others)} mounts too"


def _of_a_point(volume: RecordedResource, resources: Resources) -> tuple[str, ...]:
    """Where the files of an EFS volume are: the folder of the one access point that it is made of."""
    points = resources.referred(volume, "spec", EFS_ACCESS_POINT)
    if value_at(volume.inputs, "spec", "csi", "driver") != EFS_DRIVER or len(points) != 1:
        return ()
    systems = [system.urn for system in resources.referred(points[0], "fileSystemId", EFS)]
    folder = str(value_at(points[0].inputs, "rootDirectory", "path", default="/"))
    return (EFS_DRIVER, *systems, *filter(None, folder.split("/")))


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
    if driver == FUSE_DRIVER:
        options = [str(option) for option in list_at(spec, "mountOptions")]
        folder = next((option.partition("=")[2] for option in options if option.startswith("only-dir=")), "")
        return (driver, str(value_at(csi, "volumeHandle")), *filter(None, folder.split("/")))
    if is_set(attributes, "dnsname"):
        return (
            driver,
            str(value_at(attributes, "dnsname")),
            *filter(None, str(value_at(attributes, "mountname")).split("/")),
        )
    return (driver, str(value_at(csi, "volumeHandle")))


def _is_of(place: tuple[str, ...], namespace: str) -> bool:
    """Whether a place is below the folder of the team of a namespace."""
    folders = tuple(team_prefix(namespace.removeprefix(team_namespace(""))).strip("/").split("/"))
    return any(place[at : at + len(folders)] == folders for at in range(2, len(place)))


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one of two places is in the other."""
    least = min(len(one), len(other))
    return one[:least] == other[:least]


def _read_only(spec: Any) -> bool:
    options = {str(option) for option in list_at(spec, "mountOptions")}
    return is_on(spec, "csi", "readOnly") or bool(options & _READ_ONLY_OPTIONS)
