"""What a manager should watch: what is wrong, what was accepted and ends, what is not known, what was not proven."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.problems import count
from trainyard.review.handover.evidence import exceptions
from trainyard.review.handover.model import Grid, Points, Section, section
from trainyard.review.handover.proof import subject_of
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.page_parts import opening, sentence
from trainyard.review.verdict import dollars

_MOST_FINDINGS = 12


def watch(subject: Subject) -> Section:
    """All of it, the weightiest first."""
    return section(
        "watch",
        "What to watch",
        (_findings(subject), _violations(subject), Points(tuple(_watched(subject)))),
        "What is not yet as it should be, what changes by itself, and what nobody can know before.",
    )


def _findings(subject: Subject) -> Grid:
    found = subject.review.rehearsal.findings
    hidden = subject.hidden  # a finding of the engine's may quote what it was given
    rows = [(finding.level, finding.name, hidden(finding.message), hidden(finding.hint) or "–") for finding in found]
    rest = len(rows) - _MOST_FINDINGS
    shown: list[tuple[str, ...]] = [*rows[:_MOST_FINDINGS]]
    if rest > 0:
        shown.append(("", f"and {rest} more", f"`trainyard rehearse {subject.stack}` tells all", ""))
    return Grid(("level", "what", "why", "what would do"), tuple(shown), "Found in the program")


def _violations(subject: Subject) -> Grid:
    report = subject.review.policies
    rows: dict[tuple[str, str, str], tuple[str, str, str, str]] = {}
    for one in report.violations if report is not None else ():
        rows.setdefault(
            (one.level, one.policy, one.message),
            (one.level, one.policy, f"{one.name}: {one.message}" if one.name else one.message, one.remediation or "–"),
        )
    return Grid(
        ("level", "policy", "what is wrong", "what would do"), tuple(rows.values()), "Policies that are violated"
    )


def _watched(subject: Subject) -> Iterator[str]:
    money, cost = subject.review.verdict.money, subject.review.cost
    if money is not None and cost is not None:
        if money.budget is None:
            yield "There is no monthly budget: nobody is told when money runs away."
        elif money.over_budget:
            yield sentence(opening(f"the month is {money.sentence}"))
        else:
            if money.expected_if_spot_is_dear > money.budget:
                dear = dollars(money.expected_if_spot_is_dear)
                yield f"Spot prices move: where they are dear, the month comes to {dear} USD, over the budget."
            if money.at_most > money.budget:
                most = dollars(money.at_most)
                yield f"With every pool full all month it would be {most} USD, over the budget; the alerts come before."
        for share in cost.by_team:
            if share.budget_usd is not None and share.usd.expected > share.budget_usd:
                expected, budget = dollars(share.usd.expected), dollars(share.budget_usd)
                yield f"Team {share.name} is expected to need {expected} USD of its budget of {budget} USD."
        if cost.unpriced:
            without = "has no price, and is" if len(cost.unpriced) == 1 else "have no price, and are"
            yield f"{count(len(cost.unpriced), 'thing')} {without} in no figure of this report."
        if cost.stale_lines:
            yield (
                f"The oldest price is of {cost.oldest}; {count(len(cost.stale_lines), 'line')} rest on prices older "
                "than 180 days. `trainyard catalog refresh` reads current ones."
            )
        if cost.other_region_lines:
            yield f"{count(len(cost.other_region_lines), 'price')} of another region: none of this one is known."
    yield from exceptions(subject)
    for cluster in subject.clusters:
        for pool in cluster.get("pools") or ():
            for group in pool.get("node_groups") or ():
                held = group.get("reservation")
                if held and held.get("ends_at"):
                    yield f"The capacity of {group['name']} ends at {held['ends_at']}: {held['id']}."
    if not subject.smoke and subject.plan:
        yield (
            "No result of a smoke job lies beside this report: that the environment trains was not shown yet. "
            f"`trainyard smoke {subject.stack} --json FILE` shows it, `--smoke FILE` puts it in here."
        )
    for document in subject.smoke:
        if document["verdict"] != "pass":
            yield f"The smoke job of {subject_of(document)} did not pass: {document['verdict']}."
