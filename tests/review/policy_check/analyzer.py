"""Recorded resources through `pulumi_policy`'s own analyser, the code that answers the engine.

It takes protocol messages and gives diagnostics back: unknown values, secrets, levels and "not applicable" come about
as under the engine. What Trainyard judges without it has to be the same (`test_judge.py`, the truth tables).
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from google.protobuf import struct_pb2
from pulumi.runtime import Settings, configure, set_all_config
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel
from pulumi_policy.policy import _PolicyAnalyzerServicer

from trainyard.policies.pack import LEVEL, NAME, VERSION
from trainyard.policies.rules import ResourceRule, Rule, StackRule
from trainyard.policies.stack_settings import NAMESPACE
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.resources import matches
from trainyard.rehearsal.engine import wire
from trainyard.review.policy_check.configuration import reconcile

_LEVELS = {
    EnforcementLevel.ADVISORY: analyzer_pb2.ADVISORY,
    EnforcementLevel.MANDATORY: analyzer_pb2.MANDATORY,
    EnforcementLevel.REMEDIATE: analyzer_pb2.REMEDIATE,
    EnforcementLevel.DISABLED: analyzer_pb2.DISABLED,
}

Found = TypeVar("Found")


def in_the_stacks_context(settings: Mapping[str, str], asked: Callable[[], Found]) -> Found:
    """As `check_policies` asks: Pulumi keeps a stack's configuration in context variables."""

    def run() -> Found:
        configure(Settings(project=NAMESPACE, stack="test", dry_run=True))
        set_all_config(dict(settings), [])
        return asked()

    return contextvars.copy_context().run(run)


@dataclass
class Answer:
    """What an analyser said of a view."""

    violations: set[tuple[str, str, str, bool]] = field(default_factory=set)  # policy, URN, message, mandatory
    undecided: set[tuple[str, str]] = field(default_factory=set)  # policy, message
    reasons: dict[str, str] = field(default_factory=dict)  # why a policy has nothing to say

    def take(self, response: Any) -> None:
        """One `AnalyzeResponse`."""
        for note in response.not_applicable:
            self.reasons.setdefault(note.policy_name, note.reason)
        for said in response.diagnostics:
            _, _, undecided = said.message.partition(" during preview: ")
            if said.message.startswith("can't run policy"):
                self.undecided.add((said.policyName, undecided))
            else:
                message = said.message.partition("\n")[2]
                mandatory = said.enforcementLevel == analyzer_pb2.MANDATORY
                self.violations.add((said.policyName, said.urn, message, mandatory))


def analyzed(
    recorded: Sequence[RecordedResource], policies: Sequence[Rule], configuration: Mapping[str, Any] | None = None
) -> Answer:
    """What the analyser says of a view: of each resource first, then of the stack.

    It reads every resource anew for every policy, so each is sent with the policies that declare its type: the outcome
    is the same, since a rule never looks at others.
    """
    providers = {resource.urn: _provider_message(resource) for resource in recorded if resource.is_provider}
    reconciled = reconcile(policies, configuration, LEVEL)
    answer = Answer()
    by_type: dict[str, Any] = {}
    for resource in recorded:
        if resource.type not in by_type:
            rules = [rule for rule in policies if isinstance(rule, ResourceRule) and matches(resource.type, rule.types)]
            by_type[resource.type] = _servicer(rules, reconciled) if rules else None
        if by_type[resource.type] is not None:
            answer.take(by_type[resource.type].Analyze(_request(resource, providers), None))
    messages = [_stack_resource(resource, providers) for resource in recorded]
    for rule in policies:
        if isinstance(rule, StackRule):
            request = analyzer_pb2.AnalyzeStackRequest()
            request.resources.extend(message for message in messages if matches(message.type, rule.types))
            answer.take(_servicer([rule], reconciled).AnalyzeStack(request, None))
    return answer


def _servicer(policies: Sequence[Rule], configuration: Mapping[str, Any]) -> _PolicyAnalyzerServicer:
    servicer = _PolicyAnalyzerServicer(NAME, VERSION, list(policies), LEVEL)
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    for policy in policies:
        found = configuration[policy.name]
        entry = request.policyConfig[policy.name]
        entry.enforcementLevel = _LEVELS[found.level]
        entry.properties.update(dict(found.properties))
    servicer.Configure(request, None)
    return servicer


def _provider_message(resource: RecordedResource) -> Any:
    return analyzer_pb2.AnalyzerProviderResource(
        type=resource.type, urn=resource.urn, name=resource.name, properties=_struct(resource.inputs)
    )


def _request(resource: RecordedResource, providers: Mapping[str, Any]) -> Any:
    """What the engine sends before it makes a resource: the inputs after the provider's Check."""
    return analyzer_pb2.AnalyzeRequest(
        type=resource.type,
        urn=resource.urn,
        name=resource.name,
        properties=_struct(resource.inputs),
        options=_options(resource),
        provider=_provider(resource, providers),
    )


def _stack_resource(resource: RecordedResource, providers: Mapping[str, Any]) -> Any:
    """What the engine sends at the end, without computed outputs: a rehearsal makes those up."""
    return analyzer_pb2.AnalyzerResource(
        type=resource.type,
        urn=resource.urn,
        name=resource.name,
        properties=_struct(resource.inputs),
        options=_options(resource),
        provider=_provider(resource, providers),
        parent=resource.parent,
        dependencies=resource.dependencies,
        propertyDependencies={
            key: analyzer_pb2.AnalyzerPropertyDependencies(urns=urns)
            for key, urns in resource.property_dependencies.items()
        },
    )


def _options(resource: RecordedResource) -> Any:
    return analyzer_pb2.AnalyzerResourceOptions(
        protect=resource.protect,
        ignoreChanges=resource.ignore_changes,
        deleteBeforeReplace=resource.delete_before_replace,
        deleteBeforeReplaceDefined=resource.delete_before_replace,
        additionalSecretOutputs=resource.additional_secret_outputs,
        parent=resource.parent,
    )


def _provider(resource: RecordedResource, providers: Mapping[str, Any]) -> Any:
    return providers.get(resource.provider.rsplit("::", 1)[0]) if resource.provider else None


def _struct(values: Mapping[str, Any]) -> Any:
    found = struct_pb2.Struct()
    wire.encode_fields(values, found)
    return found
