"""What came of a settings file: accepted, refused with words, or a mistake of ours."""

from __future__ import annotations

import json
import signal
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.fuzz.files import SECRET, Case
from tests.fuzz.said import promised, said, warned
from tests.plan import test_plan_properties as properties
from tests.shared import ROOT
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_config
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import read_stack
from trainyard.review.reports.page import as_html
from trainyard.review.review import Review, review

LONGEST_SECONDS = 60
"""At work, of the process: how long a loaded machine takes says nothing of us."""
LONGEST_TEXT = 3000
"""Characters of one problem: whoever reads a log reads no page of values."""

NOT_TOLD = (
    "no such key",
    "nothing reads",
    "must be a mapping",
    "must be a list",
    "must be of type object",
    "must be of type array",
)
"""Refusals of what is at a wrong place: it may be a password."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`why` is what is wrong with the file or, where the fault is ours, with us."""

    kind: Literal["accepted", "refused", "unsound", "traceback"]
    why: str = ""
    keys: tuple[str, ...] = ()  # of a refusal: the settings that it names

    @property
    def ours(self) -> bool:
        """Whether it is a mistake of the project's."""
        return self.kind in ("unsound", "traceback")


def planned(case: Case, folder: Path) -> Outcome:
    """Whether the settings are read and planned, or refused in words."""
    return _judged(case, folder, lambda file: _check_plan(resolve_config(read_stack(ROOT, file)).plan, case.values))


def rehearsed(case: Case, folder: Path) -> Outcome:
    """The whole way: settings, rehearsal, policies, price. Nothing of a plausible file is even warned of but
    what it asks for."""

    def check(file: Path) -> Iterator[str]:
        found = review(ROOT, file)
        yield from _check_review(found, case.values)
        if case.style == "plausible":
            for finding in found.rehearsal.findings:
                if finding.level != "warning" or finding.rule == "logged":
                    continue
                if not warned(finding.rule, case.values, str(finding)):
                    yield f"rehearsal: {finding}"

    return _judged(case, folder, check)


def spotless(case: Case, folder: Path) -> Outcome:
    """As `rehearsed`, but nothing at all may be said against it: who decides nothing has asked for nothing."""
    return _judged(case, folder, lambda file: _check_spotless(review(ROOT, file)))


def _judged(case: Case, folder: Path, check: Any) -> Outcome:
    file = folder / f"Pulumi.{case.stack}.yaml"
    file.write_bytes(case.text.encode("utf-8", "surrogatepass"))
    try:
        with _at_most(LONGEST_SECONDS):
            faults = list(check(file))
    except SettingsError as error:
        faults = list(_check_words(error))
        keys = tuple(dict.fromkeys(problem.key for problem in error.problems))
        return Outcome("unsound", "; ".join(faults)) if faults else Outcome("refused", str(error), keys)
    except Exception as error:  # whatever it is, it would have reached a user
        return Outcome("traceback", f"{type(error).__name__}: {error}")
    return Outcome("unsound", "; ".join(faults)) if faults else Outcome("accepted")


def _check_words(error: SettingsError) -> Iterator[str]:
    """A refusal names a key and what is allowed, is short, and gives no secret away."""
    if not error.problems:
        yield "refused without a word"
    for problem in error.problems:
        if not problem.key or not problem.got.strip() or not problem.allowed:
            yield f"a refusal lacks words: {problem}"
        if not str(problem).isprintable():
            yield f"a refusal has characters that no terminal should get: {str(problem)!r}"
        if len(str(problem)) > LONGEST_TEXT:
            yield f"a refusal of {len(str(problem))} characters: {problem.key[:80]}"
        if SECRET in str(problem) and problem.allowed.startswith(NOT_TOLD):
            yield f"a value that nobody asked for is told: {problem}"


def _check_plan(plan: Plan, values: Mapping[str, Any]) -> Iterator[str]:
    """The planner's own promises, and that the plan can be written."""
    ours = (properties.check_network, properties.check_pools) if plan.clusters else (properties.check_network,)
    of_the_cloud = ours if plan.ground.kind == "aws" else (properties.check_google,)
    for check in (*of_the_cloud, properties.check_money, *((properties.check_queues,) if plan.clusters else ())):
        try:
            check(plan)
        except AssertionError as error:
            line = traceback.extract_tb(error.__traceback__)[-1].line
            if promised(f"{line} {error}", values):
                yield f"{check.__name__}: {line}: {error}"
    json.dumps(plan.as_dict(), allow_nan=False)


def _check_review(found: Review, values: Mapping[str, Any]) -> Iterator[str]:
    """Nothing that was not asked for, and it can be written down and shown."""
    yield from _check_asked(found, values)
    json.dumps(found.as_json(), allow_nan=False)
    as_html(found)


def _check_asked(found: Review, values: Mapping[str, Any]) -> Iterator[str]:
    """No error, and no mandatory violation but those that the settings ask for."""
    for finding in found.rehearsal.errors:
        yield f"rehearsal: {finding}"
    if found.policies is not None:
        for violation in found.policies.violations:
            if violation.level == "mandatory" and not said(violation.policy, values, violation.message):
                yield f"policy {violation.policy}: {violation.message}"


def _check_spotless(found: Review) -> Iterator[str]:
    for finding in found.rehearsal.findings:
        yield f"rehearsal: {finding}"
    for violation in found.judged.violations:
        yield f"policy {violation.policy}, {violation.level}: {violation.message}"


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Ends what hangs: after so long at work, whatever else the machine does, or ten times as long in all. Only a
    process's first thread can."""

    def ring(signum: int, _: object) -> None:
        of_work = signum == signal.SIGPROF
        raise TimeoutError(f"took longer than {seconds} s of work" if of_work else f"waited for {10 * seconds} s")

    before = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
