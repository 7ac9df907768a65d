"""JUnit XML, for GitLab's test reports: a suite a stack, a case for settings, program, budget and each policy."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from trainyard.policies.pack import NAME, POLICIES
from trainyard.policies.rules import Rule
from trainyard.review.policy_check.model import PolicyReport, Violation
from trainyard.review.review import Outcome, Review, Unjudged
from trainyard.review.verdict import State, Verdict

if TYPE_CHECKING:
    from trainyard.review.change.review import ChangeReview

SETTINGS, PROGRAM, CHANGE, BUDGET = "settings", "program", "change", "budget"
"""Cases of every stack, beside one a policy; the change where one is judged."""


def part(outcome: Outcome) -> str:
    """One stack as the XML text of its suite.

    What forbids a deployment fails its case. What does not (advice, warnings, more money than the budget) is output.
    What was not judged, because something before it is wrong, is skipped.
    """
    told = outcome.verdict
    suite = ElementTree.Element("testsuite", name=told.stack, file=outcome.file)
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(told):
        ElementTree.SubElement(properties, "property", name=name, value=_xml(value))
    if isinstance(outcome, Unjudged):
        _unjudged(suite, outcome)
    else:
        _judged(suite, outcome)
    cases = suite.findall("testcase")
    for name, tag in (("tests", ""), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(cases) if not tag else sum(case.find(tag) is not None for case in cases)))
    seconds = outcome.seconds.get("total", 0.0) if isinstance(outcome, Review) else 0.0
    suite.set("time", f"{seconds:.3f}")
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join([f"{told.headline}.", *told.next_steps]))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode")


def whole(parts: Sequence[str]) -> str:
    """All stacks as one JUnit XML document."""
    inside = "".join(f"{textwrap.indent(text, '  ', _begins_a_tag)}\n" for text in parts)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="{NAME}">\n{inside}</testsuites>\n'


def _begins_a_tag(line: str) -> bool:
    """Whether a line may be indented: one that begins in the middle of a text may not."""
    return line.lstrip().startswith("<")


def _properties(told: Verdict) -> Iterable[tuple[str, str]]:
    yield "verdict", told.state.value
    if told.money is not None:
        yield "usd_a_month_expected", f"{told.money.expected:.2f}"
        yield "usd_a_month_budget", "" if told.money.budget is None else f"{told.money.budget:.2f}"


def _unjudged(suite: ElementTree.Element, outcome: Unjudged) -> None:
    case = _case(suite, SETTINGS)
    if outcome.verdict.state is State.BROKEN:
        ElementTree.SubElement(case, "error", message=_xml(outcome.verdict.headline))
        _skip_from(suite, PROGRAM, "Trainyard failed")
        return
    lines = [
        f"{outcome.file}{'' if mistake.line is None else f':{mistake.line}'}: {mistake.problem}"
        for mistake in outcome.mistakes
    ]
    _fail(case, outcome.verdict.headline, lines)
    _skip_from(suite, PROGRAM, "the settings are wrong")


def _judged(suite: ElementTree.Element, review: Review) -> None:
    _case(suite, SETTINGS)
    program = _case(suite, PROGRAM)
    said = [str(finding) for finding in review.rehearsal.findings]
    if review.rehearsal.errors:
        _fail(program, review.verdict.headline, said)
    elif said:
        ElementTree.SubElement(program, "system-out").text = _xml("\n".join(said))
    if review.policies is None:
        _skip_from(suite, BUDGET, "the program is wrong")
        return
    if review.change is not None:
        _change(_case(suite, CHANGE), review.change)
    budget = _case(suite, BUDGET)
    if review.verdict.money is not None:
        ElementTree.SubElement(budget, "system-out").text = review.verdict.money.sentence
    _policies(suite, review.policies)


def _change(case: ElementTree.Element, change: ChangeReview) -> None:
    lines = [*map(str, change.findings), *(f"{what}: {happens}" for what, happens, _ in change.interrupted)]
    said = f"from {change.source}: {change.summary}"
    if any(finding.level == "error" for finding in change.findings):
        _fail(case, said, lines)
    else:
        ElementTree.SubElement(case, "system-out").text = _xml("\n".join([said, *lines]))


def _policies(suite: ElementTree.Element, report: PolicyReport) -> None:
    by_policy: defaultdict[str, list[Violation]] = defaultdict(list)
    for violation in report.violations:
        by_policy[violation.policy].append(violation)
    skipped = dict(report.not_applicable)
    failed = {violation.policy for violation in report.mandatory}
    for policy in POLICIES:
        case, found = _case(suite, policy.name), [str(violation) for violation in by_policy[policy.name]]
        if policy.name in failed:
            _fail(case, policy.description, [*found, _remediation(policy)])
        elif found:
            ElementTree.SubElement(case, "system-out").text = _xml("\n".join(found))
        elif policy.name in skipped:
            ElementTree.SubElement(case, "skipped", message=_xml(skipped[policy.name]))


def _remediation(policy: Rule) -> str:
    return policy.remediation_steps or ""


def _skip_from(suite: ElementTree.Element, first: str, reason: str) -> None:
    """Skips what comes after a case that failed."""
    names = [PROGRAM, BUDGET, *(policy.name for policy in POLICIES)]
    for name in names[names.index(first) :]:
        ElementTree.SubElement(_case(suite, name), "skipped", message=reason)


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=suite.get("name", ""), name=name)


def _fail(case: ElementTree.Element, message: str, lines: Iterable[str]) -> None:
    ElementTree.SubElement(case, "failure", message=_xml(message)).text = _xml("\n".join(lines))


def _xml(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)
