"""Where in a stack's file a key stands, so that a report points at the line that a person changes."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from trainyard.problems import SettingsError
from trainyard.settings.read import MOVED
from trainyard.user_files import compose_yaml, read_text

_OLD_PLACES = {new: old for old, new in MOVED.items()}
_PLACE = re.compile(r"\bline (\d+), column")
_STEP = re.compile(r"[^.\[\]]+")


def line_of(file: Path, key: str) -> int | None:
    """The line, from 1, of a key as settings spell it: `gpuPools.train.spot.maxNodes`, `teams[1].name`, `aws:region`.

    Where the key itself is missing, the line of what it would stand in; None where nothing of it is in the file. For a
    file that is no YAML, the line where reading it ended.
    """
    try:
        root = compose_yaml(read_text(file, file.name), file.name)
    except SettingsError as error:
        found = _PLACE.search(error.problems[0].allowed)
        return int(found[1]) if found else None
    config = _entry(root, "config")
    if config is None:
        return None
    return _line(config[1], key) or (_line(config[1], _OLD_PLACES[key]) if key in _OLD_PLACES else None)


def _line(config: yaml.Node, key: str) -> int | None:
    if not isinstance(config, yaml.MappingNode):
        return None
    steps = _STEP.findall(key)
    found = _top(config, steps[0]) if steps else None
    if found is None:
        return None
    at, node = found
    for step in steps[1:]:
        inner = _entry(node, step)
        if inner is None:
            break
        at, node = inner
    return at.start_mark.line + 1


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
