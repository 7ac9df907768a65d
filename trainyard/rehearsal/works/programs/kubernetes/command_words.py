"""Words of a command that no shell reads: several in one, a shell's own variables, and those that come after a script.

Source: Kubernetes documentation, "Define a Command and Arguments for a Container" (`$(NAME)` is put in, `$NAME` is
not; what names no variable stays as it is) and "Define Dependent Environment Variables" (a variable may be made of
those that come before it); POSIX, `sh -c command_string command_name argument`; both as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_SHELLS: Final = frozenset({"sh", "bash", "ash", "dash", "zsh", "ksh"})
_OWN_READERS: Final = frozenset(
    {"envsubst", "su", "runuser", "ssh", "watch", "perl", "php", "awk", "gawk", "mawk", "expect", "tclsh"}
)
"""Programs that put variables in themselves, hand a word to a shell, or have variables of the same form."""
_SCRIPT: Final = re.compile(r"-[a-z]*c")
_POSITIONAL: Final = re.compile(r"\$(?:\{?[0-9@*#]|\{#|\{@)")
_AS_A_SHELL: Final = re.compile(r"(?<![\\$])\$\{?([A-Z_][A-Z0-9_]*)\}?")
_AS_KUBERNETES: Final = re.compile(r"(?<!\$)\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_LONGEST: Final = 200
"""Characters of a word; what is longer is a program."""
_HOOKS: Final = (
    ("livenessProbe",), ("readinessProbe",), ("startupProbe",), ("lifecycle", "preStop"), ("lifecycle", "postStart"),
)  # fmt: skip


def check(cluster: Cluster) -> None:
    """Every container's command and arguments, what its probes and hooks run, and its variables."""
    for pod in cluster.pods:
        for container in pod.containers:
            _variables(pod, container)
            for path, words, is_whole in _commands(container):
                if words and not has_unknown(words) and all(isinstance(word, str) for word in words):
                    _words(pod, container, path, words, is_whole=is_whole)


def _commands(container: Container) -> Iterator[tuple[str, list[Any], bool]]:
    """Each command with its path, and whether its first word is the program."""
    command, args = listed(container.body.get("command")), listed(container.body.get("args"))
    if UNKNOWN not in (container.body.get("command"), container.body.get("args")):
        key = "command" if command else "args"
        yield f"{container.path}.{key}", [*command, *args], bool(command)
    for way in _HOOKS:
        found = listed(follow(container.body, *way, "exec", "command"))
        yield f"{container.path}.{'.'.join(way)}.exec.command", found, True


def _words(pod: Pod, container: Container, path: str, words: list[str], *, is_whole: bool) -> None:
    if is_whole and " " in words[0].strip() and "/" not in words[0].partition(" ")[0].strip("/"):
        pod.view.error(
            "programs-command", f"{path}[0]",
            f"{show(words[0][:60])} is one word: {pod.title} looks for a program of that whole name, and there is none",
            allowed=show(words[0].split()) if len(words[0]) < _LONGEST else "a list of words",
        )  # fmt: skip
        return
    shells = [index for index, word in enumerate(words) if PurePosixPath(word).name in _SHELLS]
    if shells and (is_whole or shells[0] > 0):
        _script(pod, path, words[shells[0] + 1 :])
        return
    if not is_whole or len(words) < 2:
        return
    names = _names(container)
    reads_itself = any(PurePosixPath(word).name in _OWN_READERS for word in words)
    for word in words[1:] if names is not None and len(words[0]) < _LONGEST else ():
        if len(word) > _LONGEST or "\n" in word:
            continue
        for name in () if reads_itself else _AS_A_SHELL.findall(word):
            if name in (names or ()):
                pod.view.error(
                    "programs-command", path,
                    f"has {show(word)}, which only a shell reads, and {show(words[0])} is none", allowed=f"$({name})",
                )  # fmt: skip
        for name in _AS_KUBERNETES.findall(word):
            hint = _slip(name, names or ())
            if hint:
                pod.view.error(
                    "programs-command", path, f"has $({name}), and the container has no variable of that name: the "
                    "program is told these very characters", allowed=f"$({hint})", hint=hint,
                )  # fmt: skip


def _slip(name: str, known: Collection[str]) -> str:
    """The variable that a name all but repeats; empty for a variable, and for what others may put in: the controllers
    of jobs, trainers and clouds give containers more than is recorded."""
    return "" if name in known else nearest_of(name, known)


def _script(pod: Pod, path: str, words: list[str]) -> None:
    """What comes after a script is the script's own `$0` and `$1`."""
    place = next((index for index, word in enumerate(words) if _SCRIPT.fullmatch(word)), None)
    if place is None or any(not word.startswith("-") for word in words[:place]):
        return
    script, more = words[place + 1 : place + 2], words[place + 2 :]
    if not script or not more or _POSITIONAL.search(script[0]) or "BASH_ARGV" in script[0] or "getopts" in script[0]:
        return
    if len(more) > 1 or more[0].startswith("-") or len(script[0].split()) == 1:
        pod.view.error(
            "programs-command", path,
            f"gives {show(' '.join(more)[:60])} to the shell and not to its script, {show(script[0][:60])}, which "
            "reads none of it", allowed="one text after -c",
        )  # fmt: skip


def _names(container: Container) -> set[str] | None:
    """The variables of a container; None where it may have more than is recorded."""
    given = container.body.get("env")
    if container.body.get("envFrom") or has_unknown(given):
        return None
    return {str(one.get("name")) for one in listed(given) if isinstance(one, Mapping)}


def _variables(pod: Pod, container: Container) -> None:
    if container.body.get("envFrom") or has_unknown(container.body.get("envFrom")):
        return
    entries = [one if isinstance(one, Mapping) else {} for one in listed(container.body.get("env"))]
    names = [one.get("name") for one in entries]
    if UNKNOWN in names or {} in entries:
        return
    for index, one in enumerate(entries):
        value = one.get("value")
        for name in _AS_KUBERNETES.findall(value) if isinstance(value, str) and len(value) < _LONGEST else ():
            if name in names[:index]:
                continue
            path = f"{container.path}.env[{index}].value"
            if name in names[index:]:
                pod.view.error(
                    "programs-command", path, f"is made of $({name}), which comes later: it stays as it is",
                    allowed=f"{name} before it",
                )  # fmt: skip
            elif hint := _slip(name, [str(one) for one in names]):
                pod.view.error(
                    "programs-command", path, f"is made of $({name}), which the container has not: it stays as it is",
                    allowed=f"$({hint})", hint=hint,
                )  # fmt: skip
