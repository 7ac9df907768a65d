"""Small programs that watch a cluster, shipped to their pods as text: they import the standard library and each other.

In a pod they lie in a folder `keepers` and run as `python -m keepers.NAME`, so that what one imports of another by its
place beside it is found there as here.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

HEARTBEAT = "heartbeat"
"""What a pod's readiness probe runs: whether its keeper could do what it came for, not long ago."""


@cache  # a stack ships six programs twice a rehearsal, and parsing them took a fifteenth of a run
def sources(program: str) -> Mapping[str, str]:
    """The files that a program is: its own text, what that imports of the others, and what says whether it is well."""
    folder = files(__name__)
    found: dict[str, str] = {}
    names = [program, HEARTBEAT]
    while names:
        name = names.pop()
        if name not in found:
            found[name] = folder.joinpath(f"{name}.py").read_text(encoding="utf-8")
            names += _imported(found[name])
    return MappingProxyType({f"{name}.py": found[name] for name in sorted(found)})


def _imported(text: str) -> list[str]:
    """The programs beside it that a text imports from."""
    return [
        node.module
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level and node.module
    ]


@cache
def checksum(program: str) -> str:
    """Changes with the text, so that a pod starts anew with it."""
    return hashlib.sha256(json.dumps(dict(sources(program))).encode()).hexdigest()
