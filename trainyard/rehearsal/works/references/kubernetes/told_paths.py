"""Paths that nothing fills: a program of the stack's own is told a folder beside one that is mounted for it, and an
object tells its readers of a file of its own that it does not hold.

Both are told only where the stack itself says what is meant: the folder that is mounted is named by nothing, and the
object is mounted where it says that its file is.

Source: Kubernetes documentation, "Volumes", "Secrets" (every key becomes a file), as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import basename, dirname
from typing import Any, Final

from trainyard.conventions import TEAM_LABEL
from trainyard.problems import nearest
from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.near import is_near
from trainyard.rehearsal.refusals.kubernetes.index import object_name
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod, place
from trainyard.rehearsal.works.references.kubernetes.files import PATH
from trainyard.rehearsal.works.references.kubernetes.keys import keys_of

_WHOLE: Final = re.compile(r"(/[\w.-]+)+")
_LONGEST: Final = 4000
"""Letters of a text above which it is a program, and no path that a program is told."""


def check(cluster: Cluster) -> None:
    """Every container, and every object that is mounted somewhere."""
    for pod in cluster.pods:
        for container in pod.containers:
            _beside(pod, container, is_ours=cluster.stack.context.ours)
    _own_files(cluster)
    _other_teams(cluster)


_OF_TEAM: Final = re.compile(r"/teams/([a-z0-9-]+)(?:/|$)")


def _other_teams(cluster: Cluster) -> None:
    """What a team is told of is below its own folder, and no other team's: it may not read that."""
    teams = {
        name: str(team)
        for name, labels in cluster.labels_of_namespaces.items()
        if (team := labels.get(TEAM_LABEL)) is not None
    }
    for view in cluster.of("ConfigMap") if len(set(teams.values())) > 1 else ():
        own = teams.get(view.text("metadata.namespace") or "")
        for key, text in view.mapping("data").items() if own is not None else ():
            if not isinstance(text, str) or "://" not in text or len(text) > _LONGEST:
                continue
            for other in _OF_TEAM.findall(text):
                if other != own and other in teams.values():
                    view.error(
                        "reference-other-team", f"data.{key}",
                        f"tells team {own} of the folder of team {other}, which it may not use", allowed=f"teams/{own}",
                    )  # fmt: skip


def _beside(pod: Pod, container: Container, *, is_ours: bool) -> None:
    mounts = [one for one in listed(container.body.get("volumeMounts")) if isinstance(one, Mapping)]
    folders = {
        str(one["mountPath"]).rstrip("/"): str(one.get("name"))
        for one in mounts
        if isinstance(one.get("mountPath"), str) and not one.get("subPath")
    }
    said = list(_said(container))
    if not any(_within(path, folder) for _, path in said for folder in folders):
        return  # nothing of what it is told is mounted: the paths are its image's
    unused = {one for one in folders if not any(_within(path, one) or _within(one, path) for _, path in said)}
    for at, path in said:
        if any(_within(path, folder) for folder in folders) or "." in path.rpartition("/")[2]:
            continue
        meant = sorted(one for one in unused if dirname(one) == dirname(path) and dirname(one).count("/") > 1)
        if len(meant) != 1:
            continue
        words = (
            f"names {path}, where nothing is mounted, and volume {folders[meant[0]]} is mounted at {meant[0]}, "
            "which nothing names"
        )
        # A name that is not like the folder's may be of the image, as `/opt/app/model` beside `/opt/app/config`.
        if is_near(basename(path), basename(meant[0])):
            pod.view.error("reference-file", at, words, allowed=meant[0])
            return
        if is_ours:
            pod.view.warning("reference-file", at, words, allowed=meant[0])
            return


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _said(container: Container) -> Iterator[tuple[str, str]]:
    for key in ("command", "args"):
        for below, text in known_texts(container.body.get(key)):
            if (key, below) == ("command", "[0]"):
                continue  # the program itself, which is of the image
            for path in PATH.findall(text) if len(text) < _LONGEST else ():
                yield f"{container.path}.{key}{below}", path.rstrip("./")
    for index, entry in enumerate(listed(container.body.get("env"))):
        value = entry.get("value") if isinstance(entry, Mapping) else None
        for path in PATH.findall(value) if isinstance(value, str) and len(value) < _LONGEST else ():
            yield f"{container.path}.env[{index}].value", path.rstrip("./")


def _own_files(cluster: Cluster) -> None:
    """An object that is read as variables and mounted as files names a file of its own mount."""
    mounted: dict[tuple[str, str, str], list[tuple[str, frozenset[str]]]] = {}
    for pod in cluster.pods:
        if pod.namespace is not None:
            for one, at, names in _object_mounts(pod, cluster):
                mounted.setdefault(one, []).append((at, names))
    for (kind, namespace, name), places in mounted.items():
        view = cluster.find(kind, namespace, name)
        for part in ("data", "stringData") if view is not None else ():
            for key, text in view.mapping(part).items() if view is not None else ():
                if isinstance(text, str) and _WHOLE.fullmatch(text) and view is not None:
                    _own_file(view, f"{part}.{key}", text, places)


def _own_file(view: View, path: str, text: str, places: list[tuple[str, frozenset[str]]]) -> None:
    below = [(at, names) for at, names in places if text.startswith(f"{at}/")]
    if below and not any(text.removeprefix(f"{at}/") in names for at, names in below):
        at, names = below[0]
        file = text.removeprefix(f"{at}/")
        view.error(
            "reference-file", path,
            f"names {text}, and {view.text('kind')} {object_name(view)}, which is mounted at {at}, has no key {file}",
            hint=nearest(file, names),
        )  # fmt: skip


def _object_mounts(pod: Pod, cluster: Cluster) -> Iterator[tuple[tuple[str, str, str], str, frozenset[str]]]:
    """Objects that a pod's containers mount whole or in part: where, and the files that are there."""
    volumes: dict[str, tuple[tuple[str, str, str], frozenset[str]]] = {}
    for _, volume in pod.view.items(f"{pod.path}.volumes"):
        for key, kind, name in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
            held: Any = volume.get(key)
            if not isinstance(held, Mapping) or not isinstance(held.get(name), str):
                continue
            view = cluster.find(kind, pod.namespace or "", held[name])
            keys = keys_of(view) if view is not None else None
            items = [str(one.get("path")) for one in listed(held.get("items")) if isinstance(one, Mapping)]
            if view is not None and keys is not None:
                one = kind, place(view) or "", held[name]
                volumes[str(volume.get("name"))] = one, frozenset(items or keys)
    for container in pod.containers:
        for mount in listed(container.body.get("volumeMounts")):
            if isinstance(mount, Mapping) and isinstance(mount.get("mountPath"), str) and not mount.get("subPath"):
                found = volumes.get(str(mount.get("name")))
                if found is not None:
                    yield found[0], mount["mountPath"].rstrip("/"), found[1]
