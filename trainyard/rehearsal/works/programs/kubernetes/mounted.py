"""Programs that a stack brings itself, as files of config maps, and how its containers start them.

The files that a container sees are known whole, so that what a program says of itself, in the usage line of its own
docstring, is held against what it is told.

Sources: Python documentation, "Command line", `-m` (the working folder comes first on the path, then `PYTHONPATH`);
Kubernetes, "Volumes", `configMap.items` and `subPath`, as generally known (2026-11).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename, dirname, join, normpath
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import listed
from trainyard.rehearsal.near import is_near
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

OPTION: Final = re.compile(r"(--[\w-]+)(?:=.*)?", re.DOTALL)
PROBES: Final = ("startupProbe", "readinessProbe", "livenessProbe")
_PYTHON: Final = re.compile(r"python[\d.]*")
_WITH_A_VALUE: Final = ("-W", "-X")
"""Options of Python's own that take the next word."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a config map as a container, or a probe of it, starts it."""

    path: str  # where it lies
    text: str
    module: str  # as `-m` names it; empty where it is started as a file
    words: tuple[tuple[str, str], ...]  # what it is told, each with where that stands in the inputs


@dataclass(frozen=True, slots=True)
class Start:
    """What a container, or a probe of it, has Python run."""

    name: str  # a module or a path
    is_module: bool
    at: str  # where that stands in the inputs
    words: tuple[tuple[str, str], ...]  # what comes after it


def files_of(pod: Pod, container: Container, cluster: Cluster) -> dict[str, str] | None:
    """The text files of config maps that a container sees, by path; None where a mount's files are not known."""
    volumes = {str(one.get("name")): one for one in listed(pod.spec.get("volumes")) if isinstance(one, Mapping)}
    found: dict[str, str] = {}
    for mount in listed(container.body.get("volumeMounts")):
        if not isinstance(mount, Mapping) or not isinstance(mount.get("mountPath"), str):
            return None
        held = volumes.get(str(mount.get("name")), {}).get("configMap")
        if not isinstance(held, Mapping):
            continue
        view = cluster.find("ConfigMap", pod.namespace or "", str(held.get("name"))) if pod.namespace else None
        data = view.mapping("data") if view is not None else {}
        if not data or has_unknown(held) or any(not isinstance(text, str) for text in data.values()):
            return None
        items = [one for one in listed(held.get("items")) if isinstance(one, Mapping)]
        names = {str(one.get("path")): str(one.get("key")) for one in items} or {key: key for key in data}
        sub, at = mount.get("subPath"), mount["mountPath"]
        for name, key in names.items():
            if key in data and sub in (None, "", name):
                found[normpath(at if sub else join(at, name))] = data[key]
    return found


def starts(container: Container) -> Iterator[Start]:
    """What a container and its probes have Python run."""
    words = [
        (f"{container.path}.{key}[{index}]", word)
        for key in ("command", "args")
        for index, word in enumerate(listed(container.body.get(key)))
    ]
    yield from _start(words)
    for probe in PROBES:
        command = listed(follow(container.body, probe, "exec", "command"))
        yield from _start(
            [(f"{container.path}.{probe}.exec.command[{index}]", word) for index, word in enumerate(command)]
        )


def _start(words: Sequence[tuple[str, Any]]) -> Iterator[Start]:
    if not words or any(not isinstance(word, str) for _, word in words):
        return
    if _PYTHON.fullmatch(basename(words[0][1])) is None:
        return
    index = 1
    while index < len(words):
        at, word = words[index]
        if word == "-m":
            if index + 1 < len(words):
                yield Start(words[index + 1][1], True, words[index + 1][0], tuple(words[index + 2 :]))
            return
        if not word.startswith("-"):
            yield Start(word, False, at, tuple(words[index + 1 :]))
            return
        if word == "-c":
            return
        index += 2 if word in _WITH_A_VALUE else 1


def roots(container: Container) -> list[str] | None:
    """Where Python looks for a module that it is told; None where that is not known."""
    found = []
    given = container.body.get("env")
    if has_unknown(given) or container.body.get("envFrom"):
        return None
    folder = container.body.get("workingDir")
    if isinstance(folder, str):
        found.append(normpath(folder))
    for one in listed(given):
        if isinstance(one, Mapping) and one.get("name") == "PYTHONPATH":
            if not isinstance(one.get("value"), str):
                return None
            found += [normpath(part) for part in one["value"].split(":") if part]
    return found


def program(start: Start, files: Mapping[str, str], container: Container) -> Program | None:
    """What is started, where it is one of the files."""
    if not start.is_module:
        path = normpath(start.name)
        return Program(path, files[path], "", start.words) if path in files else None
    for root in roots(container) or ():
        base = join(root, *start.name.split("."))
        for path in (f"{base}.py", f"{base}/__main__.py"):
            if path in files:
                return Program(path, files[path], start.name, start.words)
    return None


def looked_for(start: Start, files: Mapping[str, str], container: Container) -> tuple[str, str] | None:
    """Where Python looks for a module of the files in vain, and where it lies or what lies there instead.

    A module of the image may have any name: one counts as ours where a file of its name is mounted, or a folder of its
    package is mounted where Python looks.
    """
    places = roots(container)
    if not start.is_module or places is None or program(start, files, container) is not None:
        return None
    parts = start.name.split(".")
    if len(parts) < 2:
        return None
    wanted = [join(root, *parts) for root in places]
    if any(path.startswith(f"{one}/") for one in wanted for path in files):
        return None  # a package, whose `__main__` may be of the image
    # Of the image may be a module of the same last name: the folders of ours are nearly those of its package.
    moved = [
        path
        for path in files
        if basename(path) == f"{parts[-1]}.py"
        and any(part == folder or is_near(part, folder) for part in parts[:-1] for folder in dirname(path).split("/"))
    ]
    if moved:
        return f"{wanted[-1]}.py", moved[0]
    for root in places:
        folder = join(root, *parts[:-1])
        if folder not in _whole(container):
            continue  # files that are mounted one by one lie beside what the image has there
        beside = sorted(path for path in files if dirname(path) == folder and path.endswith(".py"))
        if beside:
            return f"{folder}/{parts[-1]}.py", ", ".join(basename(path) for path in beside[:8])
    return None


def _whole(container: Container) -> set[str]:
    """The folders that a mount fills, hiding what the image has there."""
    return {
        normpath(one["mountPath"])
        for one in listed(container.body.get("volumeMounts"))
        if isinstance(one, Mapping) and isinstance(one.get("mountPath"), str) and not one.get("subPath")
    }


_AT_ONCE: Final = re.compile(r'\s*"""((?:[^"\\]|"(?!""))*)"""[ \t]*\n\s*(?:from|import) ')
"""How most programs begin: a docstring that stands as it is written, and imports. To parse the whole takes long."""


@lru_cache(maxsize=256)
def docstring(text: str) -> str:
    """What a program says of itself; empty where it says nothing, or is no Python."""
    if said := _AT_ONCE.match(text):
        return said[1]
    try:
        return ast.get_docstring(ast.parse(text), clean=False) or ""
    except (SyntaxError, ValueError):
        return ""


@dataclass(frozen=True, slots=True)
class Usage:
    """A usage line: words that stand as they are, what has to come, what may, and the options."""

    line: str
    literals: tuple[str, ...]
    wanted: tuple[str, ...]
    optional: tuple[str, ...]
    options: tuple[str, ...]
    is_open: bool  # more may come


def plain(line: Usage, words: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """What a program is told besides options and their values."""
    found = []
    index = 0
    while index < len(words):
        option = OPTION.fullmatch(words[index][1])
        if words[index][1] == "--":
            break
        if option is None:
            found.append(words[index])
        index += 2 if option is not None and "=" not in words[index][1] and takes_value(line, option[1]) else 1
    return found


def takes_value(line: Usage, option: str) -> bool:
    """Whether a usage line has an option with the word that comes after it."""
    return re.search(rf"{re.escape(option)} [A-Z]", line.line) is not None


_PART: Final = re.compile(r"\[[^\]]*\]|\S+")


def usages(found: Program) -> list[Usage]:
    """The usage lines of a program: `    name.py run URL [FILE] [--interval SECONDS]`."""
    names = {basename(found.path), f"python -m {found.module}"} if found.module else {basename(found.path)}
    lines = []
    for line in docstring(found.text).splitlines():
        head = next((name for name in names if line.startswith("    ") and _begins(line.strip(), name)), None)
        if head is not None:
            lines.append(_usage(line.strip(), line.strip().removeprefix(head)))
    return lines


def _begins(line: str, name: str) -> bool:
    return line == name or line.startswith(f"{name} ")


def _usage(line: str, rest: str) -> Usage:
    literals: list[str] = []
    wanted: list[str] = []
    optional: list[str] = []
    options: list[str] = []
    is_open = is_told = False
    for part in _PART.findall(rest):
        inner = part.strip("[]").split()
        if is_told and not part.startswith(("[", "--")):
            is_told = False
            is_open |= not part.isupper()  # the value of the option before it, or an example of one
            continue
        is_told = part.startswith("--") and part != "--" and "=" not in part
        if part.endswith(("…", "...")) or part == "--" or "=" in part:
            is_open = True
        elif inner and inner[0].startswith("--"):
            options.append(inner[0])
        elif part.startswith("["):
            optional += inner
        elif part.isupper():
            wanted.append(part)
        elif re.fullmatch(r"[a-z][a-z-]*", part) and not wanted:
            literals.append(part)
        else:
            is_open = True
    return Usage(line, tuple(literals), tuple(wanted), tuple(optional), tuple(options), is_open)
