"""Small programs that watch a cluster, shipped to their pods as text: they import the standard library and each other.

In a pod they lie in a folder `keepers` and run as `python -m keepers.NAME`, so that what one imports of another by its
place beside it is found there as here.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files

HEARTBEAT = "heartbeat"
SHARED = ("cluster_api", HEARTBEAT)
"""What all of them ask the API server with, and what says whether they could."""


def sources(program: str) -> Mapping[str, str]:
    """The files that a program is: its own text and what it shares with the others."""
    folder = files(__name__)
    return {
        f"{name}.py": folder.joinpath(f"{name}.py").read_text(encoding="utf-8") for name in sorted((*SHARED, program))
    }


def checksum(program: str) -> str:
    """Changes with the text, so that a pod starts anew with it."""
    return hashlib.sha256(json.dumps(dict(sources(program))).encode()).hexdigest()
