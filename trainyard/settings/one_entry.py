"""One entry of a YAML text changed, and all else of it left as a person wrote it: comments, order, quotes.

PyYAML writes a whole document anew and loses comments. Its nodes know where they stand, so the entry's own characters
are replaced; whoever calls compares what the changed text says with what it should.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from trainyard.problems import SettingsError
from trainyard.user_files import compose_yaml, parse_yaml


def with_entry(text: str, path: Sequence[str], value: Any, shown: str) -> str | None:
    """The text with a value at a path of keys; None where it is laid out so that this would touch the rest.

    Mappings on the way are made where there are none. Raises `SettingsError` where the text, which messages call
    `shown`, is no YAML.
    """
    whole = parse_yaml(text, shown)
    root = compose_yaml(text, shown)
    if root is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        changed: str | None = text + gap + _block(path[0], _below(path[1:], value), 0) + "\n"
    else:
        changed = _set(text, root, whole, path, value)
    if changed is None:
        return None
    try:
        return changed if parse_yaml(changed, shown) == _merged(whole, path, value) else None
    except SettingsError:  # an alias: its node stands where its anchor does
        return None


def _set(text: str, node: yaml.Node, content: Any, path: Sequence[str], value: Any) -> str | None:
    """The text with the value below a node; None where the node is no block of lines."""
    if not _is_block(node):
        return None
    key, *rest = path
    found = child(node, key)
    if found is None:
        column = node.start_mark.column
        return insert(text, node, _block(key, _below(rest, value), column))
    name, below = found
    if rest and _is_block(below):
        return _set(text, below, content[key], rest, value)
    made = _merged(content[key], rest, value)
    column = name.start_mark.column
    # In lines where nothing is there yet, so that what comes later finds lines.
    in_lines = len(rest) > 1 or (rest and not content[key])
    lines = _block(key, made, column) if in_lines else f"{' ' * column}{key}: {_flow(made)}"
    return text[: name.start_mark.index - column] + lines + text[end(text, below) :]


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style


def _below(path: Sequence[str], value: Any) -> Any:
    """The value inside a mapping for each key of the path."""
    for key in reversed(path):
        value = {key: value}
    return value


def _merged(content: Any, path: Sequence[str], value: Any) -> Any:
    """Content with a value at a path."""
    if not path:
        return value
    there = content if isinstance(content, Mapping) else {}
    return {**there, path[0]: _merged(there.get(path[0]), path[1:], value)}


def _flow(value: Any) -> str:
    dumped = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True)
    return dumped.removesuffix("\n").removesuffix("\n...")


def _block(key: str, value: Any, column: int) -> str:
    """An entry as lines, without a last line end."""
    dumped = yaml.safe_dump({key: value}, default_flow_style=False, width=120, sort_keys=False, allow_unicode=True)
    return "\n".join(" " * column + line for line in dumped.rstrip("\n").split("\n"))


def child(node: yaml.Node | None, key: str) -> tuple[yaml.ScalarNode, yaml.Node] | None:
    """The nodes of an entry's key and value; None where a mapping has none of the key, or is none."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == key:
                return name, value
    return None


def insert(text: str, block: yaml.Node, lines: str) -> str:
    """New lines after the last entry of a block mapping, before comments and blank lines that follow it."""
    after = end(text, block)
    line_end = text.find("\n", after)
    after = len(text) if line_end < 0 else line_end
    return text[:after] + "\n" + lines + (text[after:] or "\n")


def end(text: str, node: yaml.Node) -> int:
    """Where a node's own text ends: a block's mark lies behind the comments and blank lines that follow."""
    mark = node.end_mark.index
    if not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return int(mark)
    own = text[node.start_mark.index : mark]
    lines = own.split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return int(node.start_mark.index + len("\n".join(lines)))
