"""Reads data files: the catalogue's CSV tables, and YAML."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from trainyard.catalog.kept import kept
from trainyard.safe_yaml import SAFE_LOADER


class YamlLoader(SAFE_LOADER):
    """A safe loader of what is written by hand."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuses a key that is there twice, as the Pulumi engine does."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f'the key "{key.value}" is there twice', problem_mark=key.start_mark
                    )
                seen.add(key.value)
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def tree(file: Traversable) -> dict[str, Any]:
    """What a YAML file of the project holds, anew at each call; raises `yaml.MarkedYAMLError` for what is no YAML."""
    text = file.read_bytes()
    content: dict[str, Any] = kept(file, text, lambda: yaml.load(text, Loader=YamlLoader))  # noqa: S506 (it is safe)
    return content


CATALOG = "trainyard.catalog"


def rows(name: str, package: str = CATALOG) -> Iterator[dict[str, str]]:
    """The rows of a table beside a package's modules, keyed by its heading."""
    lines = iter(csv.reader(files(package).joinpath(name).read_text(encoding="utf-8").splitlines()))
    heading = next(lines)
    for line in lines:
        yield dict(zip(heading, line, strict=True))


def number(text: str) -> float | None:
    """A number, or None for an empty cell: not established."""
    return float(text) if text else None
