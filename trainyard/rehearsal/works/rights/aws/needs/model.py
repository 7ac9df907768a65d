"""One thing that somebody has to be allowed for the environment to work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trainyard.recorded.read import UnreadableInput
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.conditions import UnknownOperator
from trainyard.rehearsal.works.rights.verdict import Verdict

Context = Mapping[str, str | bool | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Deed:
    """An action on a resource, with the condition keys that its request carries."""

    action: str
    resource: str = "*"
    context: Context = field(default_factory=dict)
    spellings: tuple[str, ...] = ()  # other ARNs that policies name the resource by


@dataclass(frozen=True, slots=True)
class Need:
    """Somebody has to be allowed all of some deeds. Where several are named, one of them is enough."""

    view: View  # what would not work
    path: str  # of the input that asks for it
    rule: str
    who: tuple[Caller, ...]
    words: str  # who that is: "the nodes of group train"
    purpose: str  # "pull images"
    deeds: tuple[Deed, ...]
    from_network: bool = False  # whether requests go through the endpoints of the network
    hint: str = ""


def judge(account: Account, needs: Iterable[Need]) -> None:
    """Notes every need that is refused for sure."""
    for need in needs:
        refused = [(deed, verdict) for deed in need.deeds if (verdict := _refusal(account, need, deed)) is not None]
        if not refused:
            continue
        deed, verdict = refused[0]
        others = ", ".join(dict.fromkeys(other.action for other, _ in refused[1:] if other.action != deed.action))
        also = f" (nor {others})" if others else ""
        message = (
            f"{need.words} cannot {need.purpose}: {deed.action} on {deed.resource}{also} is refused, {verdict.words}"
        )
        need.view.error(need.rule, need.path, message, hint=need.hint)


def answer(account: Account, need: Need, deed: Deed) -> Verdict:
    """What is decided about one deed of a need: the best answer that one of those who may do it gets."""
    found = Verdict("unknown", "nobody is known who would do it")
    for who in need.who:
        for resource in (deed.resource, *deed.spellings):
            try:
                verdict = account.may(
                    who, deed.action, resource, deed.context, from_network=need.from_network, surely=True
                )
            except (UnreadableInput, UnknownOperator) as unreadable:
                verdict = Verdict("unknown", str(unreadable))
            if verdict.allowed:
                return verdict
            found = verdict if found.answer != "no" else found
    return found


def refused(account: Account, who: Caller, deed: Deed, *, from_network: bool = False) -> Verdict | None:
    """The refusal of a deed where it is certain; None where it is allowed or not known."""
    found = None
    for resource in (deed.resource, *deed.spellings):
        try:
            verdict = account.may(who, deed.action, resource, deed.context, from_network=from_network, surely=True)
        except (UnreadableInput, UnknownOperator):
            return None
        if not verdict.refused:
            return None
        found = found or verdict
    return found


def _refusal(account: Account, need: Need, deed: Deed) -> Verdict | None:
    found = None
    for who in need.who:
        verdict = refused(account, who, deed, from_network=need.from_network)
        if verdict is None:
            return None
        found = found or verdict
    return found
