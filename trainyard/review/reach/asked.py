"""What a cloud's evaluator was asked of a team's pods, and the row that tells what it answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights
from trainyard.rehearsal.works.rights.verdict import Verdict
from trainyard.review.reach.model import Row

Deeds = Mapping[str, str]
"""What is done, in words, to the action that does it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A deed, and whether it is allowed."""

    deed: str
    verdict: Verdict


def ask(rights: Rights, pod: Pod, deeds: Deeds, resource: str) -> Iterator[Asked]:
    """Asks for every deed on a resource. Raises UnknownInput."""
    for deed, action in deeds.items():
        yield Asked(deed, rights.may(pod, action, resource))


def row_of(what: str, asked: Iterable[Asked]) -> Row | None:
    """A row of what is allowed, or not known to be refused; None where all is refused."""
    open_ = [one for one in asked if not one.verdict.refused]
    if not open_:
        return None
    may = tuple(one.deed + ("" if one.verdict.allowed else " (not known)") for one in open_)
    # "statement Read of the policy of role trainer allows s3:GetObject on …": what it allows is told already.
    why = (one.verdict.words.partition(" allows ")[0] for one in open_)
    return Row((what,), may, "; ".join(dict.fromkeys(why)))
