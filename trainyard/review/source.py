"""Where a person changes what a report complains of: the line of a setting, or of the code that made a resource."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.recorder import Constructed
from trainyard.settings.common import Settings
from trainyard.settings.mistakes import fields_of
from trainyard.settings.read import MOVED
from trainyard.user_files import compose_yaml, read_text

_OLD_PLACES = {new: old for old, new in MOVED.items()}
_PLACE = re.compile(r"\bline (\d+), column")
_STEP = re.compile(r"[^.\[\]]+")
_NAMED = re.compile(r"(?:^|(?<=[\s(`]))[a-z][\w<>*]*(?:\.[\w<>*]+)*")
_ASKS = frozenset(("Leave", "Set", "Raise", "Lower", "Narrow", "Choose", "Order"))
"""What a remediation begins with where the next word is a setting."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, relative to the project where it lies in it."""

    file: str
    line: int


class StackFile:
    """The configuration in a stack's file, by line. A file that is no YAML has only the line where reading it ended."""

    def __init__(self, path: Path) -> None:
        self._config: yaml.MappingNode | None = None
        self.config_line = 1
        self._broken_at: int | None = None
        try:
            root = compose_yaml(read_text(path, path.name), path.name)
        except SettingsError as error:
            place = _PLACE.search(error.problems[0].allowed)
            self._broken_at = int(place[1]) if place else None
            return
        found = _entry(root, "config")
        if found is not None:
            self.config_line = found[0].start_mark.line + 1
            self._config = found[1] if isinstance(found[1], yaml.MappingNode) else None

    def line_of(self, key: str) -> int | None:
        """The line, from 1, of a key as settings spell it: `gpuPools.train.spot.maxNodes`, `teams[1].name`.

        Where the key itself is missing, the line of what it would stand in; None where nothing of it is in the file.
        """
        if self._config is None:
            return self._broken_at
        found = self._find(key) or (self._find(_OLD_PLACES[key]) if key in _OLD_PLACES else None)
        return found[0] if found else None

    def deciding_line(self, settings: Sequence[str], about: str) -> int | None:
        """The line of the setting, of several that could be changed, that decides on what `about` tells of.

        `<pool>` and `*` in a setting stand for any entry: the one whose name `about` holds, where there is one. The
        setting that is there to the greatest depth wins.
        """
        best: tuple[int, int] | None = None
        for setting in settings:
            for key in self._spelt_out(setting, about):
                found = self._find(key)
                if found is not None and (best is None or found[1] > best[1]):
                    best = found
        return best[0] if best else None

    def _spelt_out(self, setting: str, about: str) -> Iterator[str]:
        steps = setting.split(".")
        open_at = next((index for index, step in enumerate(steps) if step == "*" or step.startswith("<")), None)
        if open_at is None:
            yield setting
            return
        words = set(re.findall(r"\w+", about)) | set(re.findall(r"[\w-]+", about))
        inside = self._names_in(".".join(steps[:open_at]))
        named = [name for name in inside if name in words] or inside
        for name in named:
            yield from self._spelt_out(".".join([*steps[:open_at], name, *steps[open_at + 1 :]]), about)
        if not inside:
            yield ".".join(steps[:open_at])

    def _names_in(self, key: str) -> list[str]:
        node = self._node(key)
        if not isinstance(node, yaml.MappingNode):
            return []
        return [entry.value for entry, _ in node.value if isinstance(entry, yaml.ScalarNode)]

    def _node(self, key: str) -> yaml.Node | None:
        found = self._walk(key)
        return found[-1][1] if found is not None and len(found) == len(_STEP.findall(key)) else None

    def _find(self, key: str) -> tuple[int, int] | None:
        """The line of a key or of the innermost part of it that is there, and how deep that is."""
        found = self._walk(key)
        return (found[-1][0].start_mark.line + 1, len(found)) if found else None

    def _walk(self, key: str) -> list[tuple[yaml.Node, yaml.Node]] | None:
        steps = _STEP.findall(key)
        first = _top(self._config, steps[0]) if self._config is not None and steps else None
        if first is None:
            return None
        found = [first]
        for step in steps[1:]:
            inner = _entry(found[-1][1], step)
            if inner is None:
                break
            found.append(inner)
        return found


def settings_named(remediation: str) -> tuple[str, ...]:
    """The settings that a policy's remediation names, in their order: `gpuPools.<pool>.*.maxNodes`, `protect`.

    A word of plain English that is a key too (`network`, `storage`) is one only where it is what is to be set.
    """
    known = fields_of(Settings)
    found = []
    for match in _NAMED.finditer(remediation):
        word = match[0]
        before = remediation[: match.start()].split()
        asked = bool(before) and before[-1].strip("`(") in _ASKS
        marked = remediation[: match.start()].endswith("`")
        if word.split(".")[0] in known and (asked or marked or "." in word or word != word.lower()):
            found.append(word)
    return tuple(dict.fromkeys(found))


def made_at(made: Constructed, root: Path) -> Place | None:
    """The line of the project's own code that made a resource; None for code from elsewhere."""
    if not made.file:
        return None
    below = _below(made.file, root)
    return Place(below, made.line) if below is not None else None


@functools.lru_cache(maxsize=1024)
def _below(file: str, root: Path) -> str | None:
    """A file's path below a folder, which a stack asks for a thousand times; None where it lies elsewhere."""
    path = Path(file).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def _top(config: yaml.MappingNode, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """A key of the configuration, with the namespace that it was said with or, where none was, any."""
    for key, value in config.value:
        if isinstance(key, yaml.ScalarNode) and name in (key.value, key.value.partition(":")[2]):
            return key, value
    return None


def _entry(node: yaml.Node | None, step: str) -> tuple[yaml.Node, yaml.Node] | None:
    """An entry of a mapping by its key or of a list by its index: the node to point at, and its value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == step:
                return key, value
    if isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
        value = node.value[int(step)]
        return value, value
    return None
