"""The admission policies of a stack together: what of an attack gets past all of them."""

from __future__ import annotations

from typing import Final

from trainyard.policies.guard import Guard
from trainyard.policies.guard_attacks import Wall
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ADMISSION_BINDING, ADMISSION_POLICY, CONFIG_MAP
from trainyard.rehearsal.works.rights.kubernetes.admission import Request

GUARD_TYPES: Final = (ADMISSION_POLICY, ADMISSION_BINDING, CONFIG_MAP)
"""Types that say what the API server refuses: a policy, where it holds, and its parameters."""

Hole = tuple[RecordedResource | None, str]
"""What is nearest to a wall, and why it is none."""


class Guards:
    """The admission policies of a stack."""

    def __init__(self, resources: Resources) -> None:
        bindings: dict[str, list[RecordedResource]] = {}
        for binding in resources.of(ADMISSION_BINDING):
            bindings.setdefault(str(value_at(binding.inputs, "spec", "policyName")), []).append(binding)
        self._guards = [
            Guard(policy, bindings.get(str(value_at(policy.inputs, "metadata", "name")), []), resources)
            for policy in resources.of(ADMISSION_POLICY)
        ]

    @property
    def literals(self) -> frozenset[str]:
        """The texts in all of their expressions."""
        return frozenset(text for guard in self._guards for text in guard.judge.literals)

    def hole(self, wall: Wall, team: RecordedResource) -> Hole | None:
        """What lets an attack on a wall by in a team's namespace, and why; None where nothing does."""
        looking = [guard for guard in self._guards if guard.looks_at(wall)]
        denying = [guard for guard in looking if not guard.why_not_in(team, wall)]
        knowing: Guard | None = None
        for attack in wall.attacks:
            knowing = next((guard for guard in _first(knowing, denying) if guard.knows(attack, wall, team)), None)
            if knowing is None:
                return _nearest(wall, team, attack, looking, denying)
            if attack is wall.attacks[0] and any(
                all(guard.says(other, team) is False for guard in _first(knowing, denying))
                for other in knowing.otherwise(attack)
            ):
                return knowing.policy, f"{knowing.name} lets by what has the right name or label, or whoever runs there"
        return None


def _first(knowing: Guard | None, guards: list[Guard]) -> list[Guard]:
    """Guards in the order in which they are asked: what knows one attack on a wall mostly refuses the next as well."""
    return guards if knowing is None else [knowing, *(guard for guard in guards if guard is not knowing)]


def _nearest(wall: Wall, team: RecordedResource, attack: Request, looking: list[Guard], denying: list[Guard]) -> Hole:
    idle = (guard for guard in looking if guard not in denying and guard.knows(attack, wall, team))
    nearest = next(idle, None) or next(iter(denying or looking), None)
    if nearest is None:
        return None, "no admission policy looks at it"
    why = nearest.why_not_in(team, wall)
    return (nearest.culprit, why) if why else (nearest.policy, f"{nearest.name} does not refuse it, nor does another")
