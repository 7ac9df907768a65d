"""Whose a bucket's files are where it is mounted: pods that run as somebody else cannot read or write them.

Drivers of buckets make up an owner, a group and modes, which `mountOptions` say; what these do not say a driver takes
from the pod's `fsGroup`, where it has one. Sources: Cloud Storage FUSE, "Permissions" (`uid`, `gid`, `file-mode` 644,
`dir-mode` 755), and GKE, "Cloud Storage FUSE CSI driver" (non-root users); Mountpoint for S3, `doc/CONFIGURATION.md`,
"File and directory permissions", as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.drivers import FUSE_DRIVER, S3_DRIVER
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_OPTION: Final = re.compile(
    r"(?:--)?(?P<key>[ug]id(?=[ =]\d+$)|(?:file|dir)-mode(?=[ =][0-7]{3,4}$))[ =](?P<value>\d+)"
)
_MODES: Final = {"file-mode": 0o644, "dir-mode": 0o755}
_ENTERED, _CHANGED = 0o5, 0o3
"""What a folder lets those do who list it, and who make files in it."""
_READ: Final = 0o4
_ROOT: Final = 0


def check(cluster: Cluster) -> None:
    """Every recorded volume that is a bucket and says whose its files are."""
    for view in cluster.of("PersistentVolume"):
        if view.text("spec.csi.driver") not in (FUSE_DRIVER, S3_DRIVER) or view.blurred("spec.mountOptions"):
            continue
        said = {
            found["key"]: found["value"]
            for option in view.texts("spec.mountOptions")
            if (found := _OPTION.fullmatch(option))
        }
        if "uid" in said:
            _volume(view, said, cluster)


def _volume(view: View, said: Mapping[str, str], cluster: Cluster) -> None:
    place, claim = view.text("spec.claimRef.namespace"), view.text("spec.claimRef.name")
    writes = view.flag("spec.csi.readOnly") is not True and view.texts("spec.accessModes") != ["ReadOnlyMany"]
    for pod in cluster.pods_by_namespace.get(place or "", ()) if claim is not None else ():
        for container, is_written in _mounts(pod, claim or ""):
            why = _shut_out(pod, container, said, writes=writes and is_written)
            if why:
                view.error(
                    "programs-mount-owner",
                    "spec.mountOptions",
                    f"{pod.title} {why}",
                    allowed="the pods' own uid and gid, or none of both, with which the pods' fsGroup is taken",
                )
                return


def _mounts(pod: Pod, claim: str) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The containers that mount a claim, and whether they write there."""
    names = {
        volume.get("name")
        for volume in listed(pod.spec.get("volumes"))
        if follow(volume, "persistentVolumeClaim", "claimName") == claim
        and follow(volume, "persistentVolumeClaim", "readOnly") is not True
    }
    for container in pod.containers:
        for mount in listed(container.body.get("volumeMounts")):
            if isinstance(mount, Mapping) and mount.get("name") in names:
                yield container.body, mount.get("readOnly") is not True


def _shut_out(pod: Pod, container: Mapping[str, Any], said: Mapping[str, str], *, writes: bool) -> str:
    """Why a container cannot use the files; empty where it can, or that is not known."""
    of_pod, own = pod.spec.get("securityContext"), container.get("securityContext")
    if UNKNOWN in (of_pod, own):
        return ""
    given = {**(of_pod if isinstance(of_pod, Mapping) else {}), **(own if isinstance(own, Mapping) else {})}
    named = [given.get(key) for key in ("runAsUser", "runAsGroup", "fsGroup")]
    if UNKNOWN in named:
        return ""
    user, group, of_files = map(as_number, named)
    further = listed(given.get("supplementalGroups"))
    if user in (None, _ROOT) or (of_files is not None and not {"gid", *_MODES} <= set(said)):
        return ""
    owner, owners = int(said["uid"]), int(said.get("gid", _ROOT))
    is_member = owners in {group, of_files, *map(as_number, further)}
    may = {
        key: _of_whom(int(said[key], 8) if key in said else mode, user == owner, is_member, group is None)
        for key, mode in _MODES.items()
    }
    wanted = _ENTERED | (_CHANGED if writes else 0)
    if may["dir-mode"] & wanted == wanted and may["file-mode"] & _READ:
        return ""
    return f"runs as user {user:g}, and files are of user {owner} and group {owners} alone: it cannot " + (
        "write there" if may["dir-mode"] & _ENTERED == _ENTERED and may["file-mode"] & _READ else "read them"
    )


def _of_whom(mode: int, is_owner: bool, is_member: bool, may_be_member: bool) -> int:
    """What a mode lets somebody do; the most of it, where the image says which group that is."""
    if is_owner:
        return mode >> 6 & 0o7
    if is_member:
        return mode >> 3 & 0o7
    return (mode >> 3 | mode) & 0o7 if may_be_member else mode & 0o7
