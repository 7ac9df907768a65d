"""Modules that a mounted program imports, of which the folder is mounted whole and the file is not there.

A folder of a config map hides what the image has there, so that a module of it is a file of the config map or is none.
Python ends at the import, and the pod starts anew for ever. Only imports at the left margin are read: one within a
function, or within `try`, may never be done.

Sources: Python documentation, "The import system" (a relative import needs a package, which a file that is run as a
script has not); Kubernetes, "Volumes", `configMap.items` (keys that are not listed are not there), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename, dirname, join, normpath
from typing import Final

from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.programs.kubernetes.mounted import PROBES, files_of, program, roots, starts
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_TEXTS: Final = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""' + r"|'''(?:[^'\\]|\\.|'(?!''))*'''", re.DOTALL)
_COMMENTS: Final = re.compile(r"#[^\n]*|\\\n")
"""What is no part of a line, to its end, and a line that goes on."""
_IMPORT: Final = re.compile(
    r"^(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)|import[ \t]+([^\n#;]+))", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Import:
    """One module that is imported, and the names that are taken from it."""

    level: int  # dots before it
    module: str
    names: tuple[str, ...]  # empty: the module itself


def check(cluster: Cluster) -> None:
    """Every program that is started from files of config maps, with all that it imports of them."""
    for pod in cluster.pods:
        for container in pod.containers:
            found = [start for start in starts(container) if not any(f".{probe}." in start.at for probe in PROBES)]
            files = files_of(pod, container, cluster) if found else None
            for start in found if files else ():
                main = program(start, files or {}, container)
                if main is not None:
                    _walk(pod, container, files or {}, main.path, start.at, is_module=start.is_module)


def _walk(pod: Pod, container: Container, files: Mapping[str, str], main: str, at: str, *, is_module: bool) -> None:
    hidden, folders = _hidden(pod, container), _folders(files)
    places = roots(container)
    if places is None:
        return
    places = places if is_module else [dirname(main), *places]
    seen, waiting = {main}, [main]
    while waiting:
        path = waiting.pop()
        for one in imports(files[path]):
            if one.level and not is_module and path == main:
                pod.view.error(
                    "programs-import", at,
                    f"{basename(path)} is run as a file and imports {'.' * one.level}{one.module}, of a package: "
                    "Python ends there", allowed="-m with the module's name",
                )  # fmt: skip
                return
            for target in _targets(one, path, places, files, folders, hidden):
                if isinstance(target, _Missing):
                    pod.view.error(
                        "programs-import", at,
                        f"{basename(path)} imports {target.module}, and nothing is mounted at {target.path}: the "
                        "program does not start",
                    )  # fmt: skip
                    return
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)


@dataclass(frozen=True, slots=True)
class _Missing:
    module: str
    path: str


def _targets(
    one: Import,
    path: str,
    places: list[str],
    files: Mapping[str, str],
    folders: set[str],
    hidden: Mapping[str, bool],
) -> Iterator[str | _Missing]:
    """The files that an import reads, and the one that it does not find."""
    if one.level:
        folder = dirname(path)
        for _ in range(one.level - 1):
            folder = dirname(folder)
        bases = [folder]
    else:
        top = one.module.partition(".")[0]
        # A folder of other files than Python's gives way to an installed package of the name.
        bases = [place for place in places if _is_package(join(place, top), files)]
    for base in bases[:1]:
        here = join(base, *one.module.split(".")) if one.module else base
        if f"{here}.py" in files:
            yield f"{here}.py"
        elif here not in folders:
            if _is_hidden(here, hidden):
                yield _Missing("." * one.level + one.module, f"{here}.py")
        else:
            start = f"{here}/__init__.py"
            if start in files:
                yield start
            for name in one.names:
                if f"{here}/{name}.py" in files:
                    yield f"{here}/{name}.py"
                elif (
                    name != "*"
                    and _is_hidden(here, hidden)
                    and f"{here}/{name}" not in folders
                    and not re.search(rf"\b{re.escape(name)}\b|\*|__getattr__", files.get(start, ""))
                ):
                    yield _Missing(f"{'.' * one.level}{one.module}".rstrip(".") + f".{name}", f"{here}/{name}.py")


def _is_package(folder: str, files: Mapping[str, str]) -> bool:
    return any(path.startswith(f"{folder}/") and path.endswith(".py") for path in files)


def _folders(files: Mapping[str, str]) -> set[str]:
    """Every folder with files in it, at any depth."""
    found: set[str] = set()
    for path in files:
        while (path := dirname(path)) not in found:
            found.add(path)
    return found


def _hidden(pod: Pod, container: Container) -> dict[str, bool]:
    """Every folder that is mounted, and whether all in it is of a config map."""
    volumes = {str(one.get("name")): one for one in listed(pod.spec.get("volumes")) if isinstance(one, Mapping)}
    return {
        normpath(str(one.get("mountPath"))): "configMap" in volumes.get(str(one.get("name")), {})
        for one in listed(container.body.get("volumeMounts"))
        if isinstance(one, Mapping) and not one.get("subPath") and not one.get("subPathExpr")
    }


def _is_hidden(path: str, hidden: Mapping[str, bool]) -> bool:
    above = [folder for folder in hidden if path == folder or path.startswith(f"{folder}/")]
    return bool(above) and hidden[max(above, key=len)]


@lru_cache(maxsize=512)
def imports(text: str) -> tuple[Import, ...]:
    """What a program imports at its left margin."""
    found = []
    for match in _IMPORT.finditer(_COMMENTS.sub(" ", _TEXTS.sub('""', text))):
        dots, module, names, plain = match.groups()
        if plain is not None:
            found += [Import(0, words[0], ()) for part in plain.split(",") if (words := part.split())]
        else:
            taken = tuple(words[0] for part in names.strip("() \n").split(",") if (words := part.split()))
            found.append(Import(len(dots), module, taken))
    return tuple(found)
