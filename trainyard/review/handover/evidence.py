"""What the rest rests on: each policy with what became of it, each price with its source and date."""

from __future__ import annotations

from collections import Counter
from typing import Final

from trainyard.policies.pack import POLICIES
from trainyard.policies.rules import Rule
from trainyard.problems import count
from trainyard.review.handover.manager import in_words
from trainyard.review.handover.model import Block, Grid, Points, Section, section
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.page_parts import sentence
from trainyard.review.verdict import dollars

AREAS: Final = {
    "money": "Money",
    "capacity": "Capacity",
    "monitoring": "Monitoring",
    "checkpoints": "Checkpoints",
    "data": "Data",
    "security": "Security",
    "walls": "Network walls",
    "residency": "Residency",
    "scheduling": "Scheduling",
    "queue": "Queues",
    "reliability": "Reliability",
    "exception": "Exceptions",
}
"""The areas of the policy pack, for people."""


def policies(subject: Subject) -> Section:
    """Each policy by its area: what it asks for, the controls that it serves, and what became of it."""
    report = subject.review.policies
    if report is None:
        return section("policies", "Policies, with evidence", ())
    blocks: list[Block] = []
    violated = Counter(violation.policy for violation in report.violations)
    accepted = Counter(one.policy for one in report.accepted)
    silent = dict(report.not_applicable)
    areas: dict[str, list[Rule]] = {}
    for policy in POLICIES:
        areas.setdefault(policy.area, []).append(policy)
    summary = tuple(
        (
            AREAS.get(area, area.capitalize()),
            str(len(rules)),
            str(sum(rule.name not in violated for rule in rules)),
            str(sum(violated[rule.name] for rule in rules) or "–"),
            str(sum(accepted[rule.name] for rule in rules) or "–"),
        )
        for area, rules in areas.items()
    )
    columns = ("area", "policies", "hold", "violations", "accepted")
    blocks.append(Grid(columns, summary, numbers=frozenset({1, 2, 3, 4})))
    for area, rules in areas.items():
        rows = []
        for rule in rules:
            became = [count(violated[rule.name], "violation")] if violated[rule.name] else []
            became += [f"{accepted[rule.name]} accepted by exception"] if accepted[rule.name] else []
            if not became:
                became = [f"holds, as far as it applies: {silent[rule.name]}" if rule.name in silent else "holds"]
            rows.append((rule.name, rule.description, ", ".join(rule.controls), "; ".join(became)))
        title = AREAS.get(area, area.capitalize())
        blocks.append(Grid(("policy", "what it asks for", "controls", "outcome"), tuple(rows), title, small=True))
    return section(
        "policies",
        "Policies, with evidence",
        blocks,
        "Every policy was run over the recorded resources of a first preview and of a whole deployment.",
    )


def exceptions(subject: Subject) -> list[str]:
    """What was accepted, until when, by whom and why."""
    report = subject.review.policies
    return [
        sentence(f"{one.policy} is accepted until {one.expires} by {one.owner}: {one.reason}")
        for one in (report.accepted if report is not None else ())
    ]


def prices(subject: Subject) -> Section:
    """What is paid for: each unit price once, with what it comes to, its source and its date."""
    cost = subject.review.cost
    if cost is None:
        return section("prices", "Prices, with sources", ())
    kinds = {share.name: in_words(share.kind) for share in cost.by_component if share.kind}
    sums: dict[tuple[str, str, str, float, str, str, bool], float] = {}
    for line in cost.lines:
        of = kinds.get(line.component.partition("/")[0], "")
        key = (of, line.what, line.unit, line.unit_usd, line.source, line.date, line.stale)
        sums[key] = sums.get(key, 0.0) + line.usd.expected
    parts: dict[str, float] = {}
    for (of, *_), expected in sums.items():
        parts[of] = parts.get(of, 0.0) + expected
    rows = tuple(
        (of, what, f"{usd:,.10g} a {unit}", dollars(expected), source, f"{date} (old)" if stale else date)
        for (of, what, unit, usd, source, date, stale), expected in sorted(
            sums.items(), key=lambda item: (-parts[item[0][0]], item[0][0], -item[1])
        )
    )
    assumed = tuple(
        (key.replace("_", " "), f"{about.get('value'):,.10g}", str(about.get("unit", "")), str(about.get("source", "")))
        for key, about in cost.assumptions.items()
        if isinstance(about.get("value"), (int, float))
    )
    return section(
        "prices",
        "Prices, with sources",
        (
            Grid(
                ("part", "what", "USD", "expected a month", "source", "date"), rows, numbers=frozenset({3}), small=True
            ),
            Grid(("assumption", "value", "unit", "source"), assumed, "What is assumed of a month", small=True),
            Points(
                tuple(f"{entry.resource}, {entry.what}: {entry.reason}" for entry in cost.unpriced), "Without a price"
            ),
        ),
        "US dollars at list prices, before tax. What is old is older than 180 days.",
    )
