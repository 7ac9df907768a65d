"""Mutants of the walls between teams' pods that look like an agreement, and open what was closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.policies.cases_reach import of_team
from tests.policies.mutants import Mutant, edit
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import NETWORK_POLICY


def _with(direction: str, rule: Mapping[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Adds a rule to a policy."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["spec"][direction] = [*inputs["spec"].get(direction, []), rule]

    return into


def _shared(resources: Sequence[RecordedResource]) -> list[RecordedResource]:
    """Two teams that agreed to share a service of one of them."""
    out = edit(NETWORK_POLICY, "teams-tabular-allow-within-team", _with("egress", {"to": [of_team("vision")]}))
    into = edit(NETWORK_POLICY, "teams-vision-allow-within-team", _with("ingress", {"from": [of_team("tabular")]}))
    return into(out(resources))


REACH = (Mutant("team-reaches-another-team", "a service of one for the other", change=_shared),)
