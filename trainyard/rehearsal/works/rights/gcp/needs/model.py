"""One thing that somebody has to be allowed for the environment to work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.rights.verdict import Verdict

OWN: Final = "projects/own"
"""The stack's own project, whatever it is called."""


@dataclass(frozen=True, slots=True)
class Deed:
    """A permission on a resource, with the attributes that its request carries."""

    permission: str
    resource: str  # in full
    said: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Need:
    """Somebody has to be allowed all of some deeds. Where several are named, one of them is enough."""

    view: View  # what would not work
    path: str  # of the input that asks for it
    rule: str
    who: tuple[Caller, ...]
    words: str  # who that is: "the nodes of pool train"
    purpose: str  # "pull images"
    deeds: tuple[Deed, ...]
    hint: str
    sure: bool = True  # whether nobody else may have given it, where no recording sees it


def judge(project: Project, needs: Iterable[Need]) -> None:
    """Notes every need that is refused for sure."""
    for need in needs:
        asked = [(deed, answer(project, need, deed)) for deed in need.deeds]
        refused = [(deed, verdict) for deed, verdict in asked if verdict.refused]
        if not refused:
            continue
        deed, verdict = refused[0]
        others = ", ".join(dict.fromkeys(one.permission for one, _ in refused[1:]))
        also = f" (nor {others})" if others else ""
        on = "the project" if deed.resource == OWN else deed.resource
        message = f"{need.words} cannot {need.purpose}: {deed.permission} on {on}{also}: {verdict.words}"
        note = need.view.error if need.sure else need.view.warning
        note(need.rule, need.path, message, hint=need.hint)


def answer(project: Project, need: Need, deed: Deed) -> Verdict:
    """What is decided about one deed of a need: the best answer that one of those who may do it gets."""
    found = Verdict("unknown", "nobody is known who would do it")
    for who in need.who:
        found = project.may(who, deed.permission, deed.resource, deed.said)
        if not found.refused:
            return found
    return found
