"""Security: what teams run comes from registries that somebody chose."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.conventions import TEAM_LABEL
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ADMISSION_BINDING, ADMISSION_POLICY, NAMESPACE

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_ASKED = {("pods", "CREATE"), ("pods", "UPDATE"), ("pods/ephemeralcontainers", "UPDATE")}
"""How an image comes into a pod: with it, by a change of it, and with a container that is put into it."""


@stack_rule(
    "team-images-from-anywhere",
    "Pods of teams run images of allowed registries alone, whatever kind of container names them.",
    types=(NAMESPACE, ADMISSION_POLICY, ADMISSION_BINDING),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 CM-7(5)", "NIST 800-53r5 SR-4(3)", "ISO 27001:2022 A.8.19"),
    fix="Leave the admission policy pods-from-allowed-registries as it is; images.allowedRegistries adds to its list.",
)
def team_images_from_anywhere(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A policy counts that asks for the images of every kind of container, refuses, and is bound to all teams."""
    teams = team_namespaces(resources)
    if not teams:
        return
    asking = [policy for policy in resources.of(ADMISSION_POLICY) if _asks_for_images(policy)]
    if not asking:
        yield teams[0], "no admission policy asks where the images of pods are from"
        return
    wrong = [why for policy in asking for why in [_weakness(policy, resources)] if why]
    if len(wrong) == len(asking):
        yield asking[0], wrong[0]


def _asks_for_images(policy: RecordedResource) -> bool:
    """Whether one of its validations reads images of pods and refuses some by their beginning."""
    return any(resource == "pods" for resource, _ in _covers(policy)) and any(
        ".image" in text and "startsWith" in text for text in _expressions(policy)
    )


def _weakness(policy: RecordedResource, resources: Resources) -> str:
    """What is missing for it to be a wall; empty where nothing is."""
    if value_at(policy.inputs, "spec", "failurePolicy", default="Fail") != "Fail":
        return "failurePolicy is not Fail: a pod passes where the policy cannot be evaluated"
    missing = sorted(" of ".join(reversed(one)) for one in _ASKED - _covers(policy))
    if missing:
        return f"the policy is not asked at {', '.join(missing)}"
    if is_set(policy.inputs, "spec", "matchConditions"):
        return "matchConditions let pods by before they are asked for"
    unread = [kind for kind in _CONTAINERS if not any(f".{kind}" in text for text in _expressions(policy))]
    if unread:
        return f"the policy does not look at {', '.join(unread)}"
    name = value_at(policy.inputs, "metadata", "name")
    bindings = [one for one in resources.of(ADMISSION_BINDING) if value_at(one.inputs, "spec", "policyName") == name]
    return "" if any(_binds_all_teams(one) for one in bindings) else "no binding denies by it in every team's namespace"


def _expressions(policy: RecordedResource) -> list[str]:
    """What it validates by, with the variables that may be used there."""
    spec = value_at(policy.inputs, "spec")
    found = [*list_at(spec, "validations"), *list_at(spec, "variables")]
    return [str(value_at(one, "expression", default="")) for one in found]


def _covers(policy: RecordedResource) -> set[tuple[str, str]]:
    """Resources of the core group with the operations that it is asked at."""
    return {
        (resource, operation)
        for rule in list_at(policy.inputs, "spec", "matchConstraints", "resourceRules")
        if {"", "*"} & set(list_at(rule, "apiGroups")) and not is_set(rule, "resourceNames")
        for named in list_at(rule, "resources")
        for resource in ({"*": ["pods"], "*/*": ["pods", "pods/ephemeralcontainers"]}.get(str(named), [str(named)]))
        for asked in list_at(rule, "operations")
        for operation in (["CREATE", "UPDATE"] if asked == "*" else [str(asked)])
    }


def _binds_all_teams(binding: RecordedResource) -> bool:
    """Whether it denies in every namespace with a team's label: by that label alone, or by none."""
    spec = value_at(binding.inputs, "spec")
    if "Deny" not in list_at(spec, "validationActions"):
        return False
    where = value_at(spec, "matchResources")
    if where is None:
        return True
    narrower = any(is_set(where, key) for key in ("objectSelector", "excludeResourceRules", "resourceRules"))
    selector = value_at(where, "namespaceSelector")
    asked = [(value_at(one, "key"), value_at(one, "operator")) for one in list_at(selector, "matchExpressions")]
    return not narrower and not is_set(selector, "matchLabels") and asked in ([], [(TEAM_LABEL, "Exists")])
