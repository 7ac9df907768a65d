"""Changes of a stack that are right, judged several at a time: the whole verdict on one of them takes half a second.

What is judged together changes resources that no other of them changes, as it would alone. Where something is told of
several, halves of them are judged, down to each by itself: nobody is accused of what only another would be. With the
variable `ALONE` set, each is judged by itself from the start.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from tests.rehearsal.works.mistakes import Change, Recorded, context_of, told
from tests.remembered import of_session
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import Rehearsal

AT_ONCE: Final = 8
"""Changes of one recording: few enough that hardly one hides what another would be accused of."""

Judged = Callable[[Recorded], Sequence[Any]]
"""What is told of a recording, as far as the stack without changes is not told it."""


def _everything(_: str, __: Any) -> bool:
    return True


class Together:
    """Changes of one stack by name, and what is told of each."""

    def __init__(
        self, key: Hashable, sound: Recorded, changes: Mapping[str, Change], judged: Judged,
        accuses: Callable[[str, Any], bool] = _everything,
    ) -> None:  # fmt: skip
        """`key`: what no other changes of the session have; `accuses`: whether this, told, is held against a change."""
        self._key, self._sound, self._judged, self._accuses = key, sound, judged, accuses
        self._made = {name: _Made(sound, change(list(sound))) for name, change in changes.items()}
        self._groups = _groups(self._made)
        self._told: dict[str, list[Any]] = {}

    def told(self, name: str) -> list[Any]:
        """What is held against a change."""
        if name not in self._told:
            if os.environ.get("ALONE"):
                self._told[name] = self._of([name])[name]
            else:
                (group,) = (one for one in self._groups if name in one)
                self._told |= of_session().of(repr((self._key, group)), lambda: self._of(group))
        return self._told[name]

    def _of(self, names: Sequence[str]) -> dict[str, list[Any]]:
        if len(names) == 1:
            found = self._judged(self._made[names[0]].alone)
            return {names[0]: [one for one in found if self._accuses(names[0], one)]}
        found = self._judged(_joined(self._sound, [self._made[name] for name in names]))
        if not any(self._accuses(name, one) for name in names for one in found):
            return {name: [] for name in names}
        half = len(names) // 2
        return self._of(names[:half]) | self._of(names[half:])


class _Made:
    """What a change makes of a stack."""

    def __init__(self, sound: Recorded, alone: list[RecordedResource]) -> None:
        before = {one.urn: one for one in sound}
        self.alone = alone
        after = {one.urn: one for one in alone}
        self.gone = {urn for urn in before if urn not in after}
        self.other = {urn: one for urn, one in after.items() if urn in before and one is not before[urn]}
        self.more = [one for one in alone if one.urn not in before]
        self.changed = frozenset([*self.gone, *self.other, *(one.urn for one in self.more)])
        # What is in another order, or has two of one URN, cannot be put beside others; nor can what may bring things
        # that nobody sees: beside a release of somebody's hardly anything is told to be missing.
        kept = [self.other.get(one.urn, one) for one in sound if one.urn not in self.gone]
        brings = any(one.type == HELM_RELEASE or not one.custom for one in self.more)
        self.joins = len(before) == len(sound) and not brings and _same([*kept, *self.more], alone)


def _same(some: Recorded, others: Recorded) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


def _joined(sound: Recorded, made: Sequence[_Made]) -> list[RecordedResource]:
    gone = {urn for one in made for urn in one.gone}
    other = {urn: resource for one in made for urn, resource in one.other.items()}
    kept = [other.get(one.urn, one) for one in sound if one.urn not in gone]
    return [*kept, *(resource for one in made for resource in one.more)]


def _groups(made: Mapping[str, _Made]) -> list[list[str]]:
    """Each in the first group with room of which nobody changes the same resource."""
    groups: list[tuple[list[str], set[str]]] = []
    alone = []
    for name, one in made.items():
        if not one.joins:
            alone.append([name])
            continue
        fits = (group for group in groups if len(group[0]) < AT_ONCE and not group[1] & one.changed)
        names, changed = next(fits, ([], set()))
        if not names:
            groups.append((names, changed))
        names.append(name)
        changed |= one.changed
    return [*alone, *(names for names, _ in groups)]


def told_together(
    key: Hashable, name: str, sound: Recorded, changes: Mapping[str, Change], judged: Judged,
    accuses: Callable[[str, Any], bool] = _everything,
) -> list[Any]:  # fmt: skip
    """What is held against one of the changes of a stack, as `Together` tells it. All but `name` goes by `key`."""
    if key not in _TOGETHER:
        _TOGETHER[key] = Together(key, sound, changes, judged, accuses)
    return _TOGETHER[key].told(name)


_TOGETHER: dict[Hashable, Together] = {}


def told_of_right(
    key: Hashable, name: str, rehearsed: Callable[[str], Rehearsal], right: Mapping[str, tuple[str, Change]]
) -> list[Any]:
    """What the whole verdict holds against one of the changes that are right, each with its stack: values too, of which
    the stack without changes is not told."""
    stack, _ = right[name]
    rehearsal = rehearsed(stack)
    context = context_of(rehearsal)
    before = check_values(rehearsal.known.resources, context)

    def judged(resources: Recorded) -> list[Any]:
        new = [one for one in check_values(resources, context) if one not in before]
        return [*told(rehearsal, lambda _: list(resources), ours=True), *new]

    changes = {which: change for which, (of_stack, change) in right.items() if of_stack == stack}
    return told_together((key, stack), name, rehearsal.known.resources, changes, judged)
