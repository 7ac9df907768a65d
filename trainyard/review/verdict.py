"""The verdict on a stack: what it is, what it costs, what to do next. Made once; every report and format carries it."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from trainyard.cost.model import Cost
from trainyard.problems import Problem, count
from trainyard.recorded.model import Finding
from trainyard.review.exit_codes import EXIT_BROKEN, EXIT_PROGRAM, EXIT_SETTINGS, EXIT_VIOLATED
from trainyard.review.policy_check.model import PolicyReport

MOST_STEPS: Final = 3
"""Next steps that a verdict names: what is done first, not all that there is to do."""


class State(enum.StrEnum):
    """What a stack is, best first."""

    SOUND = "sound"  # nothing to mend
    WARNED = "warned"  # deployable; something should be looked at
    OVER_BUDGET = "over-budget"  # deployable; expected to cost more than its budget
    VIOLATED = "violated"  # a mandatory policy forbids it
    UNSAFE = "unsafe-change"  # sound by itself; what stands today would be lost, or the way there is refused
    REFUSED = "refused"  # the engine or a cloud would refuse it, or it would not work; nothing else was judged
    UNREADABLE = "wrong-settings"  # its settings are wrong, so its program did not run
    BROKEN = "broken"  # Trainyard failed on it: nothing is known

    @property
    def exit_code(self) -> int:
        """What a command that judged only this stack ends with."""
        return _EXIT_CODES.get(self, 0)

    @property
    def deployable(self) -> bool:
        """Whether `pulumi up` may go ahead."""
        return self.exit_code == 0

    @property
    def mood(self) -> str:
        """`good`, `warn` or `bad`, for a colour."""
        return "good" if self is State.SOUND else "warn" if self.deployable else "bad"


_EXIT_CODES = {
    State.VIOLATED: EXIT_VIOLATED,
    State.UNSAFE: EXIT_PROGRAM,
    State.REFUSED: EXIT_PROGRAM,
    State.UNREADABLE: EXIT_SETTINGS,
    State.BROKEN: EXIT_BROKEN,
}


def dollars(amount: float) -> str:
    """`18,360`: whole dollars, since nothing in here is known to the cent; `0.40` below ten."""
    return f"{amount:,.0f}" if abs(amount) >= 10 or amount == 0 else f"{amount:,.2f}"


@dataclass(frozen=True, slots=True)
class Money:
    """What a stack costs a month, beside its budget, in US dollars."""

    idle: float
    expected: float
    at_most: float
    expected_if_spot_is_dear: float
    budget: float | None
    unpriced: int  # things that have no price, and are in no figure
    use_on_top: bool = False  # whether jobs and editors are paid for by the hour, and are in no figure

    @property
    def over_budget(self) -> bool:
        """Whether more than the budget is expected to be spent."""
        return self.budget is not None and self.expected > self.budget

    @property
    def sentence(self) -> str:
        """Where the figures stand to the budget."""
        if self.budget is None:
            said = "there is no monthly budget"
        elif self.idle > self.budget:
            said = f"over the budget of {dollars(self.budget)} USD before any job runs"
        elif self.over_budget:
            over = dollars(self.expected - self.budget)
            said = f"expected to be {over} USD over the budget of {dollars(self.budget)} USD"
        elif self.expected_if_spot_is_dear > self.budget:
            said = f"within the budget of {dollars(self.budget)} USD, unless spot is dear"
        elif self.use_on_top and self.at_most <= self.budget:
            left = dollars(self.budget - self.expected)
            said = f"{left} of the budget of {dollars(self.budget)} USD left for jobs and editors, paid for by the hour"
        elif self.at_most > self.budget:
            said = f"within the budget of {dollars(self.budget)} USD as expected, over it with every pool full"
        else:
            said = f"within the budget of {dollars(self.budget)} USD even with every pool full"
        if not self.unpriced:
            return said
        return (
            f"{said}, without {count(self.unpriced, 'thing')} that {'has' if self.unpriced == 1 else 'have'} no price"
        )

    @property
    def mood(self) -> str:
        """`good`, `warn` or `bad`, for a colour."""
        if self.over_budget:
            return "bad"
        known = self.budget is not None and not self.unpriced
        return "good" if known and self.expected_if_spot_is_dear <= (self.budget or 0.0) else "warn"

    def as_json(self) -> dict[str, Any]:
        """All figures, with the comparison and its sentence."""
        return {"currency": "USD", **asdict(self), "over_budget": self.over_budget, "sentence": self.sentence}


def money_of(cost: Cost) -> Money:
    """The month of a priced stack."""
    total = cost.total
    return Money(
        total.floor,
        total.expected,
        total.ceiling,
        cost.high_usd,
        cost.budget_usd or None,
        len(cost.unpriced),
        cost.use_on_top,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a stack is, with the figures behind it and what to do next."""

    stack: str
    state: State
    headline: str  # one sentence, without a full stop
    errors: int = 0  # findings that make the program wrong, or problems of the settings
    warnings: int = 0
    mandatory: int = 0
    advisory: int = 0
    accepted: int = 0  # violations that a valid exception covers
    money: Money | None = None  # None: nothing was priced
    next_steps: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """What a command that judged only this stack ends with."""
        return self.state.exit_code

    def as_json(self) -> dict[str, Any]:
        """The contract of `verdict` in every JSON document."""
        return {
            "state": self.state.value,
            "deployable": self.state.deployable,
            "exit_code": self.exit_code,
            "headline": self.headline,
            "counts": {key: getattr(self, key) for key in ("errors", "warnings", "mandatory", "advisory", "accepted")},
            "money": self.money.as_json() if self.money is not None else None,
            "next_steps": list(self.next_steps),
        }


def verdict_from(stack: str, told: Mapping[str, Any]) -> Verdict:
    """The verdict that another release wrote as JSON. Raises `KeyError`, `TypeError`, `ValueError`."""
    money, keys = told["money"], [field.name for field in fields(Money)]
    return Verdict(
        stack=stack,
        state=State(told["state"]),
        headline=str(told["headline"]),
        money=Money(**{key: money[key] for key in keys}) if money is not None else None,
        next_steps=tuple(map(str, told["next_steps"])),
        **{key: int(number) for key, number in told["counts"].items()},
    )


def verdict_on(
    stack: str,
    findings: Sequence[Finding],
    policies: PolicyReport | None,
    cost: Cost | None,
    *,
    proves: bool | None,
    target: str,
    change: Sequence[Finding] = (),
) -> Verdict:
    """The verdict on a stack that was rehearsed.

    Without `policies` and `cost` its program is wrong. `proves`: it has smoke jobs, so that `pulumi up` ends with them;
    None: it makes the account alone so far, and there is nothing to prove. `target`: where `trainyard smoke` sends one.
    `change`: what was found of the way from
    what is there; nothing where nobody asked.
    """
    errors = [finding for finding in findings if finding.level == "error"]
    warnings = len(findings) - len(errors)
    if policies is None or cost is None or errors:
        return Verdict(
            stack=stack,
            state=State.REFUSED,
            headline=f"{stack} would fail: {count(len(errors), 'error')} that would be refused, or would not work",
            errors=len(errors),
            warnings=warnings,
            next_steps=(
                *_most([f"mend {finding}" for finding in errors]),
                f"then `trainyard rehearse {stack}`: no policy and no price was judged yet",
            ),
        )
    money = money_of(cost)
    mandatory, advisory = len(policies.mandatory), len(policies.violations) - len(policies.mandatory)
    unsafe = [finding for finding in change if finding.level == "error"]
    warnings += len(change) - len(unsafe)
    looked_at = _counts((warnings, "warning"), (advisory, "advisory violation"))
    if unsafe:
        state = State.UNSAFE
        headline = f"{stack} must not be changed like this: {count(len(unsafe), 'error')} on the way from what is there"
    elif mandatory:
        state, headline = State.VIOLATED, f"{stack} must not be deployed: {count(mandatory, 'mandatory violation')}"
    elif money.over_budget:
        state, headline = State.OVER_BUDGET, f"{stack} can be deployed, and is {money.sentence}"
    elif looked_at or money.unpriced:
        state = State.WARNED
        headline = f"{stack} can be deployed; {looked_at or count(money.unpriced, 'thing') + ' without a price'}"
    else:
        state = State.SOUND
        headline = f"{stack} is sound: nothing would be refused, all of it works, no policy is violated"
    return Verdict(
        stack=stack,
        state=state,
        headline=headline,
        errors=len(unsafe),
        warnings=warnings,
        mandatory=mandatory,
        advisory=advisory,
        accepted=len(policies.accepted),
        money=money,
        next_steps=_most([_undone(finding) for finding in unsafe])
        or tuple(_steps(stack, (*findings, *change), policies, money, proves=proves, target=target)),
    )


def _undone(finding: Finding) -> str:
    """What to do about a change that must not be made."""
    return f"{finding.name}: {finding.hint}" if finding.hint else f"take back {finding}"


def verdict_on_settings(stack: str, problems: Sequence[Problem]) -> Verdict:
    """The verdict on a stack whose settings are wrong, so that its program did not run."""
    return Verdict(
        stack=stack,
        state=State.UNREADABLE,
        headline=f"{stack} has wrong settings: {count(len(problems), 'problem')}",
        errors=len(problems),
        next_steps=_most([f"mend {problem}" for problem in problems]),
    )


def verdict_on_failure(stack: str, reason: str) -> Verdict:
    """The verdict where Trainyard itself failed on a stack."""
    return Verdict(
        stack=stack,
        state=State.BROKEN,
        headline=f"{stack} could not be judged: {reason}",
        next_steps=(f"`trainyard --debug rehearse {stack}` shows where; nothing is known of the stack",),
    )


def _steps(
    stack: str, findings: Iterable[Finding], policies: PolicyReport, money: Money, *, proves: bool | None, target: str
) -> Iterator[str]:
    """What to do about a stack that was judged, weightiest first."""
    if policies.mandatory:
        yield from _most([f"{found.policy}: {found.remediation}" for found in policies.mandatory])
        return
    if money.over_budget:
        yield f"`trainyard cost {stack} --compare` shows what is dear and how it could be bought"
    if money.unpriced:
        yield f"`trainyard cost {stack}` names what has no price"
    warned = [f"look at {finding}" for finding in findings]
    advised = [f"{found.policy}: {found.remediation}" for found in policies.violations]
    yield from _most([*advised, *warned])
    if proves is None:
        yield f"`pulumi up --stack {stack}`; then join its network to yours, and take `stage` out"
        return
    by_hand = f"`trainyard smoke {stack} --target {target}`"
    proof = "its smoke jobs prove that it trains" if proves else f"then {by_hand} proves that it trains"
    yield f"`pulumi up --stack {stack}`; {proof}"


def _most(steps: Iterable[str]) -> tuple[str, ...]:
    """The first of them, each once."""
    return tuple(dict.fromkeys(steps))[:MOST_STEPS]


def _counts(*counted: tuple[int, str]) -> str:
    return " and ".join(count(number, noun) for number, noun in counted if number)
