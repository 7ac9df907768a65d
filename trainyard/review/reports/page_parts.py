"""What a page is made of besides the reports' own parts: the bar of the money, and how words are set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup, escape

from trainyard.cost.model import Cost, Share
from trainyard.review.policy_check.model import Violation
from trainyard.review.verdict import Money, Verdict, dollars


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the bar, in percent of its width."""

    style: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class MoneyBar:
    """Idle, expected and most in one bar, with the budget as a line; what lies beyond the budget is told apart."""

    parts: tuple[Part, ...]
    budget: float | None


def money_bar(money: Money) -> MoneyBar:
    """The bar of a month."""
    scale = max(money.at_most, money.expected, money.budget or 0.0, 1.0) * 1.02
    points = (("idle", money.idle), ("expected", money.expected), ("most", money.at_most))
    return MoneyBar(
        tuple(_parts(points, scale, money)), 100 * money.budget / scale if money.budget is not None else None
    )


def _parts(points: tuple[tuple[str, float], ...], scale: float, money: Money) -> Iterator[Part]:
    start = 0.0
    for style, usd in points:
        end = 100 * usd / scale
        if end > start:
            yield Part(style, start, end - start)
        start = max(start, end)
    if money.budget is not None and money.over_budget:
        yield Part("over", 100 * money.budget / scale, 100 * (money.expected - money.budget) / scale)


def shares_of(cost: Cost | None) -> list[tuple[str, tuple[Share, ...]]]:
    """The tables of the money: by component, and by team where there are any."""
    if cost is None:
        return []
    return [("component", cost.by_component), *([("team", cost.by_team)] if len(cost.by_team) > 1 else [])]


def counts_of(verdict: Verdict) -> str:
    """`7 mandatory and 2 advisory violations, 1 warning, 1 accepted by exception`: what there is, in one line."""
    violations = [f"{number} {level}" for number, level in _violated(verdict) if number]
    several = verdict.mandatory + verdict.advisory != 1
    said = [f"{' and '.join(violations)} violation{'s' if several else ''}"] if violations else []
    for number, noun in ((verdict.errors, "error"), (verdict.warnings, "warning")):
        if number:
            said.append(f"{number} {noun}{'' if number == 1 else 's'}")
    if verdict.accepted:
        said.append(f"{verdict.accepted} accepted by exception")
    return ", ".join(said)


def _violated(verdict: Verdict) -> tuple[tuple[int, str], ...]:
    return (verdict.mandatory, "mandatory"), (verdict.advisory, "advisory")


@dataclass(frozen=True, slots=True)
class ViolatedPolicy:
    """One policy at one level, with every place where it is violated."""

    first: Violation
    by_message: tuple[tuple[str, tuple[Violation, ...]], ...]  # what is wrong, and where it is


def violated_policies(violations: Iterable[Violation]) -> list[ViolatedPolicy]:
    """Violations by policy, in their order: what it asks for, how to mend it, and each mistake, is said once."""
    found: dict[tuple[str, str, str], dict[str, list[Violation]]] = {}
    for violation in violations:
        policy = (violation.level, violation.policy, violation.remediation)
        found.setdefault(policy, {}).setdefault(violation.message, []).append(violation)
    return [
        ViolatedPolicy(next(iter(said.values()))[0], tuple((message, tuple(same)) for message, same in said.items()))
        for said in found.values()
    ]


def sentence(text: str) -> str:
    """With a full stop. A first word may be a name, and stays as it is."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def opening(text: str) -> str:
    """With a capital."""
    return text[:1].upper() + text[1:]


def commands(text: str) -> Markup:
    """Text whose parts between backticks are commands."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick that opens nothing
        return escape(text)
    pieces = (Markup("<code>{}</code>").format(part) if index % 2 else escape(part) for index, part in enumerate(parts))
    return Markup("").join(pieces)


def words(value: str) -> str:
    """`Over budget` of `over-budget`."""
    return value.replace("-", " ").capitalize()


def pixels(number: float) -> str:
    """A length of a drawing: a tenth of a pixel is enough."""
    return f"{number:.1f}".rstrip("0").rstrip(".")


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "commands": commands,
    "dollars": dollars,
    "opening": opening,
    "px": pixels,
    "sentence": sentence,
    "words": words,
}
