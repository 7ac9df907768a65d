"""`check_policies`: what the pack says about the two runs of a rehearsal."""

from __future__ import annotations

import contextvars
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pulumi.runtime import Settings, configure, set_all_config
from pulumi_policy import EnforcementLevel

from trainyard.policies import analyzed, exceptions, outcomes
from trainyard.policies.pack import LEVEL, POLICIES
from trainyard.policies.rules import Rule
from trainyard.policies.stack_settings import NAMESPACE
from trainyard.problems import Problem, SettingsError, nearest
from trainyard.recorded.hiding import names_shown, secrets_hidden
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.engine.first_preview import seen_by_stack_policies
from trainyard.review.policy_check.configuration import PolicyConfiguration, reconcile
from trainyard.review.policy_check.judge import Judge, View
from trainyard.review.policy_check.model import (
    SEVERITIES,
    Accepted,
    Level,
    PolicyReport,
    Undecided,
    Violation,
    in_order,
)

_ENGINE_VARIABLES = ("PULUMI_PROJECT", "PULUMI_STACK", "PULUMI_DRY_RUN", "PULUMI_CONFIG")
"""What an engine would have started the pack with. Pulumi reads settings there that the stack file does not give."""


def check_policies(
    stack: str,
    preview: Sequence[RecordedResource],
    known: Sequence[RecordedResource],
    settings: Mapping[str, Any],
    *,
    policies: Sequence[Rule] = POLICIES,
    configuration: Mapping[str, Any] | None = None,
    other_settings: Mapping[str, str] | None = None,
) -> PolicyReport:
    """Runs the pack over the resources of a preview and of a run with everything known.

    `settings`: the stack file's keys (camelCase) with their values; `configuration`: as in a file for Pulumi's
    `--policy-pack-config`; `other_settings`: what the stack file says to others, by full keys (`aws:region`), without
    what is encrypted. Raises `SettingsError` when the configuration or an exception is wrong.
    """
    started = time.perf_counter()
    judge, reconciled = _judge(policies, configuration)
    found = _Findings(reconciled, policies, {resource.urn: resource for resource in (*preview, *known)})
    _check_exceptions(settings, {policy.name for policy in POLICIES})
    context = contextvars.copy_context()
    with _no_engine():
        context.run(_ask, judge, stack, preview, known, {**as_told(settings), **(other_settings or {})}, found)
    return PolicyReport(
        stack=stack,
        policies=len(policies),
        violations=tuple(_ordered(found.violations)),
        undecided=in_order(found.undecided),
        accepted=tuple(dict.fromkeys(found.accepted)),
        not_applicable=tuple(sorted(found.reasons.items())),
        seconds=time.perf_counter() - started,
    )


_latest: tuple[Sequence[Rule], str, Judge, Mapping[str, PolicyConfiguration]] | None = None


def _judge(
    policies: Sequence[Rule], configuration: Mapping[str, Any] | None
) -> tuple[Judge, Mapping[str, PolicyConfiguration]]:
    """A judge by these policies, with their configuration: the latest where nothing has changed, as in one check."""
    global _latest
    told = repr(configuration)
    if _latest is None or _latest[0] is not policies or _latest[1] != told:
        reconciled = reconcile(policies, configuration, LEVEL)
        _latest = (policies, told, Judge(policies, reconciled), reconciled)
    return _latest[2], _latest[3]


def _ask(
    judge: Judge,
    stack: str,
    preview: Sequence[RecordedResource],
    known: Sequence[RecordedResource],
    config: Mapping[str, str],
    found: _Findings,
) -> None:
    """Runs in a context of its own: Pulumi keeps a stack's configuration in context variables."""
    configure(Settings(project=NAMESPACE, stack=stack, dry_run=True))
    set_all_config(dict(config), [])
    at_preview = View(preview)
    at_up = View(known, at_preview)
    for view, answered in ((at_preview, None), (at_up, at_preview)):
        for resource, outcome in judge.resources(view, answered):
            found.take(outcome, resource.urn)
    # What the engine would say at the end of a first preview comes last: it knows the least.
    kept = frozenset(resource.urn for resource in known if resource.retain_on_delete)
    views: list[tuple[View, frozenset[str] | None]] = [(at_up, kept)]
    if preview:
        views.append((View(seen_by_stack_policies(preview)), None))
    for view, retained in views:
        analyzed.retained_urns.set(retained)
        for outcome in judge.stack(view):
            found.take(outcome, "")


class _Findings:
    """Collects what the policies say, with the levels that their configuration gives them."""

    def __init__(
        self,
        configuration: Mapping[str, PolicyConfiguration],
        policies: Sequence[Rule],
        resources: Mapping[str, RecordedResource],
    ) -> None:
        self._configuration = configuration
        self._policies = {policy.name: policy for policy in policies}
        self._resources = resources
        self._hidden = secrets_hidden(resources.values(), names_shown(resources.values()))
        self.violations: dict[tuple[str, str, str], Violation] = {}
        self.undecided: list[Undecided] = []
        self.accepted: list[Accepted] = []
        self.reasons: dict[str, str] = {}

    def take(self, outcome: outcomes.Outcome, urn: str) -> None:
        """One thing that a policy said; `urn`: the resource that it was asked about, if it was one."""
        match outcome:
            case outcomes.Excepted():
                self._accept(outcome)
            case outcomes.Inapplicable():
                self.reasons.setdefault(outcome.policy, outcome.reason)
            case outcomes.Undecidable():
                self.undecided.append(Undecided(outcome.policy, urn, outcome.message))
            case outcomes.Violated():
                violation = self._violation(outcome)
                self.violations.setdefault((violation.policy, violation.urn, violation.message), violation)

    def _accept(self, outcome: outcomes.Excepted) -> None:
        exception = outcome.exception
        self.accepted.append(
            Accepted(
                outcome.policy,
                outcome.urn,
                exception.resource,
                exception.reason,
                exception.owner,
                exception.expires.isoformat(),
            )
        )

    def _violation(self, outcome: outcomes.Violated) -> Violation:
        advisory = self._configuration[outcome.policy].level is EnforcementLevel.ADVISORY
        level: Level = "advisory" if advisory else "mandatory"  # what the engine would mend and cannot is mandatory
        policy, resource = self._policies[outcome.policy], self._resources.get(outcome.urn)
        return Violation(
            policy=policy.name,
            level=level,
            severity=policy.severity.value if policy.severity else SEVERITIES[-1],
            message=self._hidden(outcome.message),
            description=policy.description,
            remediation=policy.remediation_steps or "",
            controls=policy.controls,
            urn=outcome.urn,
            type=resource.type if resource else "",
            name=resource.name if resource else "",
            component=resource.component if resource else "",
        )


def _ordered(violations: Mapping[Any, Violation]) -> Iterable[Violation]:
    return sorted(
        violations.values(),
        key=lambda v: (v.level != "mandatory", SEVERITIES.index(v.severity), v.policy, v.component, v.name, v.message),
    )


def _check_exceptions(settings: Mapping[str, Any], known: set[str]) -> None:
    """Malformed exceptions, and those for policies that do not exist."""
    try:
        found = exceptions.parse(_text(settings.get("policyExceptions") or []))
    except ValueError as error:
        raise SettingsError([Problem("policyExceptions", "a malformed entry", str(error))]) from None
    problems = [
        Problem(
            f"policyExceptions[{index}].policy", entry.policy, "must be a policy's id", nearest(entry.policy, known)
        )
        for index, entry in enumerate(found)
        if entry.policy not in known
    ]
    if problems:
        raise SettingsError(problems)


def as_told(settings: Mapping[str, Any]) -> dict[str, str]:
    """The project's own settings by their full keys, as they reach a program."""
    return {f"{NAMESPACE}:{key}": _text(value) for key, value in settings.items() if value is not None}


def _text(value: Any) -> str:
    """A setting as it reaches a program: text as it is, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


@contextmanager
def _no_engine() -> Iterator[None]:
    """Hides an engine's environment from the policies within the block."""
    kept = {name: os.environ.pop(name) for name in _ENGINE_VARIABLES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
