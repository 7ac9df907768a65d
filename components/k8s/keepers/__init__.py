"""Small programs that watch a cluster, shipped to their pods as text: they import the standard library and each other.

In a pod they lie in a folder `keepers` and run as `python -m keepers.NAME`, so that what one imports of another by its
place beside it is found there as here.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

HEARTBEAT = "heartbeat"
"""What a pod's readiness probe runs: whether its keeper could do what it came for, not long ago."""


_IMPORT = re.compile(r"^\s*from \.(\w+) import ", re.MULTILINE)
"""How a program imports of one beside it. Parsing them all took a fiftieth of a rehearsal (2026-11-27)."""


@cache
def sources(program: str) -> Mapping[str, str]:
    """The files that a program is: its own text, what that imports of the others, and what says whether it is well."""
    folder = files(__name__)
    found: dict[str, str] = {}
    names = [program, HEARTBEAT]
    while names:
        name = names.pop()
        if name not in found:
            found[name] = folder.joinpath(f"{name}.py").read_text(encoding="utf-8")
            names += _IMPORT.findall(found[name])
    return MappingProxyType({f"{name}.py": found[name] for name in sorted(found)})


@cache
def checksum(program: str) -> str:
    """Changes with the text, so that a pod starts anew with it."""
    return hashlib.sha256(json.dumps(dict(sources(program))).encode()).hexdigest()
