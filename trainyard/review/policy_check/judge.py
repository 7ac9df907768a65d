"""The pack over a recording, without an engine: what Pulumi's analyser would show the policies, and what they say.

The analyser decodes a resource from protocol messages anew for every policy, which takes longer than all policies
together. Here each resource is made once what the analyser would make of it; `tests/review/policy_check/test_judge.py`
holds both ways equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_policy import EnforcementLevel

from trainyard.policies.analyzed import is_looked_up, with_all_tags
from trainyard.policies.outcomes import Outcome
from trainyard.policies.rules import ResourceRule, Rule, StackRule
from trainyard.recorded.model import RecordedResource, has_unknown
from trainyard.recorded.resources import Notes, Resources, matches
from trainyard.recorded.types import AWS_PROVIDER
from trainyard.review.policy_check.configuration import PolicyConfiguration


class Judge:
    """The pack's policies with their configuration, ready for the recordings of any stack."""

    def __init__(self, policies: Sequence[Rule], configuration: Mapping[str, PolicyConfiguration]) -> None:
        asked = [policy for policy in policies if configuration[policy.name].level is not EnforcementLevel.DISABLED]
        self._resource_rules = [policy for policy in asked if isinstance(policy, ResourceRule)]
        self._stack_rules = [policy for policy in asked if isinstance(policy, StackRule)]
        self._configuration = configuration
        self._by_type: dict[str, list[ResourceRule]] = {}

    def resources(self, view: View, answered: View | None = None) -> Iterator[tuple[RecordedResource, Outcome]]:
        """What the policies on one resource say, each with the resource that they say it of.

        `answered`: a view that was judged before. What looks the same there is left out: its answer is the same. That
        is four in ten of a preview's and a known run's resources: most objects of Kubernetes.
        """
        for resource in view.resources:
            rules = self._of_type(resource.type)
            shown = view.alone(resource) if rules else resource
            if not rules or (answered is not None and _same(shown, answered.found(resource.urn))):
                continue
            hidden = view.hides(resource)
            for rule in rules:
                for outcome in rule.judge(shown, self._configuration[rule.name].properties, hidden=hidden):
                    yield resource, outcome

    def stack(self, view: View) -> Iterator[Outcome]:
        """What the policies on the stack say."""
        for rule in self._stack_rules:
            declared = view.of(rule.types)
            hidden = next(filter(view.hides, declared), None)
            yield from rule.judge(view.together(declared), self._configuration[rule.name].properties, hidden=hidden)

    def _of_type(self, type_: str) -> list[ResourceRule]:
        if type_ not in self._by_type:
            self._by_type[type_] = [rule for rule in self._resource_rules if matches(type_, rule.types)]
        return self._by_type[type_]


class View:
    """A recording as the analyser shows it: secrets as what they hold, no outputs, no id, nothing of components.

    Of a resource's provider it shows the inputs, where the recording holds one.
    """

    def __init__(self, recorded: Sequence[RecordedResource], beside: View | None = None) -> None:
        self.resources = recorded
        self._beside = beside  # the other run: what is the same there is shown as the same
        self._urns = {resource.urn for resource in recorded}
        self._by_type = Resources(recorded)
        self._providers = {resource.urn: _provider(resource) for resource in recorded if resource.is_provider}
        self._alone: dict[str, RecordedResource] = {}
        self._together: dict[str, RecordedResource] = {}
        self._notes: Notes = {}
        self._made_of: dict[str, tuple[RecordedResource, Any]] = {}

    def alone(self, resource: RecordedResource) -> RecordedResource:
        """A resource as a policy on one resource sees it, which is not told what its properties are made of."""
        if resource.urn not in self._alone:
            self._alone[resource.urn] = self._shown(resource)
        return self._alone[resource.urn]

    def found(self, urn: str) -> RecordedResource | None:
        """What was shown of a resource alone; None where nothing was."""
        return self._alone.get(urn)

    def of(self, types: tuple[str, ...]) -> list[RecordedResource]:
        """The resources of these types, as tokens or patterns, in their order."""
        return self._by_type.of(*types)

    def together(self, declared: Sequence[RecordedResource]) -> Resources:
        """Resources as a policy on the stack sees them, after their explicit providers."""
        named = dict.fromkeys(resource.provider for resource in declared)
        behind = {provider.urn: provider for text in named if (provider := self._behind(text))}
        known = self._together
        shown = [known.get(resource.urn) or self._with_origins(resource) for resource in declared]
        return Resources([*behind.values(), *shown], self._notes)

    def hides(self, resource: RecordedResource) -> bool:
        """Whether an engine shows nothing of a resource yet: as `analyzed.shows_nothing` of what it hands over."""
        if resource.inputs:
            return False
        provider = self._provider_of(resource)
        return resource.type.startswith("kubernetes:") or (provider is not None and has_unknown(provider.inputs))

    def _with_origins(self, resource: RecordedResource) -> RecordedResource:
        if resource.urn not in self._together:
            origins = {
                key: tuple(urn for urn in urns if urn in self._urns)
                for key, urns in resource.property_dependencies.items()
            }
            alone = self.alone(resource)
            self._together[resource.urn] = _made(alone, alone.provider, alone.inputs, origins) if origins else alone
        return self._together[resource.urn]

    def _provider_of(self, resource: RecordedResource) -> RecordedResource | None:
        return self._behind(resource.provider)

    def _behind(self, named: str) -> RecordedResource | None:
        """The provider that a resource names."""
        return self._providers.get(named.rpartition("::")[0]) if named else None

    def _shown(self, resource: RecordedResource) -> RecordedResource:
        provider = self._provider_of(resource)
        tags = provider.inputs.get("defaultTags") or {} if provider and provider.type == AWS_PROVIDER else None
        whose = f"{provider.urn}::" if provider else ""
        there = self._beside.shown_there(resource, whose, tags) if self._beside is not None else None
        if there is not None:
            return there
        made = _made(resource, whose, with_all_tags(resource.bare_inputs, tags), {})
        self._made_of[resource.urn] = (resource, tags)
        return made

    def shown_there(self, resource: RecordedResource, provider: str, tags: Any) -> RecordedResource | None:
        """What was shown of the same inputs with the same options; None where nothing was."""
        like, with_tags = self._made_of.get(resource.urn, (None, None))
        if like is None or like.inputs is not resource.inputs or with_tags != tags:
            return None
        found = self._alone[resource.urn]
        same = (
            found.provider == provider
            and like.type == resource.type
            and like.name == resource.name
            and like.parent == resource.parent
            and like.protect == resource.protect
            and like.ignore_changes == resource.ignore_changes
        )
        return found if same else None


def _same(one: RecordedResource, other: RecordedResource | None) -> bool:
    return one is other or one == other


def _made(
    resource: RecordedResource, provider: str, inputs: Mapping[str, Any], origins: Mapping[str, tuple[str, ...]]
) -> RecordedResource:
    """A resource as a policy sees it."""
    made = RecordedResource(
        urn=resource.urn,
        type=resource.type,
        name=resource.name,
        parent=resource.parent,
        component="",
        custom=True,
        provider=provider,
        inputs=inputs,
        property_dependencies=origins,
        protect=resource.protect,
        ignore_changes=resource.ignore_changes,
        read=is_looked_up(resource.urn, resource.type),
    )
    made.knows_inputs_by(resource.about_inputs)
    return made


def _provider(recorded: RecordedResource) -> RecordedResource:
    """A provider as a policy sees it behind a resource."""
    return RecordedResource(
        urn=recorded.urn,
        type=recorded.type,
        name=recorded.name,
        parent="",
        component="",
        custom=True,
        provider="",
        inputs=recorded.bare_inputs,
    )
