"""How a policy of this pack is written: a decorated generator of messages about recorded resources.

    @resource_rule(
        "public-database",
        "A database must not have a public address.",
        types=("aws:rds/instance:Instance",),
        severity=Severity.CRITICAL,
        controls=("NIST 800-53r5 SC-7",),
        fix="Leave publiclyAccessible off.",
    )
    def public_database(resource: RecordedResource, config: Config) -> Iterator[str]:
        if is_on(resource.inputs, "publiclyAccessible"):
            yield "publiclyAccessible is true"

The decorator returns the Pulumi policy. It hands the check only resources of the declared types, fills in the defaults
of the configuration schema, and drops what a valid exception of the stack covers (`trainyard.policies.exceptions`). A
check that reads an unknown (`UnknownInput`) leaves its policy undecided, as Pulumi does in a preview. What cannot be
read for another reason (`UnreadableInput`: a size that is no number) is a violation.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NotRequired, TypedDict, Unpack

from pulumi_policy import (
    EnforcementLevel,
    PolicyComplianceFramework,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from trainyard.policies.analyzed import answer, recorded_resource, recorded_resources, shows_nothing
from trainyard.policies.exceptions import covering_exception
from trainyard.policies.outcomes import Excepted, Inapplicable, Outcome, Undecidable, Violated
from trainyard.recorded.exclusive import has_whole, whole_urn, with_whole, written_out
from trainyard.recorded.model import UNKNOWN, RecordedResource, leaves
from trainyard.recorded.read import UnknownInput, UnreadableInput
from trainyard.recorded.resources import Resources, matches

Config = Mapping[str, Any]
ResourceCheck = Callable[[RecordedResource, Config], Iterator[str]]
StackViolation = tuple[RecordedResource | None, str]
"""What is wrong, and with which resource; None: with the stack as a whole."""
StackCheck = Callable[[Resources, Config], Iterator[StackViolation]]


class About(TypedDict):
    """What a policy says of itself besides its id and description."""

    types: tuple[str, ...]  # of the resources that it looks at: tokens or patterns
    severity: Severity
    controls: tuple[str, ...]  # "FRAMEWORK ID"
    fix: str  # the setting to change
    level: NotRequired[EnforcementLevel]  # mandatory by default
    config: NotRequired[Mapping[str, Mapping[str, Any]]]  # JSON schema of each property; each has a default


class NotApplicable(Exception):  # noqa: N818 (no error: the policy has nothing to say)
    """Raised by a check: the policy has nothing to say about this stack or resource. The text is the reason."""


class ResourceRule(ResourceValidationPolicy):
    """A policy on one resource."""

    def __init__(self, id_: str, description: str, check: ResourceCheck, about: About) -> None:
        super().__init__(id_, description, **_arguments(about))
        self.types, self.controls = about["types"], about["controls"]
        self._check, self.area = check, _area(check)

    def judge(self, resource: RecordedResource, given: Mapping[str, Any], *, hidden: bool = False) -> Iterator[Outcome]:
        """What the policy says of a resource of one of its types, configured as `given`.

        `hidden`: an engine shows nothing of the resource yet (`analyzed.shows_nothing`).
        """
        if hidden:
            return iter([Undecidable(self.name, (resource.type, resource.name))])
        violations = ((resource, message) for message in self._check(resource, _config(self, given)))
        return _judged(self, violations, (resource,))

    def validate(self, args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        """Called by the analyser for every resource."""
        if matches(args.resource_type, self.types):
            said = self.judge(recorded_resource(args), args.get_config() or {}, hidden=shows_nothing(args))
            answer(said, args, report_violation)


class StackRule(StackValidationPolicy):
    """A policy on the resources of a stack together."""

    def __init__(self, id_: str, description: str, check: StackCheck, about: About) -> None:
        super().__init__(id_, description, **_arguments(about))
        self.types, self.controls = with_whole(about["types"]), about["controls"]
        self._check, self.area = check, _area(check)

    def judge(
        self, resources: Resources, given: Mapping[str, Any], *, hidden: RecordedResource | None = None
    ) -> Iterator[Outcome]:
        """What the policy says of a stack's resources of its types, with their providers, configured as `given`.

        `hidden`: the first of them of which an engine shows nothing, as at a first preview of what is yet to be made on
        a cluster. A rule over such resources is undecided, whatever it would say of the others: what it misses may be
        in those.
        """
        if hidden is not None:
            return iter([Undecidable(self.name, (hidden.type, hidden.name))])
        if has_whole(resources):
            resources = Resources(written_out(resources.all))
        return _judged(self, self._check(resources, _config(self, given)), resources.all)

    def validate(self, args: StackValidationArgs, report_violation: ReportViolation) -> None:
        """Called by the analyser once, with all resources of the stack."""
        declared = [found for found in args.resources if matches(found.resource_type, self.types)]
        first = next(filter(shows_nothing, declared), None)
        hidden = recorded_resource(first) if first is not None else None
        answer(self.judge(recorded_resources(declared), args.get_config() or {}, hidden=hidden), args, report_violation)


def _area(check: ResourceCheck | StackCheck) -> str:
    """`security` of a check in `policies/security_network.py`."""
    return check.__module__.rpartition(".")[2].partition("_")[0]


Rule = ResourceRule | StackRule


def resource_rule(id_: str, description: str, **about: Unpack[About]) -> Callable[[ResourceCheck], ResourceRule]:
    """Makes a policy on one resource of a check."""
    return lambda check: ResourceRule(id_, description, check, about)


def stack_rule(id_: str, description: str, **about: Unpack[About]) -> Callable[[StackCheck], StackRule]:
    """Makes a policy on a stack's resources of a check."""
    return lambda check: StackRule(id_, description, check, about)


def _judged(
    rule: Rule, violations: Iterator[StackViolation], looked_at: Iterable[RecordedResource]
) -> Iterator[Outcome]:
    try:
        for resource, message in violations:
            yield _violated(rule, resource, message)
    except NotApplicable as reason:
        yield Inapplicable(rule.name, str(reason))
    except UnknownInput as unknown:
        yield Undecidable(rule.name, (_whole_path(unknown, looked_at),))
    except UnreadableInput as unreadable:  # no API takes it either; a traceback would hide what the others say
        resource = next(iter(looked_at)) if isinstance(rule, ResourceRule) else None
        yield _violated(rule, resource, f"cannot be judged: {unreadable}")


def _violated(rule: Rule, resource: RecordedResource | None, message: str) -> Outcome:
    urn = whole_urn(resource.urn) if resource else ""
    exception = covering_exception(rule.name, resource)
    return Violated(rule.name, urn, message) if exception is None else Excepted(rule.name, urn, exception)


def _whole_path(unknown: UnknownInput, looked_at: Iterable[RecordedResource]) -> str:
    """The unknown's path from the top of the inputs: a check may have read it in a part of them."""
    for resource in looked_at:
        for path, value, _ in leaves(resource.inputs):
            if value is UNKNOWN and (path == unknown.what or path.endswith(f".{unknown.what}")):
                return path
    return unknown.what


def _config(rule: Rule, given: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration over the defaults of the schema, which a caller other than the engine may not fill in."""
    fields = rule.config_schema.properties if rule.config_schema else {}
    return {**{key: copy.deepcopy(field["default"]) for key, field in fields.items()}, **given}


def _arguments(about: About) -> dict[str, Any]:
    framework, reference = about["controls"][0].rsplit(" ", 1)
    config = about.get("config")
    return {
        "enforcement_level": about.get("level", EnforcementLevel.MANDATORY),
        "severity": about["severity"],
        "framework": PolicyComplianceFramework(name=framework, reference=reference),
        "tags": list(about["controls"]),
        "remediation_steps": about["fix"],
        "config_schema": PolicyConfigSchema({key: dict(field) for key, field in config.items()}) if config else None,
    }
