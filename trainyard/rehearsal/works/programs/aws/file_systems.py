"""Directories of a Lustre file system that pods mount, against those that its links to buckets make.

Source: FSx for Lustre user guide, "Linking your file system to an Amazon S3 bucket": a link makes the directory of its
`fileSystemPath`; a new file system has no other. A mount of a directory that is not there fails. EFS user guide, "Using
IAM to control access to file systems": with the mount option `iam`, `tls` is needed (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.drivers import EFS_DRIVER
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import (
    BUCKET_OBJECT,
    DATA_REPOSITORY_ASSOCIATION,
    EFS,
    EFS_ACCESS_POINT,
    IAM_POLICY,
    LUSTRE,
    ROLE_POLICY,
    VOLUME,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.workloads.read import workloads

_DRIVER: Final = "fsx.csi.aws.com"
_S3: Final = re.compile(r"s3://(?P<bucket>[a-z0-9.-]+)/?(?P<prefix>[\w.-]*)/?.*")


def check(stack: Stack) -> None:
    """Every volume of a recorded file system that has links, and every one that signs its requests."""
    for view in stack.of_type(VOLUME):
        signs = "iam" in view.texts("spec.mountOptions") and view.text("spec.csi.driver") == EFS_DRIVER
        if signs and str(view.value("spec.csi.volumeAttributes.encryptInTransit")).lower() == "false":
            view.error(
                "programs-mount", "spec.csi.volumeAttributes.encryptInTransit",
                "is off, and the mount option iam works over TLS alone: no pod mounts it", allowed="true",
            )  # fmt: skip
    for point in stack.of_type(EFS_ACCESS_POINT):
        _owned(point)
        _is_there(point, stack)
    _imported(stack)
    _folders(stack)
    volumes = [view for view in stack.of_type(VOLUME) if view.text("spec.csi.driver") == _DRIVER]
    for system in stack.of_type(LUSTRE):
        ids = {str(system.resource.id), str(system.resource.outputs.get("dnsName"))} - {"None"}
        links = [
            link
            for link in stack.of_type(DATA_REPOSITORY_ASSOCIATION)
            if link.referred("fileSystemId", LUSTRE) is system
        ]
        paths = [link.text("fileSystemPath") for link in links]
        mine = [view for view in volumes if _is_of(view, ids)]
        whole = [view for view in mine if not _directory(view)]
        if not links or None in paths or whole or any(path == "/" for path in paths):
            continue  # whoever mounts the whole of it makes directories
        for view in mine:
            directory = _directory(view)
            if not any(_holds(str(path), directory) for path in paths):
                view.error(
                    "programs-directory",
                    "spec.csi.volumeAttributes.mountname",
                    f"mounts {show(directory)}, and nothing makes that directory on {system.name}: its links are "
                    f"{', '.join(sorted(map(str, paths)))}",
                    allowed=f"one of {', '.join(sorted(map(str, paths)))}",
                )


def _owned(point: View) -> None:
    """Whoever comes through an access point is its user, and its directory is made with an owner and a mode.

    A warning: by one of two access points of a directory others may well only read what the first one's user writes.
    """
    user, group = point.number("posixUser.uid"), point.number("posixUser.gid")
    made = "rootDirectory.creationInfo"
    owner, owners = point.number(f"{made}.ownerUid"), point.number(f"{made}.ownerGid")
    mode = point.text(f"{made}.permissions") or ""
    if None in (user, group, owner, owners) or re.fullmatch(r"[0-7]{3,4}", mode) is None or user == 0:
        return
    bits = int(mode[-3:], 8)
    groups = {group, *map(as_number, point.entries("posixUser.secondaryGids"))}
    mine = bits >> 6 if user == owner else bits >> 3 if owners in groups else bits
    if mine & 0o3 != 0o3:
        point.warning(
            "programs-mount", f"{made}.permissions",
            f"is {mode} of user {owner:g} and group {owners:g}: user {user:g}, as whom all come in, cannot write there",
            allowed=f"ownerUid {user:g}, ownerGid {group:g} and permissions such as 0770",
        )  # fmt: skip


def _folders(stack: Stack) -> None:
    """Folders of a linked bucket that belong to a user as whom no recorded pod runs, and are shut to all others.

    FSx takes owner, group and permissions from an object's metadata (its user guide, "POSIX metadata support for data
    repositories", 2026-11).
    """
    folders = [
        (
            view,
            view.text("metadata.file-owner"),
            view.text("metadata.file-group"),
            view.text("metadata.file-permissions"),
        )
        for view in stack.of_type(BUCKET_OBJECT)
        if view.text("metadata.file-owner")
    ]
    if not folders or not stack.of_type(DATA_REPOSITORY_ASSOCIATION):
        return
    users, groups = _as_whom(stack)
    for view, owner, group, mode in folders:
        shut = re.fullmatch(r"[0-7]*[0-7][0-7]([0145])", mode or "") is not None
        if users and shut and owner not in users and group is not None and group not in groups and owner != "0":
            view.warning(
                "programs-mount", "metadata.file-owner",
                f"user {owner} and group {group} alone write there, and recorded pods run as "
                f"{', '.join(sorted(users)[:4])}: they cannot", allowed=f"one of {', '.join(sorted(users)[:4])}",
            )  # fmt: skip


def _as_whom(stack: Stack) -> tuple[set[str], set[str]]:
    """Users and groups of all recorded pods."""
    users: set[str] = set()
    groups: set[str] = set()
    for workload in workloads(stack.resources):
        contexts = [follow(workload.spec, "securityContext")]
        contexts += [follow(container, "securityContext") for _, container in workload.containers()]
        for one in contexts:
            users |= {str(found) for found in (follow(one, "runAsUser"),) if isinstance(found, int)}
            more = follow(one, "supplementalGroups")
            given = [follow(one, "runAsGroup"), follow(one, "fsGroup"), *(more if isinstance(more, list) else ())]
            groups |= {str(found) for found in given if isinstance(found, int)}
    return users, groups


def _is_there(point: View, stack: Stack) -> None:
    """A directory that no access point makes, on a file system that this stack makes and nobody mounts from its root.

    Without `creationInfo` EFS does not make it, and whoever mounts through the access point is refused (EFS user guide,
    "Creating access points", 2026-11). A warning: a job elsewhere may mount the root and make it.
    """
    system, path = point.referred("fileSystemId", EFS), point.text("rootDirectory.path")
    if system is None or system.resource.read or path in (None, "/") or not point.lacks("rootDirectory.creationInfo"):
        return
    others = [one for one in stack.of_type(EFS_ACCESS_POINT) if one.referred("fileSystemId", EFS) is system]
    made = [one.text("rootDirectory.path") or "" for one in others if not one.lacks("rootDirectory.creationInfo")]
    roots = any(one.text("rootDirectory.path") in (None, "/") for one in others)
    whole = any(view.text("spec.csi.volumeHandle") == str(system.resource.id) for view in stack.of_type(VOLUME))
    if not roots and not whole and not any(f"{one}/".startswith(f"{path}/") for one in made):
        point.warning(
            "programs-directory", "rootDirectory.creationInfo",
            f"is missing, and nothing of the stack makes {show(path)} on {system.name}: whoever mounts through it is "
            "refused", allowed="ownerUid, ownerGid and permissions, with which EFS makes it",
        )  # fmt: skip


def _beside(stack: Stack, links: list[tuple[View, re.Match[str] | None]]) -> None:
    """Folders that the stack makes in a bucket with the owners that Lustre knows are below a path that is linked."""
    paths = [(link.text("dataRepositoryPath") or "").removeprefix("s3://").rstrip("/") for link, _ in links]
    if not all(paths):
        return
    for one in stack.of_type(BUCKET_OBJECT):
        bucket, key = one.text("bucket"), one.text("key")
        mine = [path for path in paths if path.partition("/")[0] == bucket]
        if one.mapping("metadata").get("user-agent") != "aws-fsx-lustre" or not mine or key is None:
            continue
        if not any(f"{bucket}/{key}".startswith(f"{path}/") for path in mine):
            message = f"is a folder of Lustre at {show(key)}, which no link brings there: {', '.join(sorted(mine))}"
            one.error("programs-directory", "key", message, hint="below a linked path, or a link of its own")


def _imported(stack: Stack) -> None:
    """A link to a prefix of a bucket that is nearly one that roles and volumes of the stack name."""
    links = [
        (link, _S3.fullmatch(link.text("dataRepositoryPath") or ""))
        for link in stack.of_type(DATA_REPOSITORY_ASSOCIATION)
    ]
    if not any(found for _, found in links):
        return
    _beside(stack, links)
    texts = " ".join(
        str(dict(view.inputs)) for view in stack.views if view.type in (ROLE_POLICY, IAM_POLICY, BUCKET_OBJECT)
    )
    for link, found in links:
        brings = link.flag("batchImportMetaDataOnCreate") or link.has("s3.autoImportPolicy")
        writes = link.has("s3.autoExportPolicy")
        if not brings and not writes and not link.is_unknown("batchImportMetaDataOnCreate"):
            link.warning(
                "programs-directory", "s3.autoImportPolicy",
                "nothing is brought from the bucket, now or later: whoever mounts the directory finds it empty",
                allowed="autoImportPolicy, or batchImportMetaDataOnCreate",
            )  # fmt: skip
        if found is None or not found["prefix"]:
            continue
        name = re.escape(found["bucket"])
        objects = [
            one.text("key") or "" for one in stack.of_type(BUCKET_OBJECT) if one.text("bucket") == found["bucket"]
        ]
        known = {*re.findall(rf":::{name}/([\w.-]+)/", texts), *(key.partition("/")[0] for key in objects)}
        near = nearest_of(found["prefix"], known) if found["prefix"] not in known else ""
        if near:
            link.warning(
                "programs-directory", "dataRepositoryPath",
                f"links {show(found['prefix'])} of bucket {found['bucket']}, where nobody of the stack reads or writes",
                hint=f"did you mean {near}?",
            )  # fmt: skip


def _is_of(view: View, ids: set[str]) -> bool:
    name, handle = view.text("spec.csi.volumeAttributes.dnsname"), view.text("spec.csi.volumeHandle")
    return any(name == one or (name or "").startswith(f"{one}.") or (handle or "").startswith(one) for one in ids)


def _directory(view: View) -> str:
    """Below the mount name: `/data` of `abcdef01/data`."""
    rest = (view.text("spec.csi.volumeAttributes.mountname") or "").partition("/")[2].strip("/")
    return f"/{rest}" if rest else ""


def _holds(path: str, directory: str) -> bool:
    path = path.rstrip("/")
    return f"{directory}/".startswith(f"{path}/") or f"{path}/".startswith(f"{directory}/")
