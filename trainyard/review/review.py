"""A stack judged: its rehearsal, what the policies say of it, what it costs a month, and the verdict on all three."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.conventions import MANAGED_TARGETS
from trainyard.problems import Problem, SettingsError
from trainyard.recorded.model import masked
from trainyard.rehearsal.engine.project import stack_of
from trainyard.rehearsal.graph import proves
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.judging import Judge
from trainyard.review.policy_check.model import PolicyReport
from trainyard.review.source import StackFile
from trainyard.review.verdict import Verdict, verdict_on, verdict_on_failure, verdict_on_settings
from trainyard.settings.unseen import stand_in

if TYPE_CHECKING:
    from trainyard.cost.model import Cost
    from trainyard.review.change.review import ChangeReview
    from trainyard.review.change.source import Source


@dataclass(frozen=True, slots=True)
class Review:
    """A stack that was judged. Every report and every format is made of this."""

    file: str  # the stack's file, relative to the project where it lies in it
    rehearsal: Rehearsal
    policies: PolicyReport | None  # None: the program is wrong, and what it made says nothing of what it should
    cost: Cost | None  # None: likewise
    seconds: Mapping[str, float]  # wall time by phase
    project: Path = Path()  # the project's folder
    outside: Path | None = None  # the stack's file where it does not lie in the project
    change: ChangeReview | None = None  # from what is there; None: nobody asked, or the program is wrong
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        """Makes the verdict, which follows from the rest."""
        early = self.rehearsal.settings.get("stage") == "account"
        kind = str(self.rehearsal.plan.get("ground", {}).get("kind", "aws"))
        ended = None if early else any(map(proves, self.rehearsal.critical_path))
        change = self.change.findings if self.change is not None else ()
        told = verdict_on(
            self.stack,
            self.rehearsal.findings,
            self.policies,
            self.cost,
            proves=ended,
            target="kubernetes" if self.rehearsal.plan.get("clusters") else MANAGED_TARGETS[kind],
            change=change,
        )
        object.__setattr__(self, "verdict", told)

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
        stack = told.pop("stack")
        del told["seconds"]
        violations = self.policies.violations if self.policies is not None else ()
        return {
            "stack": stack,
            "verdict": self.verdict.as_json(),
            **({"change": self.change.as_json()} if self.change is not None else {}),
            **told,
            "violations": [masked(violation.as_json()) for violation in violations],
            "cost": masked(self.cost.as_json()) if self.cost is not None else {},
            "critical_path": path,
            "seconds": {phase: round(value, 3) for phase, value in self.seconds.items()},
        }


@dataclass(frozen=True, slots=True)
class Mistake:
    """A problem of the settings, with the line of the stack's file that it is on."""

    problem: Problem
    line: int | None  # None: the key is not in the file

    def as_json(self) -> dict[str, Any]:
        """All fields, in a fixed order."""
        told = self.problem
        return {"key": told.key, "line": self.line, "got": told.got, "allowed": told.allowed, "hint": told.hint}


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A stack of which nothing was recorded: its settings are wrong, or Trainyard failed on it."""

    stack: str
    file: str
    mistakes: tuple[Mistake, ...]
    verdict: Verdict
    project: Path = Path()  # the project's folder
    outside: Path | None = None  # the stack's file where it does not lie in the project

    def as_json(self) -> dict[str, Any]:
        """What is wrong, in plain values."""
        return {
            "stack": self.stack,
            "verdict": self.verdict.as_json(),
            "problems": [mistake.as_json() for mistake in self.mistakes],
        }


Outcome = Review | Unjudged
"""What comes of looking at a stack."""


def judge(
    project_dir: Path,
    stack_file: Path,
    *,
    policy_configuration: Mapping[str, Any] | None = None,
    since: Source | None = None,
    stack_outputs: Mapping[str, Mapping[str, Any]] | None = None,
    alone: bool = False,
    meanwhile: Callable[[], object] = lambda: None,
) -> Outcome:
    """As `review`, but wrong settings are an outcome like any other.

    The configuration of the policies belongs to no stack: check it before (`read_configuration`, `reconcile`).
    """
    try:
        return review(
            project_dir,
            stack_file,
            policy_configuration=policy_configuration,
            since=since,
            stack_outputs=stack_outputs,
            alone=alone,
            meanwhile=meanwhile,
        )
    except SettingsError as error:
        return unreadable(project_dir, stack_file, error.problems)


def unreadable(project_dir: Path, stack_file: Path, problems: Sequence[Problem]) -> Unjudged:
    """The outcome for a stack with wrong settings, each problem with its line in the stack's file."""
    stack = stack_of(stack_file)
    file = StackFile(stack_file)
    mistakes = tuple(Mistake(problem, file.line_of(problem.key)) for problem in problems)
    told = verdict_on_settings(stack, problems)
    return Unjudged(
        stack, _shown(project_dir, stack_file), mistakes, told, project_dir, _outside(project_dir, stack_file)
    )


def failed(project_dir: Path, stack_file: Path, reason: str) -> Unjudged:
    """The outcome for a stack on which Trainyard itself failed."""
    stack = stack_of(stack_file)
    told = verdict_on_failure(stack, reason)
    return Unjudged(stack, _shown(project_dir, stack_file), (), told, project_dir, _outside(project_dir, stack_file))


def _shown(project_dir: Path, stack_file: Path) -> str:
    return stack_file.name if _outside(project_dir, stack_file) else stack_file.relative_to(project_dir).as_posix()


def _outside(project_dir: Path, stack_file: Path) -> Path | None:
    return None if stack_file.is_relative_to(project_dir) else stack_file


def review(
    project_dir: Path,
    stack_file: Path,
    *,
    policy_configuration: Mapping[str, Any] | None = None,
    since: Source | None = None,
    stack_outputs: Mapping[str, Mapping[str, Any]] | None = None,
    alone: bool = False,
    meanwhile: Callable[[], object] = lambda: None,
) -> Review:
    """Rehearses a stack, judges it by the policy pack and prices it; and the way there from what is there, if asked.

    `policy_configuration` is as in a file for Pulumi's `--policy-pack-config`; `stack_outputs` are what is known of
    other stacks that its program refers to; `alone`: nothing else of ours
    keeps this machine's cores busy, so that policies and findings may be judged at the same time (`beside`);
    `meanwhile`: what the caller makes ready for what comes next, where this process waits for another. Raises
    `SettingsError` when that, the settings, or an exception from a policy are wrong.
    """
    started = time.perf_counter()
    name = _shown(project_dir, stack_file)
    price = _Price()

    def while_waiting(recorded: Rehearsal) -> None:
        price.of(recorded)
        meanwhile()

    with (
        Judge(policy_configuration, alone=alone, meanwhile=while_waiting) as judge,
        _reading(since, project_dir, stack_file, stack_outputs) as earlier,
    ):
        rehearsal = rehearse(project_dir, stack_file, stack_outputs=stack_outputs, stand_in=stand_in, elsewhere=judge)
        if rehearsal.errors:
            outside = _outside(project_dir, stack_file)
            return Review(name, rehearsal, None, None, rehearsal.seconds, project_dir, outside)
        policies = judge.by_policies(rehearsal)
        cost = price.of(rehearsal)
        done = time.perf_counter()
        seconds = {**rehearsal.seconds, "policies": policies.seconds, "price": price.seconds}
        change = earlier(rehearsal) if earlier is not None else None
    if change is not None:
        seconds["change"] = time.perf_counter() - done
    seconds["total"] = time.perf_counter() - started
    outside = _outside(project_dir, stack_file)
    return Review(name, rehearsal, policies, cost, seconds, project_dir, outside, change)


class _Price:
    """What one stack costs, worked out once, when it is first asked for."""

    def __init__(self) -> None:
        self._found: Cost | None = None
        self.seconds = 0.0

    def of(self, run: Rehearsal) -> Cost:
        """What the stack costs: the same whether its findings are known yet."""
        if self._found is None:
            started = time.perf_counter()
            from trainyard.cost.price import price_stack

            self._found = price_stack(run.resources, run.plan)
            self.seconds = time.perf_counter() - started
        return self._found


@contextmanager
def _reading(
    since: Source | None,
    project_dir: Path,
    stack_file: Path,
    stack_outputs: Mapping[str, Mapping[str, Any]] | None,
) -> Iterator[Callable[[Rehearsal], ChangeReview] | None]:
    """Reads what is there while the block runs, and gives what judges the change; None where nobody asked.

    What cannot be read is told: the stack is not to blame, and must not pass for one that changes nothing.
    """
    if since is None:
        yield None
        return
    from trainyard.review.change.review import not_compared, review_change

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(since.read, project_dir, stack_file, stack_outputs)

        def judged(rehearsal: Rehearsal) -> ChangeReview:
            try:
                earlier = reading.result()
            except SettingsError as error:
                return not_compared(since.words, str(error))
            return review_change(earlier, rehearsal)

        yield judged
