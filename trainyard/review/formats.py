"""Reports of a check as machines read them: JSON, SARIF 2.1.0 and JUnit XML.

SARIF is what GitHub's code scanning takes, JUnit what GitLab's test reports take; both point at the stack file, the one
place that a person can change.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from trainyard.policies.pack import NAME, POLICIES, VERSION
from trainyard.recorded.model import masked
from trainyard.review.policy_check.model import PolicyReport, Violation

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SECURITY_SEVERITY = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0", "unspecified": "0.0"}
"""GitHub's scale: above 9.0 critical, from 7.0 high, from 4.0 medium, below that low."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A stack that was checked: its file relative to the project, its report, and what a comparison needs."""

    file: str
    report: PolicyReport
    plan: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The report with plan and price, secrets masked."""
        report = self.report.as_json()
        return {**report, "file": self.file, "plan": masked(self.plan), "cost": masked(self.cost)}


def as_json(checked: Sequence[Checked]) -> str:
    """All stacks as one JSON document, which a later check can be compared with."""
    return json.dumps({"stacks": [stack.as_json() for stack in checked]}, indent=2) + "\n"


def as_sarif(checked: Sequence[Checked]) -> str:
    """A SARIF log with one run: the pack's policies as rules, violations as results, accepted ones as suppressed."""
    indices = {policy.name: index for index, policy in enumerate(POLICIES)}
    results = []
    for stack in checked:
        results += [_result(stack, violation, indices) for violation in stack.report.violations]
        for accepted in stack.report.accepted:
            result = _located(stack.file, accepted.policy, accepted.urn, indices)
            result["message"] = {"text": f"accepted until {accepted.expires}: {accepted.reason}"}
            justification = f"{accepted.owner}: {accepted.reason} (until {accepted.expires})"
            result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": justification}]
            results.append(result)
    driver = {"name": NAME, "version": VERSION, "rules": [_rule(policy) for policy in POLICIES]}
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2) + "\n"


def _rule(policy: Any) -> dict[str, Any]:
    severity = policy.severity.value if policy.severity else "unspecified"
    return {
        "id": policy.name,
        "shortDescription": {"text": policy.description},
        "help": {"text": policy.remediation_steps},
        "properties": {"security-severity": SECURITY_SEVERITY[severity], "tags": list(policy.controls)},
    }


def _result(stack: Checked, violation: Violation, indices: Mapping[str, int]) -> dict[str, Any]:
    result = _located(stack.file, violation.policy, violation.urn, indices)
    result["level"] = "error" if violation.level == "mandatory" else "warning"
    where = f"{violation.component or stack.report.stack} {violation.name}".strip()
    result["message"] = {"text": f"{where}: {violation.message}. {violation.remediation}"}
    return result


def _located(file: str, policy: str, urn: str, indices: Mapping[str, int]) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": 1}}}
    if urn:
        location["logicalLocations"] = [{"fullyQualifiedName": urn, "kind": "resource"}]
    fingerprint = {"policyAndResource/v1": f"{policy}|{urn}"}
    found: dict[str, Any] = {"ruleId": policy, "locations": [location], "partialFingerprints": fingerprint}
    if policy in indices:
        found["ruleIndex"] = indices[policy]
    return found


def as_junit(checked: Sequence[Checked]) -> str:
    """JUnit XML: a suite a stack, a case a policy; a mandatory violation fails it, advisory ones are its output."""
    root = ElementTree.Element("testsuites", name=NAME)
    for stack in checked:
        root.append(_suite(stack))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(stack: Checked) -> ElementTree.Element:
    by_policy: defaultdict[str, list[Violation]] = defaultdict(list)
    for violation in stack.report.violations:
        by_policy[violation.policy].append(violation)
    skipped = dict(stack.report.not_applicable)
    failed = {violation.policy for violation in stack.report.mandatory}
    suite = ElementTree.Element(
        "testsuite",
        name=stack.report.stack,
        file=stack.file,
        tests=str(len(POLICIES)),
        failures=str(len(failed)),
        skipped=str(len([name for name in skipped if name not in by_policy])),
        time=f"{stack.report.seconds:.3f}",
    )
    for policy in POLICIES:
        case = ElementTree.SubElement(suite, "testcase", classname=stack.report.stack, name=policy.name)
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
