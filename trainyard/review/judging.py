"""The rules and the policies on what was recorded: in a process of their own, which has them ready by then.

It is forked before the program runs (`review/beside.py`): while that is recorded in the first process, this one imports
what judges. Of the judging it has the half done by a third process, where that may be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any

from trainyard.policies.exceptions import today
from trainyard.recorded.model import Finding
from trainyard.rehearsal.context import Case, Refused
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.shape.once import judged_once
from trainyard.rehearsal.shape.words import says_nothing_of
from trainyard.review.beside import Beside, Told
from trainyard.review.policy_check.model import PolicyReport
from trainyard.review.practice import cloud_of, practise


class Judge:
    """Judges in another process, from the beginning of the block on; not at all where that may not be the same.

    Args:
        configuration: of the policies.
        alone: nothing else of ours keeps this machine's cores busy.
        meanwhile: what this process does with what was recorded while the other judges it, which may be too early: a
            failure is passed over, and nothing is to depend on it.
    """

    def __init__(
        self, configuration: Mapping[str, Any] | None, *, alone: bool, meanwhile: Callable[[Rehearsal], object]
    ) -> None:
        self._configuration = configuration
        self._alone = alone
        self._meanwhile = meanwhile
        self._recorded: Rehearsal | None = None
        self._beside = Beside()
        self._policies: PolicyReport | None = None

    def __enter__(self) -> Judge:
        """Begins to make ready what judges."""
        if self._alone:
            self._beside.begin(lambda told: _judged(told, self._configuration))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Ends what nobody waits for any more."""
        self._beside.__exit__(kind, error, at)

    def configured(self, values: Mapping[str, str]) -> None:
        """Says what the other process may practise on."""
        self._beside.tell(cloud_of(values))

    def recorded(self, run: Rehearsal, case: Case) -> None:
        """Sends what there is to judge, without what says nothing to those who judge."""
        self._recorded = run
        self._beside.tell((_bare(run), case))

    def judged(self, refused: Refused) -> tuple[list[Finding], Mapping[str, float]] | None:
        """What the rules find; None where it did not come to an end. The policies have been asked as well then."""
        self._beside.tell(refused)
        if self._beside.runs and self._recorded is not None:
            with suppress(Exception):  # it is done again where it is needed
                self._meanwhile(self._recorded)
        answer = self._beside.answer()
        if answer is None:
            return None
        self._policies, found, seconds = answer
        return found, seconds

    def by_policies(self, run: Rehearsal) -> PolicyReport:
        """What the policies say, as `by_policies` gives it."""
        return self._policies or by_policies(run, self._configuration)


def _bare(run: Rehearsal) -> Rehearsal:
    preview, known = (Recording(each.preview, each.resources) for each in (run.preview, run.known))
    return replace(run, plan={}, outputs={}, preview=preview, known=known)


def _judged(
    told: Told, configuration: Mapping[str, Any] | None
) -> tuple[PolicyReport, list[Finding], Mapping[str, float]]:
    import trainyard.review.policy_check.check  # noqa: F401 - both processes that judge have it
    from trainyard.rehearsal.judged import broken_beside, judged_by_rules
    from trainyard.rehearsal.works.check import ROOMS

    cloud = told()
    if cloud:
        practise(cloud, lambda run: by_policies(run, configuration), told.comes)
    run, case = told()
    with Beside() as beside:
        beside.begin(lambda _: by_policies(run, configuration), lambda take: broken_beside(case, take), len(ROOMS))
        found, seconds = judged_by_rules(case, told, beside)
        return beside.answer() or by_policies(run, configuration), found, seconds


def by_policies(rehearsal: Rehearsal, configuration: Mapping[str, Any] | None) -> PolicyReport:
    """What the policies say of a stack. Dates of exceptions and of versions go by the day."""
    from trainyard.review.policy_check.check import check_policies  # the pack, which only the process that judges needs

    started = time.perf_counter()
    shape = rehearsal.shape
    if shape is not None and configuration and not says_nothing_of(configuration, shape.renaming.words):
        shape = None  # the configuration says of this client what it does not say of the next
    found: PolicyReport = judged_once(
        shape,
        ("policies", repr(configuration), today()),
        lambda: check_policies(
            rehearsal.stack,
            rehearsal.preview.resources,
            rehearsal.known.resources,
            rehearsal.settings,
            configuration=configuration,
            other_settings=rehearsal.other_settings,
        ),
        keep=lambda report, renaming: report.for_the_next(renaming.template),
        again=lambda kept, renaming: kept.of_the_next(rehearsal.stack, renaming.filled, time.perf_counter() - started),
    )
    return found
