"""An outcome as one self-contained page: the verdict, the money, what to do next, a picture, and all behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainyard.output import page
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.change.words import minutes
from trainyard.review.reports.page_parts import FILTERS, counts_of, money_bar, shares_of, violated_policies
from trainyard.review.reports.picture.layout import drawings
from trainyard.review.reports.picture.lettering import STYLES
from trainyard.review.reports.picture.look import COLOURS
from trainyard.review.reports.picture.read import picture_of
from trainyard.review.reports.picture.words import said_of
from trainyard.review.reports.rehearsal import clock, grouped, short_type, times, totals_of, tree_of, where
from trainyard.review.review import Outcome, Review, Unjudged
from trainyard.review.works.model import Table
from trainyard.review.works.topics import TOPICS, tables_of


def as_html(outcome: Outcome) -> str:
    """The outcome as one self-contained page. A stack that was not judged has one too: its verdict, and why."""
    verdict = outcome.verdict
    parts: dict[str, Any] = {"review": None, "drawings": (), "problems": ()}
    if isinstance(outcome, Unjudged):
        parts["problems"] = [(mistake.problem, mistake.line) for mistake in outcome.mistakes]
    else:
        parts |= _parts_of(outcome)
    return page(
        Path(__file__).with_name("page.html.j2"),
        {**FILTERS, "clock": clock, "short_type": short_type, "where": where},
        outcome=outcome,
        verdict=verdict,
        counts=counts_of(verdict),
        bar=money_bar(verdict.money) if verdict.money is not None else None,
        lettering=STYLES,
        colours=COLOURS,
        times=times,
        minutes=minutes,
        **parts,
    )


def _parts_of(review: Review) -> dict[str, Any]:
    """What the page of a judged stack shows besides the verdict."""
    rehearsal = review.rehearsal
    expected = review.cost.total.expected if review.cost is not None else None
    wrong = Counter(finding.urn for finding in rehearsal.errors)
    wrong.update(violation.urn for violation in (review.policies.mandatory if review.policies is not None else ()))
    picture = picture_of(review.stack, rehearsal.readable, expected_usd=expected, wrong=wrong)
    return {
        "review": review,
        "drawings": drawings(picture),
        "picture_said": said_of(picture),
        "groups": grouped(rehearsal.findings),
        "shares": shares_of(review.cost),
        "longest": max((step.finish for step in rehearsal.critical_path), default=1.0),
        "totals": totals_of(review),
        "tree": tree_of(rehearsal),
        "played": _played(rehearsal.readable),
        "violated": violated_policies(review.policies.violations if review.policies is not None else ()),
    }


def _played(resources: Sequence[RecordedResource]) -> list[tuple[str, tuple[Table, ...], str]]:
    """Every topic's question and tables; or none, and why that cannot be told."""
    found: list[tuple[str, tuple[Table, ...], str]] = []
    together = Resources(resources)
    for name, topic in TOPICS.items():
        try:
            found.append((topic.question, tables_of(name, together), ""))
        except UnreadableInput as unreadable:
            found.append((topic.question, (), f"Cannot be told: {unreadable}."))
    return found
