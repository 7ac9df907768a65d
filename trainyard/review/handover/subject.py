"""What a handover tells of: a review, with what is read from its plan, its picture and its settings in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from trainyard.advice.assessment import Assessment
from trainyard.recorded.hiding import names_shown, secrets_hidden
from trainyard.recorded.model import masked
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.review.reports.picture.model import Picture
from trainyard.review.reports.picture.read import picture_of
from trainyard.review.reports.picture.told import without_secrets
from trainyard.review.review import Review


@dataclass(frozen=True, slots=True)
class Subject:
    """A judged stack. A program that is not this package's has no plan, and is told as far as its resources go."""

    review: Review
    today: date
    smoke: tuple[Mapping[str, Any], ...] = ()  # results of smoke jobs, checked
    answers: Assessment | None = None  # what the client answered before anything was made
    called: str | None = None  # the client's name as a document writes it; None: as the settings spell it
    picture: Picture = field(init=False)
    resources: Resources = field(init=False)  # without secrets
    plan: Any = field(init=False)  # likewise; empty of a program that is not this package's
    hidden: Callable[[str], str] = field(init=False)

    def __post_init__(self) -> None:
        """Reads once what several sections tell of."""
        rehearsal, cost, policies = self.review.rehearsal, self.review.cost, self.review.policies
        wrong = Counter(finding.urn for finding in rehearsal.errors)
        wrong.update(violation.urn for violation in (policies.mandatory if policies is not None else ()))
        expected = cost.total.expected if cost is not None else None
        readable = rehearsal.readable
        picture = picture_of(self.review.stack, readable, expected_usd=expected, wrong=wrong)
        object.__setattr__(self, "picture", picture)
        object.__setattr__(self, "plan", masked(rehearsal.plan))
        object.__setattr__(self, "resources", without_secrets(readable))
        object.__setattr__(self, "hidden", secrets_hidden(readable, names_shown(readable)))

    @property
    def stack(self) -> str:
        """The stack's name."""
        return self.review.stack

    def planned(self, *path: str | int) -> Any:
        """What the plan says at `path`; None where it says nothing."""
        return value_at(self.plan, *path, unknown=None)

    def planned_all(self, *path: str | int) -> Sequence[Any]:
        """The list of the plan at `path`; empty where there is none."""
        found = self.planned(*path)
        return found if isinstance(found, (list, tuple)) else ()

    @property
    def client(self) -> str:
        """Who the environment is for; the stack's name where nobody says."""
        return self.called or str(self.planned("core", "client") or self.stack)

    @property
    def environment(self) -> str:
        """Which of the client's environments it is; empty where nobody says."""
        return str(self.planned("core", "environment") or "")

    @property
    def title(self) -> str:
        """Whose it is, and which: `acme · production`."""
        return " · ".join(filter(None, (self.client, self.environment)))

    @property
    def clusters(self) -> Sequence[Mapping[str, Any]]:
        """The plan's clusters."""
        return self.planned_all("clusters")

    @property
    def managed(self) -> Mapping[str, Any]:
        """The plan of managed training; empty where jobs run on clusters."""
        found = self.planned("ground", "managed")
        return found if isinstance(found, Mapping) else {}
