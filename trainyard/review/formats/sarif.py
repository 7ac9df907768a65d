"""SARIF 2.1.0, for GitHub's code scanning. It points at the stack file, the one place that a person can change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.policies.pack import NAME, POLICIES, VERSION
from trainyard.policies.rules import Rule
from trainyard.review.policy_check.model import Violation
from trainyard.review.review import Review

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SECURITY_SEVERITY = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0", "unspecified": "0.0"}
"""GitHub's scale: above 9.0 critical, from 7.0 high, from 4.0 medium, below that low."""


def as_sarif(reviews: Sequence[Review]) -> str:
    """A SARIF log with one run: the pack's policies as rules, violations as results, accepted ones as suppressed."""
    indices = {policy.name: index for index, policy in enumerate(POLICIES)}
    results = []
    for review in reviews:
        results += [_result(review, violation, indices) for violation in review.judged.violations]
        for accepted in review.judged.accepted:
            result = _located(review.file, accepted.policy, accepted.urn, indices)
            result["message"] = {"text": f"accepted until {accepted.expires}: {accepted.reason}"}
            justification = f"{accepted.owner}: {accepted.reason} (until {accepted.expires})"
            result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": justification}]
            results.append(result)
    driver = {"name": NAME, "version": VERSION, "rules": [_rule(policy) for policy in POLICIES]}
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2) + "\n"


def _rule(policy: Rule) -> dict[str, Any]:
    severity = policy.severity.value if policy.severity else "unspecified"
    return {
        "id": policy.name,
        "shortDescription": {"text": policy.description},
        "help": {"text": policy.remediation_steps},
        "properties": {"security-severity": SECURITY_SEVERITY[severity], "tags": list(policy.controls)},
    }


def _result(review: Review, violation: Violation, indices: Mapping[str, int]) -> dict[str, Any]:
    result = _located(review.file, violation.policy, violation.urn, indices)
    result["level"] = "error" if violation.level == "mandatory" else "warning"
    where = f"{violation.component or review.stack} {violation.name}".strip()
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
