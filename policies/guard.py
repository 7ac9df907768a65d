"""One admission policy with its bindings: where it denies, and what it says of a request of a team's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from trainyard.policies.guard_answers import Answers, answers_of
from trainyard.policies.guard_attacks import Wall
from trainyard.policies.teams import labels_of
from trainyard.recorded.model import RecordedResource, has_unknown
from trainyard.recorded.read import is_set, mapping_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import CONFIG_MAP
from trainyard.rehearsal.works.rights.kubernetes.admission import Judge, Request

_VERSIONS = {"": "v1", "batch": "v1"}
"""The version of a group that has one."""


class Guard:
    """An admission policy with its bindings."""

    def __init__(self, policy: RecordedResource, bindings: list[RecordedResource], resources: Resources) -> None:
        self.policy, self.bindings, self._resources = policy, bindings, resources
        self.name = str(value_at(policy.inputs, "metadata", "name"))
        self._looks: dict[tuple[str, ...], bool] = {}
        self._silent: dict[tuple[str, ...], str] = {}

    @property
    def culprit(self) -> RecordedResource:
        """What to change for it to deny."""
        return self.bindings[0] if self.bindings and not self.judge.ignores_failures else self.policy

    @cached_property
    def _answers(self) -> Answers:
        return answers_of(value_at(self.policy.inputs, "spec"), self._params)

    @property
    def judge(self) -> Judge:
        """The guard's expressions."""
        return self._answers.judge

    def looks_at(self, wall: Wall) -> bool:
        """Whether it is asked about all requests of a wall's kind."""
        kind = (wall.group, wall.resource, wall.operation)
        if kind not in self._looks:
            self._looks[kind] = self._looks_at(wall)
        return self._looks[kind]

    def _looks_at(self, wall: Wall) -> bool:
        constraints = mapping_at(self.policy.inputs, "spec", "matchConstraints")
        if is_set(constraints, "objectSelector"):  # labels of the object are its author's
            return False
        left_out = any(_meets(rule, wall, whole=False) for rule in mappings_at(constraints, "excludeResourceRules"))
        return not left_out and any(
            _meets(rule, wall, whole=True) for rule in mappings_at(constraints, "resourceRules")
        )

    def why_not_in(self, team: RecordedResource, wall: Wall) -> str:
        """Why it denies nothing in a team's namespace; empty where it does."""
        key = (wall.group, wall.resource, wall.operation, team.urn)
        if key not in self._silent:
            self._silent[key] = self._why_not_in(team, wall)
        return self._silent[key]

    def _why_not_in(self, team: RecordedResource, wall: Wall) -> str:
        if self.judge.ignores_failures:
            return f"{self.name} lets everything in where it fails (failurePolicy)"
        if not self.bindings:
            return f"{self.name} is bound to nothing"
        if not any(self._denies(binding, team, wall) for binding in self.bindings):
            return f"the binding of {self.name} does not deny there (validationActions, matchResources, paramRef)"
        return ""

    def _denies(self, binding: RecordedResource, team: RecordedResource, wall: Wall) -> bool:
        spec = value_at(binding.inputs, "spec")
        if "Deny" not in texts_at(spec, "validationActions") or self._may_lack_parameters(spec):
            return False
        matched = mapping_at(spec, "matchResources")
        rules = mappings_at(matched, "resourceRules")
        if is_set(matched, "objectSelector") or (rules and not any(_meets(rule, wall, whole=True) for rule in rules)):
            return False
        if any(_meets(rule, wall, whole=False) for rule in mappings_at(matched, "excludeResourceRules")):
            return False
        labels = labels_of(team)
        of_policy = mapping_at(self.policy.inputs, "spec", "matchConstraints", "namespaceSelector")
        return selects(mapping_at(matched, "namespaceSelector"), labels) and selects(of_policy, labels)

    def _may_lack_parameters(self, binding: Any) -> bool:
        """Whether it lets everything by where its parameters are gone, and nothing here makes them; or where they are
        a team's own to write."""
        reference = value_at(binding, "paramRef")
        if reference is None:
            return False
        in_every_namespace = (
            value_at(self.policy.inputs, "spec", "paramKind", "kind") == "ConfigMap"
            and value_at(reference, "namespace") is None
        )
        return in_every_namespace or (
            value_at(reference, "parameterNotFoundAction") == "Allow" and self._parameters(reference) is None
        )

    def _parameters(self, reference: Any) -> Any:
        wanted = [value_at(reference, "namespace"), value_at(reference, "name")]
        kind = value_at(self.policy.inputs, "spec", "paramKind", "kind")
        found = [
            one.inputs
            for one in (self._resources.of(CONFIG_MAP) if kind == "ConfigMap" else ())
            if [value_at(one.inputs, "metadata", "namespace"), value_at(one.inputs, "metadata", "name")] == wanted
        ]
        return found[0] if found else None

    def knows(self, attack: Request, wall: Wall, team: RecordedResource) -> bool:
        """Whether it refuses an attack as one; where that cannot be worked out it is believed by its words."""
        told = self.says(attack, team)
        if told is False:
            return False
        if told and wall.twin is not None and self.says(wall.twin, team) is False:
            return True
        return all(any(word in text for text in self.judge.texts) for word in wall.words)

    def otherwise(self, attack: Request) -> Iterable[Request]:
        """The attack by a pod of the team's, and, where the guard asks for what an author writes, with that written."""
        return self._answers.otherwise(attack)

    def says(self, request: Request, team: RecordedResource) -> bool | None:
        """Whether it refuses a request in a team's namespace; None where that cannot be said."""
        return self._answers.says(request, team)

    @cached_property
    def _params(self) -> Any:
        references = [value_at(binding.inputs, "spec", "paramRef") for binding in self.bindings]
        found = [self._parameters(one) for one in references if one is not None]
        return found[0] if found and not has_unknown(found[0]) else None


def _meets(rule: Any, wall: Wall, *, whole: bool) -> bool:
    """Whether a rule is about the requests of a wall: `whole`, all of them, else some."""
    version = _VERSIONS.get(wall.group, "*")
    told = (
        ("apiGroups", {wall.group, "*"}),
        ("resources", {wall.resource, "*", "*/*"}),
        ("operations", {wall.operation, "*"}),
        *((("apiVersions", {version, "*"}),) if version != "*" else ()),
    )
    if value_at(rule, "scope", default="*") == "Cluster" or (whole and is_set(rule, "resourceNames")):
        return False
    return all(meant & set(texts_at(rule, key)) for key, meant in told)
