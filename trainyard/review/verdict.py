"""The verdict on a stack, made once: its rehearsal, what the policies say of it, and what it costs a month."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.cost.model import Cost
from trainyard.cost.price import price_stack
from trainyard.recorded.model import masked
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.policy_check.check import check_policies
from trainyard.review.policy_check.model import PolicyReport


@dataclass(frozen=True, slots=True)
class Review:
    """A stack that was judged. Every report and every format is made of this."""

    file: str  # the stack's file, relative to the project where it lies in it
    rehearsal: Rehearsal
    policies: PolicyReport | None  # None: the program is wrong, and what it made says nothing of what it should
    cost: Cost | None  # None: likewise
    seconds: Mapping[str, float]  # wall time by phase

    @property
    def stack(self) -> str:
        """The stack's name."""
        return self.rehearsal.stack

    @property
    def judged(self) -> PolicyReport:
        """What the policies say. `ValueError` where the program is wrong, so that there was nothing to judge."""
        if self.policies is None:
            raise ValueError(f"the program of stack {self.stack} is wrong: no policy was judged")
        return self.policies

    def as_json(self) -> dict[str, Any]:
        """The contract of `trainyard rehearse --json`: secrets masked, in a stable order, equal but for `seconds`."""
        told = self.rehearsal.as_json()
        path = told.pop("critical_path")
        del told["seconds"]
        violations = self.policies.violations if self.policies is not None else ()
        return {
            **told,
            "violations": [masked(violation.as_json()) for violation in violations],
            "cost": masked(self.cost.as_json()) if self.cost is not None else {},
            "critical_path": path,
            "seconds": {phase: round(value, 3) for phase, value in self.seconds.items()},
        }


def review(project_dir: Path, stack_file: Path, *, policy_configuration: Mapping[str, Any] | None = None) -> Review:
    """Rehearses a stack, judges it by the policy pack and prices it.

    `policy_configuration` is as in a file for Pulumi's `--policy-pack-config`. Raises `SettingsError` when that, the
    settings, or an exception from a policy are wrong.
    """
    started = time.perf_counter()
    name = stack_file.relative_to(project_dir).as_posix() if stack_file.is_relative_to(project_dir) else stack_file.name
    rehearsal = rehearse(project_dir, stack_file)
    if rehearsal.errors:
        return Review(name, rehearsal, None, None, rehearsal.seconds)
    policies = check_policies(
        rehearsal.stack,
        rehearsal.preview.resources,
        rehearsal.known.resources,
        rehearsal.settings,
        configuration=policy_configuration,
        other_settings=rehearsal.other_settings,
    )
    before_price = time.perf_counter()
    cost = price_stack(rehearsal.resources, rehearsal.plan)
    done = time.perf_counter()
    seconds = {
        **rehearsal.seconds,
        "policies": policies.seconds,
        "price": done - before_price,
        "total": done - started,
    }
    return Review(name, rehearsal, policies, cost, seconds)
