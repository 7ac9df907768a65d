"""Files that pods mount: their mode, who may read them, and whether they are where the program looks.

Source: Kubernetes documentation, "Volumes", "Secrets", "Configure a Security Context", as generally known. A mode that
is written in decimal is meant in octal nearly always: 644 is 0o1204, which its owner may only write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import as_number, known_texts
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.near import is_near
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod
from trainyard.rehearsal.works.references.kubernetes.keys import keys_of

_MODES: Final = frozenset({400, 440, 444, 500, 550, 555, 600, 640, 644, 660, 664, 666, 700, 750, 755, 770, 775, 777})
"""Modes as people say them, in octal digits: none of them is one that is meant where it stands in decimal."""
_FOLDER: Final = re.compile(r"/[\w-]{6,}")
PATH: Final = re.compile(r"(?<![\w.:/~$}-])(/[\w.-]+(?:/[\w.-]+)+)")
_FILES: Final = ("configMap", "secret", "projected", "downwardAPI")
_ROOT: Final = 0
_MOVED: Final = 0.6


@dataclass(frozen=True, slots=True)
class _Mount:
    path: str  # of the mount, in the container
    where: str  # in the inputs
    names: frozenset[str] | None  # of the files in it; None: not known
    volume: str
    is_key: bool  # a single file, by subPath


def check(cluster: Cluster) -> None:
    """Every check of a file."""
    for pod in cluster.pods:
        _modes(pod)
        _readable(pod)
        volumes = {
            volume["name"]: volume
            for _, volume in pod.view.items(f"{pod.path}.volumes")
            if isinstance(volume.get("name"), str)
        }
        for container in pod.containers:
            mounts = list(_mounts(pod, container, volumes, cluster))
            _sub_paths(pod, container, volumes, cluster)
            _looked_for(pod, container, mounts)
            _unmounted(pod, container, mounts, volumes, cluster)
            _configured(pod, container, mounts)
            _over_all(pod, container)
            _twice(pod, container)


def _modes(pod: Pod) -> None:
    for path, mode in _every_mode(pod):
        number = as_number(mode)
        if number is None:
            continue
        if number in _MODES:
            octal = f"0o{int(number)}"
            pod.view.error(
                "reference-file-mode",
                path,
                f"got {int(number)}, which is {oct(int(number))} in octal",
                allowed=f"{int(octal, 8)} for {octal}",
            )
        elif not 0 <= number <= 0o777:
            pod.view.error("reference-file-mode", path, f"got {int(number)}", allowed="0 to 511 (0o777)")


def _every_mode(pod: Pod) -> Iterator[tuple[str, Any]]:
    for path, volume in pod.view.items(f"{pod.path}.volumes"):
        for kind in _FILES:
            source = volume.get(kind)
            if not isinstance(source, Mapping):
                continue
            yield f"{path}.{kind}.defaultMode", source.get("defaultMode")
            for index, item in enumerate(listed(source.get("items"))):
                if isinstance(item, Mapping):
                    yield f"{path}.{kind}.items[{index}].mode", item.get("mode")
            for index, part in enumerate(listed(source.get("sources"))):
                for key, body in part.items() if isinstance(part, Mapping) else ():
                    for place, item in enumerate(listed(body.get("items")) if isinstance(body, Mapping) else []):
                        if isinstance(item, Mapping):
                            yield f"{path}.{kind}.sources[{index}].{key}.items[{place}].mode", item.get("mode")


def _readable(pod: Pod) -> None:
    """Files of a secret belong to root, and to the pod's group where it has one; others read what others may."""
    for path, volume in pod.view.items(f"{pod.path}.volumes"):
        for kind in ("configMap", "secret", "projected"):
            source = volume.get(kind)
            mode = as_number(source.get("defaultMode")) if isinstance(source, Mapping) else None
            if mode is None or mode in _MODES or not 0 <= mode <= 0o777:
                continue
            for container in pod.containers:
                if not any(
                    isinstance(mount, Mapping) and mount.get("name") == volume.get("name")
                    for mount in listed(container.body.get("volumeMounts"))
                ):
                    continue
                why = _unreadable(pod, container, int(mode))
                if why:
                    pod.view.error(
                        "reference-unreadable-file",
                        f"{path}.{kind}.defaultMode",
                        f"container {show(container.name)} cannot read it with mode {oct(int(mode))}: {why}",
                        allowed="a mode that the container's user or group may read",
                    )
                    break


def _unreadable(pod: Pod, container: Container, mode: int) -> str:
    of_pod, own = pod.spec.get("securityContext"), container.body.get("securityContext")
    if of_pod is UNKNOWN or own is UNKNOWN:
        return ""
    given = {**(of_pod if isinstance(of_pod, Mapping) else {}), **(own if isinstance(own, Mapping) else {})}
    user = as_number(given.get("runAsUser"))
    if UNKNOWN in (given.get("runAsUser"), given.get("runAsGroup"), given.get("fsGroup")):
        return ""
    if user in (None, _ROOT):  # root, or the image's user, which nobody knows here
        return "" if user is None or mode & 0o400 or _may_override(own) else "its owner may not"
    if given.get("fsGroup") is not None:
        return ""  # files get the group, and the right to read for it
    groups = {as_number(given.get("runAsGroup"))} | set(map(as_number, listed(given.get("supplementalGroups"))))
    if mode & 0o004 or (mode & 0o040 and _ROOT in groups | {given.get("runAsGroup") or _ROOT}):
        return ""
    return f"the files belong to root, it runs as user {user:g}, and the pod has no fsGroup"


def _may_override(own: Any) -> bool:
    dropped = own.get("capabilities") if isinstance(own, Mapping) else None
    return "ALL" not in listed(dropped.get("drop") if isinstance(dropped, Mapping) else None)


def _names(pod: Pod, volume: Mapping[str, Any], cluster: Cluster) -> frozenset[str] | None:
    """The files of a volume; None where they are not known, or it is no volume of files."""
    for kind, name in (("configMap", "name"), ("secret", "secretName")):
        source = volume.get(kind)
        if isinstance(source, Mapping):
            return _of_source(pod, kind, source, name, cluster)
    projected = volume.get("projected")
    if not isinstance(projected, Mapping) or projected.get("sources") is UNKNOWN:
        return None
    found: set[str] = set()
    for part in listed(projected.get("sources")):
        for kind, source in part.items() if isinstance(part, Mapping) else ():
            if kind == "serviceAccountToken" and isinstance(source, Mapping) and isinstance(source.get("path"), str):
                found.add(source["path"])
                continue
            names = _of_source(pod, kind, source, "name", cluster) if isinstance(source, Mapping) else None
            if names is None:
                return None
            found |= names
    return frozenset(found)


def _of_source(pod: Pod, kind: str, source: Mapping[str, Any], name: str, cluster: Cluster) -> frozenset[str] | None:
    if kind not in ("configMap", "secret") or source.get("items") is UNKNOWN:
        return None
    items = [item for item in listed(source.get("items")) if isinstance(item, Mapping)]
    if items:
        paths = [item.get("path") for item in items]
        return frozenset(path for path in paths if isinstance(path, str)) if UNKNOWN not in paths else None
    if pod.namespace is None or not isinstance(source.get(name), str):
        return None
    found = cluster.find("ConfigMap" if kind == "configMap" else "Secret", pod.namespace, source[name])
    keys = keys_of(found) if found is not None else None
    return frozenset(keys) if keys is not None else None


def _mounts(
    pod: Pod, container: Container, volumes: Mapping[str, Mapping[str, Any]], cluster: Cluster
) -> Iterator[_Mount]:
    for where, mount in pod.view.items(f"{container.path}.volumeMounts"):
        at, name = mount.get("mountPath"), str(mount.get("name"))
        if not isinstance(at, str):
            continue
        sub = mount.get("subPath") or mount.get("subPathExpr")
        volume = volumes.get(name, {})
        names = None if sub else _names(pod, volume, cluster)
        yield _Mount(at.rstrip("/"), where, names, name, sub is not None)


def _sub_paths(pod: Pod, container: Container, volumes: Mapping[str, Mapping[str, Any]], cluster: Cluster) -> None:
    """A `subPath` that is no file of a config map's or secret's volume is made as an empty folder."""
    for where, mount in pod.view.items(f"{container.path}.volumeMounts"):
        sub, volume = mount.get("subPath"), volumes.get(str(mount.get("name")))
        if not isinstance(sub, str) or not sub or volume is None:
            continue
        if sub.startswith("/") or ".." in sub.split("/"):
            pod.view.error("reference-sub-path", f"{where}.subPath", f"got {show(sub)}", allowed="a path within it")
            continue
        names = _names(pod, volume, cluster)
        if names is not None and sub not in names and not any(name.startswith(f"{sub}/") for name in names):
            pod.view.error(
                "reference-sub-path",
                f"{where}.subPath",
                f"volume {show(mount.get('name'))} has no file {show(sub)}",
                allowed=f"one of {', '.join(sorted(names)[:12])}" if names else "",
                hint=nearest(sub, names),
            )


def _said(container: Container) -> Iterator[tuple[str, str]]:
    """Every path that the container is told, with where that stands."""
    for key in ("command", "args"):
        for below, text in known_texts(container.body.get(key)):
            for path in PATH.findall(text) if len(text) < 4000 else ():
                yield f"{container.path}.{key}{below}", path
    for index, entry in enumerate(listed(container.body.get("env"))):
        value = entry.get("value") if isinstance(entry, Mapping) else None
        for path in PATH.findall(value) if isinstance(value, str) and len(value) < 4000 else ():
            yield f"{container.path}.env[{index}].value", path
    for probe in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"):
        for below, text in known_texts(container.body.get(probe)):
            if ".command" in f".{below}":
                for path in PATH.findall(text):
                    yield f"{container.path}.{probe}.{below}", path


def _looked_for(pod: Pod, container: Container, mounts: list[_Mount]) -> None:
    """A path that the program is told, below a mount whose files are all known, and none of them."""
    said = [(where, path.rstrip("./")) for where, path in (*_said(container), *_words(container))]
    used = {
        mount.path for mount in mounts for _, path in said if path == mount.path or path.startswith(f"{mount.path}/")
    }
    told: set[str] = set()
    for where, path in said:
        below = [mount for mount in mounts if path == mount.path or path.startswith(f"{mount.path}/")]
        if path in told:
            continue
        if below:
            mount = max(below, key=lambda one: len(one.path))
            file = path.removeprefix(mount.path).lstrip("/")
            names = mount.names
            if names is None or not file or mount.is_key:
                continue
            is_file = "." in file or nearest(file, names, cutoff=_MOVED)
            if file not in names and not any(name.startswith(f"{file}/") for name in names) and is_file:
                told.add(path)
                pod.view.error(
                    "reference-file",
                    where,
                    f"names {path}, and volume {show(mount.volume)} at {mount.path} has no file {show(file)}",
                    hint=nearest(file, names),
                )
            continue
        claimed = [mount for mount in mounts if mount.names is None and mount.path not in used and len(mount.path) > 6]
        meant = next((mount for mount in claimed if is_near(_head(path, mount.path), mount.path)), None)
        if meant is not None:
            told.add(path)
            pod.view.error(
                "reference-file", where, f"names {path}, and {show(meant.volume)} is mounted at {meant.path}",
                hint=f"did you mean {meant.path}?",
            )  # fmt: skip
            continue
        for mount in mounts:
            if len(mount.path) <= 6 or mount.names is None:
                continue
            if (
                (mount.path not in used and _is_moved(path, mount))
                or _is_beside(path, mount)
                or _is_elsewhere(path, mount, said)
            ):
                told.add(path)
                pod.view.error(
                    "reference-file",
                    where,
                    f"names {path}, and what holds it is mounted at {mount.path}",
                    hint=f"did you mean {mount.path}?",
                )
                break


def _unmounted(
    pod: Pod,
    container: Container,
    mounts: list[_Mount],
    volumes: Mapping[str, Mapping[str, Any]],
    cluster: Cluster,
) -> None:
    """A file that the program is told and that lies in a volume of the pod which no container mounts."""
    mounted = {
        str(mount.get("name"))
        for one in pod.containers
        for mount in listed(one.body.get("volumeMounts"))
        if isinstance(mount, Mapping)
    }
    unused = {name: _names(pod, volume, cluster) for name, volume in volumes.items() if name not in mounted}
    if not unused or has_unknown([one.body.get("volumeMounts") for one in pod.containers]):
        return
    for where, path in _said(container):
        file = path.rpartition("/")[2]
        holder = next((name for name, names in unused.items() if file in (names or ())), "")
        if holder and not any(path.startswith(f"{mount.path}/") for mount in mounts):
            pod.view.error(
                "reference-file",
                where,
                f"names {path}, and volume {show(holder)} with {show(file)} is mounted by no container",
                allowed="a volumeMount of it",
            )
            return


def _is_moved(path: str, mount: _Mount) -> bool:
    """Whether a path is that of a mount, or of a file in it, but for a slip in the mount's own path."""
    folder, _, file = path.rpartition("/")
    return is_near(path, mount.path) or (
        file in (mount.names or ()) and SequenceMatcher(None, folder, mount.path).ratio() > _MOVED
    )


def _is_beside(path: str, mount: _Mount) -> bool:
    """Whether a file of a mount is looked for in a folder beside it: `/etc/app/tls/ca.pem` of `/etc/app/auth`."""
    folder, _, file = path.rpartition("/")
    parent = mount.path.rpartition("/")[0]
    return file in (mount.names or ()) and parent.count("/") > 1 and folder.rpartition("/")[0] == parent


def _head(path: str, mount: str) -> str:
    """The beginning of a path, of as many folders as a mount's."""
    return "/".join(path.split("/")[: len(mount.split("/"))])


def _words(container: Container) -> Iterator[tuple[str, str]]:
    """Whole words that are a folder at the root."""
    for key in ("command", "args"):
        for index, text in enumerate(listed(container.body.get(key))):
            if isinstance(text, str) and _FOLDER.fullmatch(text):
                yield f"{container.path}.{key}[{index}]", text


def _is_elsewhere(path: str, mount: _Mount, said: list[tuple[str, str]]) -> bool:
    """Whether a file of a mount is looked for in the folder above it, or in one of the same name elsewhere: what no
    program copies there, since then it would be told both."""
    folder, _, file = path.rpartition("/")
    if file not in (mount.names or ()) or any(one == f"{mount.path}/{file}" for _, one in said):
        return False
    parent, _, last = mount.path.rpartition("/")
    return (folder == parent and folder.count("/") > 1) or folder.rpartition("/")[2] == last


def _configured(pod: Pod, container: Container, mounts: list[_Mount]) -> None:
    """A configuration is mounted as a file, and the program is told to read another one in the same folder."""
    said = [(where, path.rstrip("./")) for where, path in _said(container)]
    own = {mount.path for mount in mounts}
    for mount in mounts:
        folder, _, file = mount.path.rpartition("/")
        ending = file.rpartition(".")[2]
        others = [(where, path) for where, path in said if path.rpartition("/")[0] == folder and path not in own]
        beside = [one for one in mounts if one.is_key and one.path.rpartition("/")[0] == folder]
        if mount.is_key and len(others) == 1 and len(beside) == 1 and others[0][1].endswith(f".{ending}"):
            where, path = others[0]
            if not any(mount.path in text for text in (one for _, one in said)):
                pod.view.warning(
                    "reference-file", where, f"reads {path} of the image, and {mount.path} is mounted and not read",
                    allowed=mount.path,
                )  # fmt: skip


def _over_all(pod: Pod, container: Container) -> None:
    for where, mount in pod.view.items(f"{container.path}.volumeMounts"):
        if mount.get("mountPath") == "/":
            pod.view.error(
                "reference-mount", f"{where}.mountPath",
                "is /: no container starts with a volume over all of its image",
                allowed="a directory",
            )  # fmt: skip


def _twice(pod: Pod, container: Container) -> None:
    seen: set[str] = set()
    for where, mount in pod.view.items(f"{container.path}.volumeMounts"):
        at = mount.get("mountPath")
        if not isinstance(at, str):
            continue
        if at in seen:
            pod.view.error("reference-mount", f"{where}.mountPath", f"{at} is mounted twice", allowed="each path once")
        seen.add(at)
