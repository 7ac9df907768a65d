"""Recorded resources through `pulumi_policy`'s own analyser, the code that answers the engine.

The analyser takes protocol messages and gives diagnostics back: unknown values, secrets, levels and "not applicable"
behave as under the engine because it is the same code. It reads a resource anew for every policy, so each resource is
sent with the policies that declare its type, and each stack policy gets the resources that it declares: the outcome is
the same (a rule never looks at others), in a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from google.protobuf import struct_pb2  # type: ignore[import-untyped]
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel
from pulumi_policy.policy import _PolicyAnalyzerServicer

from trainyard.policies.pack import LEVEL, NAME, VERSION
from trainyard.policies.rules import ResourceRule, Rule, StackRule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.resources import matches
from trainyard.rehearsal.engine import wire
from trainyard.review.policy_check.configuration import PolicyConfiguration

_LEVELS = {
    EnforcementLevel.ADVISORY: analyzer_pb2.ADVISORY,
    EnforcementLevel.MANDATORY: analyzer_pb2.MANDATORY,
    EnforcementLevel.REMEDIATE: analyzer_pb2.REMEDIATE,
    EnforcementLevel.DISABLED: analyzer_pb2.DISABLED,
}


class Analyzer:
    """The pack's policies with their configuration, ready for the recordings of any stack."""

    def __init__(self, policies: Sequence[Rule], configuration: Mapping[str, PolicyConfiguration]) -> None:
        self._resource_rules = [policy for policy in policies if isinstance(policy, ResourceRule)]
        self._stack_rules = [policy for policy in policies if isinstance(policy, StackRule)]
        self._configuration = configuration
        self._by_type: dict[str, _PolicyAnalyzerServicer | None] = {}
        self._by_policy = {policy.name: self._servicer([policy]) for policy in self._stack_rules}

    def resources(
        self, recorded: Sequence[RecordedResource], answered: set[bytes]
    ) -> Iterator[tuple[RecordedResource, Any]]:
        """Every resource with the analyser's answer (an `AnalyzeResponse`).

        `answered` are the requests so far, of other runs of the stack too: the same one has the same answer and is left
        out. That is four in ten of a preview's and a known run's: most objects of Kubernetes.
        """
        providers = _providers(recorded)
        for resource in recorded:
            servicer = self._of_type(resource.type)
            if servicer is not None:
                request = _resource_request(resource, providers)
                content = _looked_at(request)
                if content not in answered:
                    answered.add(content)
                    yield resource, servicer.Analyze(request, None)  # type: ignore[no-untyped-call]

    def stack(self, recorded: Sequence[RecordedResource]) -> Iterator[Any]:
        """The answer (an `AnalyzeResponse`) to every stack policy."""
        messages: dict[str, Any] = {}
        providers = _providers(recorded)
        for policy in self._stack_rules:
            request = analyzer_pb2.AnalyzeStackRequest()
            for resource in recorded:
                if matches(resource.type, policy.types):
                    if resource.urn not in messages:
                        messages[resource.urn] = _stack_resource(resource, providers)
                    request.resources.append(messages[resource.urn])
            yield self._by_policy[policy.name].AnalyzeStack(request, None)  # type: ignore[no-untyped-call]

    def _of_type(self, type_: str) -> _PolicyAnalyzerServicer | None:
        if type_ not in self._by_type:
            rules = [policy for policy in self._resource_rules if matches(type_, policy.types)]
            self._by_type[type_] = self._servicer(rules) if rules else None
        return self._by_type[type_]

    def _servicer(self, policies: Sequence[Rule]) -> _PolicyAnalyzerServicer:
        servicer = _PolicyAnalyzerServicer(NAME, VERSION, list(policies), LEVEL)
        request = analyzer_pb2.ConfigureAnalyzerRequest()
        for policy in policies:
            found = self._configuration[policy.name]
            entry = request.policyConfig[policy.name]
            entry.enforcementLevel = _LEVELS[found.level]
            entry.properties.update(dict(found.properties))
        servicer.Configure(request, None)  # type: ignore[no-untyped-call]
        return servicer


def _providers(recorded: Sequence[RecordedResource]) -> dict[str, Any]:
    """The providers of a recording as the protocol has them, by URN."""
    return {
        resource.urn: analyzer_pb2.AnalyzerProviderResource(
            type=resource.type, urn=resource.urn, name=resource.name, properties=_struct(resource.inputs)
        )
        for resource in recorded
        if resource.is_provider
    }


def _resource_request(resource: RecordedResource, providers: Mapping[str, Any]) -> Any:
    """What the engine sends before it makes a resource: the inputs after the provider's Check."""
    return analyzer_pb2.AnalyzeRequest(
        type=resource.type,
        urn=resource.urn,
        name=resource.name,
        properties=_struct(resource.inputs),
        options=_options(resource),
        provider=_provider(resource, providers),
    )


def _looked_at(request: Any) -> bytes:
    """What rules look at in a request: of an object of Kubernetes not how its cluster is reached.

    That is all that a preview does not know of most of them.
    """
    if request.type.startswith("kubernetes:"):
        seen = analyzer_pb2.AnalyzeRequest()
        seen.CopyFrom(request)
        seen.provider.ClearField("properties")
        request = seen
    content: bytes = request.SerializeToString(deterministic=True)
    return content


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
