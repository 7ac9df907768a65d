"""A needed flow: two ends, a port, and what fails without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from trainyard.catalog.tables import tree
from trainyard.recorded.model import Level, RecordedResource
from trainyard.rehearsal.works.flows.model import Place, Port


@dataclass(frozen=True, slots=True)
class Need:
    """A connection that something recorded is known to open."""

    name: str  # of the table
    source: Place
    destination: Place
    port: Port
    at: RecordedResource  # that needs it: where it is told, unless a wall of the stack's is to blame
    level: Level = "error"  # where it is shut
    whole: bool = False  # every address of both ends must be let by, not one

    @property
    def why(self) -> str:
        """What fails without it."""
        return str(declared()[self.name]["why"])


@cache
def declared() -> Mapping[str, Mapping[str, Any]]:
    """The table of flows, by name."""
    found: Mapping[str, Mapping[str, Any]] = tree(files(__package__).joinpath("needs.yaml"))
    return found
