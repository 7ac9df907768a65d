"""Whose folder of a bucket or a file system a team's volume shows, and whether anybody puts data where one reads them.

Each driver has its own place for a folder; that of EFS may be told an access point, whose directory the stack gives.

Sources: documentation of Mountpoint for S3 (`prefix`), GCS FUSE (`only-dir`), the drivers for FSx for Lustre
(`mountname`), EFS (`fs-ID:PATH`, `fs-ID::fsap-ID`), Managed Lustre (`filesystem`) and Filestore (`volume`), as
generally known (2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.conventions import TEAM_LABEL
from trainyard.recorded.drivers import EFS_DRIVER
from trainyard.recorded.read import follow, known_texts
from trainyard.recorded.types import EFS_ACCESS_POINT
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_ATTRIBUTES: Final = "spec.csi.volumeAttributes"
_CLAIM: Final = "spec.claimRef.name"
_HANDLE: Final = "spec.csi.volumeHandle"
_OPTIONS: Final = ("only-dir=", "prefix ", "--prefix ", "prefix=", "--prefix=")


def check(cluster: Cluster) -> None:
    """Every volume of a driver that shows one folder."""
    _made(cluster)
    teams = {
        name: str(labels[TEAM_LABEL]) for name, labels in cluster.labels_of_namespaces.items() if TEAM_LABEL in labels
    }
    writes: dict[str, set[str]] = {}
    named: dict[tuple[str, str | None], set[str]] = {}  # by place and name of the claim, whoever mounts it to write
    reads: dict[str, list[tuple[View, str, str]]] = {}
    for view in cluster.of("PersistentVolume"):
        path, folder = folder_of(view, cluster)
        if folder is None:
            continue
        if (view.text(path) or "").startswith("only-dir=/"):  # `path.Clean` keeps it (gcsfuse, bucket_manager.go)
            view.error(
                "reference-team-folder", path, f"got {show(view.text(path))}: names of objects begin with no slash, so "
                "that nothing is found in it", allowed=f"only-dir={folder}",
            )  # fmt: skip
        where = f"{view.text('spec.csi.driver')} {view.text(f'{_ATTRIBUTES}.bucketName') or view.text(_HANDLE)}"
        place = view.text("spec.claimRef.namespace") or ""
        only_read = view.flag("spec.csi.readOnly") is True or view.texts("spec.accessModes") == ["ReadOnlyMany"]
        if only_read:
            reads.setdefault(where, []).append((view, path, folder))
        else:
            writes.setdefault(where, set()).add(folder)
            named.setdefault((where, view.text(_CLAIM)), set()).add(folder)
        last = folder.rpartition("/")[2]
        own = teams.get(place)
        if not only_read and own is not None and last != own and last in teams.values():
            words = f"is mounted by team {own}, to write, and the folder is that of team {last}"
            view.error("reference-team-folder", path, words, allowed=f"the folder of {own}")
    for where, volumes in reads.items():
        filled = writes.get(where, set())
        empty = [one for one in volumes if not any(_overlap(one[2], other) for other in filled)]
        # People and other programs fill folders too: one of another name is theirs, a misspelt one is nobody's.
        for view, path, folder in empty:
            meant = nearest_of(folder, filled)
            if meant and sum(one[2] == folder for one in volumes) == 1:
                words = f"reads {show(folder)}, and what is mounted to write is {', '.join(sorted(filled))}"
                view.error("reference-team-folder", path, f"{words}: it stays empty", hint=f"did you mean {meant}?")
            else:
                _apart(view, path, folder, named.get((where, view.text(_CLAIM)), set()), volumes)


def _apart(view: View, path: str, folder: str, filled: set[str], volumes: list[tuple[View, str, str]]) -> None:
    """One claim among others of its name, all of which show what a claim of that name is written by."""
    peers = [it for one, _, it in volumes if one is not view and one.text(_CLAIM) == view.text(_CLAIM)]
    if filled and len(peers) > 1 and all(any(_overlap(peer, one) for one in filled) for peer in peers):
        words = f"shows {show(folder)} alone, and claims of that name elsewhere {', '.join(sorted(filled))}"
        view.warning("reference-team-folder", path, f"{words}: nothing of the stack writes there")


def _made(cluster: Cluster) -> None:
    """The folders of a file system that a job of the stack makes, told one by one, are all that are mounted of it.

    Such a job mounts the whole; a folder that nobody makes cannot be mounted, and no pod with the volume starts. One
    that any program with the whole mounted says in another way, say within a script, may be made by that.
    """
    mounted: dict[tuple[str, ...], list[tuple[View, str, str]]] = {}
    for view in cluster.of("PersistentVolume"):
        path, folder = folder_of(view, cluster)
        system = _system(view)
        if folder is not None and system is not None:
            mounted.setdefault(system, []).append((view, path, folder))
    makers: dict[tuple[str, ...], list[tuple[Pod, str]]] = {}  # by file system, with all that their programs are told
    for pod in cluster.pods if mounted else ():
        for system in _wholes(pod, cluster) & mounted.keys():
            makers.setdefault(system, []).append((pod, _said(pod)))
    for system, volumes in mounted.items():
        found = makers.get(system, ())
        said = "\0".join(text for _, text in found)
        words = {word.strip("/") for word in said.split("\0")}
        told = {folder for _, _, folder in volumes if folder in words}
        for view, path, folder in volumes if told else ():
            if folder not in said:
                titles = ", ".join(pod.title for pod, text in found if any(one in text for one in told))
                view.error(
                    "reference-team-folder", path,
                    f"nobody makes the folder {show(folder)}: {titles} makes {', '.join(sorted(told)[:3])} there, and "
                    "without it nothing is mounted",
                )  # fmt: skip


def _said(pod: Pod) -> str:
    """All texts of a pod's programs, each with a null character after it."""
    keys = ("command", "args", "env")
    return "".join(f"{text}\0" for one in pod.containers for key in keys for _, text in known_texts(one.body.get(key)))


def _wholes(pod: Pod, cluster: Cluster) -> set[tuple[str, ...]]:
    """The file systems of which a pod mounts all."""
    found = set()
    for volume in listed(pod.spec.get("volumes")):
        name = follow(volume, "persistentVolumeClaim", "claimName")
        claim = cluster.find("PersistentVolumeClaim", pod.namespace or "", name) if isinstance(name, str) else None
        bound = cluster.find("PersistentVolume", "", claim.text("spec.volumeName") or "") if claim is not None else None
        system = _system(bound) if bound is not None else None
        if bound is not None and system is not None and folder_of(bound, cluster)[1] is None:
            found.add(system)
    return found


def _system(view: View) -> tuple[str, ...] | None:
    """The file system of a volume, by its address and name."""
    given = view.mapping(_ATTRIBUTES)
    where = given.get("ip") or given.get("dnsname")
    name = next((given[key] for key in ("filesystem", "volume", "mountname") if isinstance(given.get(key), str)), None)
    return (where, name.partition("/")[0]) if isinstance(where, str) and isinstance(name, str) else None


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def folder_of(view: View, cluster: Cluster) -> tuple[str, str | None]:
    """What input says which folder a volume shows, and the folder without slashes around it; None: the whole, or it is
    not known."""
    for index, option in enumerate(view.texts("spec.mountOptions")):
        for start in _OPTIONS:
            if option.startswith(start):
                return f"spec.mountOptions[{index}]", option.removeprefix(start).strip("/ ")
    for key in ("filesystem", "volume", "mountname"):
        text = view.text(f"{_ATTRIBUTES}.{key}")
        if text is not None and "/" in text:
            return f"{_ATTRIBUTES}.{key}", text.partition("/")[2].strip("/")
    handle = (view.text(_HANDLE) or "").split(":") if view.text("spec.csi.driver") == EFS_DRIVER else []
    if len(handle) == 3 and handle[2]:
        for point in cluster.stack.of_type(EFS_ACCESS_POINT):
            if point.resource.id == handle[2]:
                return _HANDLE, (point.text("rootDirectory.path") or "").strip("/") or None
    elif len(handle) > 1 and handle[1].strip("/"):
        return _HANDLE, handle[1].strip("/")
    return "", None
