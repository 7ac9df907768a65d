"""JUnit XML, which GitLab's test reports take: a suite a stack, a case a policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from xml.etree import ElementTree

from trainyard.policies.pack import NAME, POLICIES
from trainyard.review.policy_check.model import Violation
from trainyard.review.review import Review


def as_junit(reviews: Sequence[Review]) -> str:
    """JUnit XML: a suite a stack, a case a policy; a mandatory violation fails it, advisory ones are its output."""
    root = ElementTree.Element("testsuites", name=NAME)
    for review in reviews:
        root.append(_suite(review))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(review: Review) -> ElementTree.Element:
    by_policy: defaultdict[str, list[Violation]] = defaultdict(list)
    for violation in review.judged.violations:
        by_policy[violation.policy].append(violation)
    skipped = dict(review.judged.not_applicable)
    failed = {violation.policy for violation in review.judged.mandatory}
    suite = ElementTree.Element(
        "testsuite",
        name=review.stack,
        file=review.file,
        tests=str(len(POLICIES)),
        failures=str(len(failed)),
        skipped=str(len([name for name in skipped if name not in by_policy])),
        time=f"{review.judged.seconds:.3f}",
    )
    for policy in POLICIES:
        case = ElementTree.SubElement(suite, "testcase", classname=review.stack, name=policy.name)
        found = by_policy[policy.name]
        text = "\n".join(str(violation) for violation in found)
        if policy.name in failed:
            failure = ElementTree.SubElement(case, "failure", message=policy.description)
            failure.text = f"{text}\n{policy.remediation_steps}"
        elif found:
            ElementTree.SubElement(case, "system-out").text = text
        elif policy.name in skipped:
            ElementTree.SubElement(case, "skipped", message=skipped[policy.name])
    return suite
