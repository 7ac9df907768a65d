"""SARIF 2.1.0, for GitHub's code scanning: what it reads of rules and results, and lines that a person can change.

What GitHub reads: `rules[].properties` with `tags` (those with the tag `security` have a severity of
`security-severity`), `problem.severity` and `precision`; of a result the first location and
`partialFingerprints.primaryLocationLineHash`, by which it knows an alert again.
(docs.github.com, "SARIF support for code scanning", 2026-11)
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trainyard.policies.pack import NAME, POLICIES, VERSION
from trainyard.policies.rules import Rule
from trainyard.recorded.model import Finding
from trainyard.review.policy_check.model import Accepted, Violation
from trainyard.review.review import Mistake, Outcome, Review, Unjudged
from trainyard.review.source import Place, StackFile, made_at, settings_named
from trainyard.review.verdict import State, Verdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SECURITY_SEVERITY = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0", "unspecified": "0.0"}
"""GitHub's scale: above 9.0 critical, from 7.0 high, from 4.0 medium, below that low."""
SECURITY_AREAS = frozenset(("security", "residency", "data"))
"""Areas of the pack whose policies are about an attacker or a leak; the others are about money and work."""
WRONG_SETTING = "wrong-setting"
_RULES = {policy.name: policy for policy in POLICIES}


def part(outcome: Outcome) -> str:
    """The results of one stack, as a JSON text."""
    counted: Counter[str] = Counter()
    results = []
    for result, said in _Results(outcome):
        # A figure in a message moves with the stack; what is left apart from it tells two results of a rule apart.
        told = "|".join((outcome.verdict.stack, result["ruleId"], said, re.sub(r"\d[\d.,]*", "#", _text(result))))
        mark = hashlib.sha256(told.encode()).hexdigest()[:16]
        counted[mark] += 1
        result["partialFingerprints"] = {"primaryLocationLineHash": f"{mark}:{counted[mark]}"}
        results.append(result)
    return json.dumps(results)


def whole(parts: Sequence[str], verdicts: Sequence[Verdict]) -> str:
    """A SARIF log with one run: the policies and what else was found as rules, what was found as results."""
    results = [result for text in parts for result in json.loads(text)]
    others = sorted({result["ruleId"] for result in results} - _RULES.keys())
    rules = [*map(_policy, POLICIES), *map(_other, others)]
    indices = {rule["id"]: index for index, rule in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = indices[result["ruleId"]]
    broken = [told for told in verdicts if told.state is State.BROKEN]
    invocation: dict[str, Any] = {"executionSuccessful": not broken}
    if broken:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": f"{told.headline}."}} for told in broken
        ]
    run = {
        "tool": {"driver": {"name": NAME, "version": VERSION, "semanticVersion": VERSION, "rules": rules}},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"verdicts": [{"stack": told.stack, **told.as_json()} for told in verdicts]},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _policy(policy: Rule) -> dict[str, Any]:
    severity = policy.severity.value if policy.severity else "unspecified"
    level = _level(str(policy.enforcement_level.value if policy.enforcement_level else "mandatory"))
    remediation = policy.remediation_steps or ""
    security = policy.area in SECURITY_AREAS
    properties: dict[str, Any] = {
        "tags": [*(["security"] if security else []), *dict.fromkeys([policy.area, *policy.controls])],
        "problem.severity": level,
        "precision": "very-high",  # the resource is recorded with the value that the rule names
    }
    if security:
        properties["security-severity"] = SECURITY_SEVERITY[severity]
        properties["tags"] = list(dict.fromkeys(properties["tags"]))
    return {
        "id": policy.name,
        "name": _camel(policy.name),
        "shortDescription": {"text": policy.description},
        "fullDescription": {"text": f"{policy.description} {remediation}".strip()},
        "help": {
            "text": f"{remediation}\n{', '.join(policy.controls)}",
            "markdown": f"{remediation}\n\n{', '.join(policy.controls)}",
        },
        "defaultConfiguration": {"level": level},
        "properties": properties,
    }


def _other(rule: str) -> dict[str, Any]:
    """What is no policy: a wrong setting, or a rule of the rehearsal."""
    text = (
        "A setting in the stack's file is wrong."
        if rule == WRONG_SETTING
        else f"The engine or a cloud would refuse the program, or it does not do what it says: {rule}."
    )
    return {
        "id": rule,
        "name": _camel(rule),
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": "The message says what the value may be."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["rehearsal"], "problem.severity": "error", "precision": "very-high"},
    }


def _level(enforcement: str) -> str:
    return "warning" if enforcement == "advisory" else "error"


def _camel(rule: str) -> str:
    """`PublicDatabase` of `public-database`: SARIF wants the name of a rule readable and other than its id."""
    return "".join(word[:1].upper() + word[1:] for word in rule.split("-"))


def _text(result: dict[str, Any]) -> str:
    return str(result["message"]["text"])


class _Results:
    """The results of one stack, each with what it is about: a URN, or a key of the settings."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._root = outcome.project.resolve()
        self._base = _repository(self._root)
        self._path = outcome.outside or self._root / outcome.file
        self._file = StackFile(self._path)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], str]]:
        if isinstance(self._outcome, Unjudged):
            for mistake in self._outcome.mistakes:
                yield self._mistake(mistake), mistake.problem.key
            return
        yield from self._judged(self._outcome)

    def _judged(self, review: Review) -> Iterator[tuple[dict[str, Any], str]]:
        made = self._made_at(review)
        change = review.change.findings if review.change is not None else ()
        for finding in (*review.rehearsal.findings, *change):
            yield self._finding(finding, made), f"{finding.urn or finding.name}|{finding.path}"
        if review.policies is None:
            return
        urns = {resource.urn: (resource.type, resource.name, resource.component) for resource in _all(review)}
        for violation in review.policies.violations:
            code = made.get(urns[violation.urn]) if violation.urn in urns else None
            yield self._violation(review, violation, code), violation.urn
        for accepted in review.policies.accepted:
            yield self._accepted(review, accepted), f"{accepted.urn}|{accepted.resource}"

    def _mistake(self, mistake: Mistake) -> dict[str, Any]:
        place = Place(self._outcome.file, mistake.line or self._file.config_line)
        return {**self._result(WRONG_SETTING, "error", str(mistake.problem), place)}

    def _finding(self, finding: Finding, made: dict[tuple[str, str, str], Place]) -> dict[str, Any]:
        place = self._named_in(finding.message) or made.get((finding.type, finding.name, finding.component))
        if finding.rule == "logged":  # "monthlyBudget has moved to …": a key at its old place
            line = self._file.line_of(finding.message.split(" ", 1)[0])
            place = Place(self._outcome.file, line) if line is not None else place
        return self._result(finding.rule, finding.level, str(finding), place or self._default(), finding.urn)

    def _violation(self, review: Review, violation: Violation, code: Place | None) -> dict[str, Any]:
        settings = settings_named(violation.remediation)
        line = self._file.deciding_line(settings, f"{violation.name} {violation.message}")
        if line is not None:
            place = Place(self._outcome.file, line)
        else:  # a setting that is not there yet would stand below `config`
            place = self._default() if settings or code is None else code
        where = f"{violation.component or review.stack} {violation.name}".strip()
        text = f"{where}: {violation.message}. {violation.remediation}"
        return self._result(violation.policy, _level(violation.level), text, place, violation.urn)

    def _accepted(self, review: Review, accepted: Accepted) -> dict[str, Any]:
        entries = review.rehearsal.settings.get("policyExceptions")
        index = next(
            (
                index
                for index, entry in enumerate(entries if isinstance(entries, list) else [])
                if (entry.get("policy"), entry.get("resource", "*")) == (accepted.policy, accepted.resource)
            ),
            0,
        )
        line = self._file.line_of(f"policyExceptions[{index}]") or self._file.config_line
        text = f"accepted until {accepted.expires}: {accepted.reason}"
        result = self._result(accepted.policy, "note", text, Place(self._outcome.file, line), accepted.urn)
        justification = f"{accepted.owner}: {accepted.reason} (until {accepted.expires})"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": justification}]
        return result

    def _result(self, rule: str, level: str, text: str, place: Place, urn: str = "") -> dict[str, Any]:
        uri = self._uri(place.file)
        location: dict[str, Any] = {
            "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": place.line}}
        }
        if urn:
            location["logicalLocations"] = [{"fullyQualifiedName": urn, "kind": "resource"}]
        return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": [location]}

    def _default(self) -> Place:
        return Place(self._outcome.file, self._file.config_line)

    def _uri(self, file: str) -> str:
        """The file from the root of the repository, which is where GitHub looks for it."""
        path = self._path if file == self._outcome.file else self._root / file
        base = self._base if path.is_relative_to(self._base) else self._root
        return quote(path.relative_to(base).as_posix() if path.is_relative_to(base) else file)

    def _named_in(self, message: str) -> Place | None:
        """`(stacks/program.py:12 …)` in a message, where there is such a file."""
        found = re.search(r"([\w./-]+\.py):(\d+)", message)
        if found is None or not (self._root / found[1]).is_file():
            return None
        return Place(found[1], int(found[2]))

    def _made_at(self, review: Review) -> dict[tuple[str, str, str], Place]:
        places = {}
        for run in (review.rehearsal.preview, review.rehearsal.known):
            for made in run.constructed:
                place = made_at(made, self._root)
                if place is not None:
                    places[made.type, made.name, made.component] = place
        return places


def _all(review: Review) -> Iterator[Any]:
    yield from review.rehearsal.preview.resources
    yield from review.rehearsal.resources


def _repository(folder: Path) -> Path:
    """The root of the repository that a folder lies in; the folder itself where it lies in none."""
    return next((path for path in (folder, *folder.parents) if (path / ".git").exists()), folder)
