"""What the expressions of a guard have said, which they say again in every stack that has the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from trainyard.policies.guard_requests import A_POD, by_team, dressed
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.rehearsal.works.rights.kubernetes.admission import Judge, Request

_WRITTEN = re.compile(r"object\.metadata\.(labels|annotations|name|generateName)\b|\.serviceAccountName\b")
"""What whoever makes an object writes into it as he likes: a guard that lets by what has the right name lets all by."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The expressions of a guard with their parameters, and what they have said.

    Requests are known by their identity, and kept so that it stays their own.
    """

    judge: Judge
    params: Any
    _said: dict[tuple[int, str], tuple[Request, bool | None]] = field(default_factory=dict)
    _others: dict[int, tuple[Request, tuple[Request, ...]]] = field(default_factory=dict)

    def says(self, request: Request, team: RecordedResource) -> bool | None:
        """Whether they refuse a request in a team's namespace; None where that cannot be said."""
        namespace = str(value_at(team.inputs, "metadata", "name"))
        key = id(request), namespace if self.judge.tells_apart(namespace) else ""
        if key not in self._said:
            self._said[key] = request, self.judge.refuses(by_team(request, team), self.params)
        return self._said[key][1]

    def otherwise(self, attack: Request) -> Iterable[Request]:
        """The attack by a pod of the team's, and, where they ask for what an author writes, with that written."""
        if attack.groups:
            return ()
        if id(attack) not in self._others:
            asks = any(map(_WRITTEN.search, self.judge.texts))
            told = sorted(self.judge.literals) if asks else ()
            others = (replace(attack, item=dressed(attack.item, self.judge.literals, text)) for text in told)
            self._others[id(attack)] = attack, (replace(attack, user=A_POD), *others)
        return self._others[id(attack)][1]


def answers_of(spec: Any, params: Any) -> Answers:
    """What is known of a guard's specification with its parameters: of the same ones, what they have said before."""
    try:
        return _remembered(json.dumps(spec, sort_keys=True), json.dumps(params, sort_keys=True))
    except TypeError:  # something in it is not known yet, or secret
        return Answers(Judge(spec), params)


@lru_cache(maxsize=64)
def _remembered(spec: str, params: str) -> Answers:
    return Answers(Judge(json.loads(spec)), json.loads(params))
