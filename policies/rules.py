"""How a policy of this pack is written: a decorated generator of messages.

    @resource_rule(
        "public-database",
        "A database must not have a public address.",
        types=("aws:rds/instance:Instance",),
        severity=Severity.CRITICAL,
        controls=("NIST 800-53r5 SC-7",),
        fix="Leave publiclyAccessible off.",
    )
    def public_database(resource: ResourceValidationArgs, config: Config) -> Iterator[str]:
        if true(resource.props, "publiclyAccessible"):
            yield "publiclyAccessible is true"

The decorator returns the Pulumi policy. It hands the check only resources of the declared types, fills in the defaults
of the configuration schema, and drops what a valid exception of the stack covers (`trainyard.policies.exceptions`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyComplianceFramework,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from trainyard.policies.exceptions import covered
from trainyard.policies.reading import present

Config = Mapping[str, Any]
ResourceCheck = Callable[[ResourceValidationArgs, Config], Iterator[str]]
StackViolation = tuple[PolicyResource | None, str]
"""What is wrong, and with which resource; None: with the stack as a whole."""


class Resources:
    """The resources of a stack that a stack policy declared to look at."""

    def __init__(self, args: StackValidationArgs, types: tuple[str, ...]) -> None:
        self.all = [resource for resource in args.resources if matches(resource.resource_type, types)]
        self._args = args

    def of(self, *types: str) -> list[PolicyResource]:
        """Those of the given types (patterns)."""
        return [resource for resource in self.all if matches(resource.resource_type, types)]

    def referring(self, target: PolicyResource, property_: str, *types: str) -> list[PolicyResource]:
        """Those of the given types whose property is made of an output of `target`. Holds while values are unknown."""
        return [resource for resource in self.of(*types) if refers(resource, property_, target)]

    def not_applicable(self, reason: str) -> None:
        """Ends the policy: it has nothing to say about this stack."""
        self._args.not_applicable(reason)


StackCheck = Callable[[Resources, Config], Iterator[StackViolation]]


class ResourceRule(ResourceValidationPolicy):
    """A policy on one resource."""

    types: tuple[str, ...] = ("*",)
    controls: tuple[str, ...] = ()


class StackRule(StackValidationPolicy):
    """A policy on the resources of a stack together."""

    types: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()


Rule = ResourceRule | StackRule


def refers(resource: PolicyResource, property_: str, target: PolicyResource) -> bool:
    """Whether a top-level property of `resource` is set, and made of an output of `target`."""
    return present(resource.props, property_) and any(
        found.urn == target.urn for found in resource.property_dependencies.get(property_, [])
    )


@lru_cache(maxsize=4096)
def matches(type_: str, patterns: tuple[str, ...]) -> bool:
    """Whether a type token is one of the patterns (`kubernetes:kueue.x-k8s.io/*:ClusterQueue`)."""
    return any(fnmatchcase(type_, pattern) for pattern in patterns)


def resource_rule(
    id_: str,
    description: str,
    *,
    types: tuple[str, ...],
    severity: Severity,
    controls: tuple[str, ...],
    fix: str,
    level: EnforcementLevel = EnforcementLevel.MANDATORY,
    config: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[ResourceCheck], ResourceRule]:
    """Makes a policy on one resource of a check. `controls`: "FRAMEWORK ID"; `fix`: the setting to change."""

    def make(check: ResourceCheck) -> ResourceRule:
        defaults = _defaults(config)

        def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
            if not matches(args.resource_type, types):
                return
            for message in check(args, {**defaults, **(args.get_config() or {})}):
                if not covered(id_, args.urn, args.name, args.opts.parent):
                    report(message, args.urn)

        rule = ResourceRule(id_, description, validate=validate, **_metadata(level, severity, controls, fix, config))
        rule.types, rule.controls = types, controls
        return rule

    return make


def stack_rule(
    id_: str,
    description: str,
    *,
    types: tuple[str, ...],
    severity: Severity,
    controls: tuple[str, ...],
    fix: str,
    level: EnforcementLevel = EnforcementLevel.MANDATORY,
    config: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[StackCheck], StackRule]:
    """Makes a policy on a stack's resources of a check; parameters as in `resource_rule`."""

    def make(check: StackCheck) -> StackRule:
        defaults = _defaults(config)

        def validate(args: StackValidationArgs, report: ReportViolation) -> None:
            for resource, message in check(Resources(args, types), {**defaults, **(args.get_config() or {})}):
                if resource is None:
                    if not covered(id_, "", "", None):
                        report(message, None)
                elif not covered(id_, resource.urn, resource.name, resource.opts.parent):
                    report(message, resource.urn)

        rule = StackRule(id_, description, validate=validate, **_metadata(level, severity, controls, fix, config))
        rule.types, rule.controls = types, controls
        return rule

    return make


def _defaults(config: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    """The defaults of the schema, for a caller that does not fill them in as the engine does."""
    return {key: copy.deepcopy(schema["default"]) for key, schema in (config or {}).items() if "default" in schema}


def _metadata(
    level: EnforcementLevel,
    severity: Severity,
    controls: tuple[str, ...],
    fix: str,
    config: Mapping[str, Mapping[str, Any]] | None,
) -> dict[str, Any]:
    first = controls[0].rsplit(" ", 1) if controls else None
    return {
        "enforcement_level": level,
        "severity": severity,
        "framework": PolicyComplianceFramework(name=first[0], reference=first[1]) if first else None,
        "tags": list(controls),
        "remediation_steps": fix,
        "config_schema": PolicyConfigSchema({key: dict(schema) for key, schema in config.items()}) if config else None,
    }
