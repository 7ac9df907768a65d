"""A rehearsal with its verdicts: what the policies say of the recorded resources, and what they cost a month."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard.cost.model import Cost
from trainyard.cost.price import price_stack
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.policy_check.check import check_policies
from trainyard.review.policy_check.model import PolicyReport


@dataclass(frozen=True, slots=True)
class Review:
    """`rehearsal` holds the violations and the cost as plain data too, for its JSON."""

    rehearsal: Rehearsal
    policies: PolicyReport | None  # None: the program is wrong, and what it made says nothing of what it should
    cost: Cost | None


def review(project_dir: Path, stack: str | Path, *, config_overrides: Mapping[str, Any] | None = None) -> Review:
    """Rehearses a stack, judges it by the policy pack and prices it.

    Raises `SettingsError` when the settings, or an exception from a policy, are wrong.
    """
    started = time.perf_counter()
    rehearsal = rehearse(project_dir, stack, config_overrides=config_overrides)
    if rehearsal.errors:
        return Review(rehearsal, None, None)
    policies = check_policies(
        rehearsal.stack, rehearsal.preview.resources, rehearsal.known.resources, rehearsal.settings
    )
    before_price = time.perf_counter()
    cost = price_stack(rehearsal.resources, rehearsal.plan)
    done = time.perf_counter()
    return Review(
        rehearsal=replace(
            rehearsal,
            violations=tuple(violation.as_json() for violation in policies.violations),
            cost=cost.as_json(),
            seconds={
                **rehearsal.seconds,
                "policies": policies.seconds,
                "price": done - before_price,
                "total": done - started,
            },
        ),
        policies=policies,
        cost=cost,
    )
