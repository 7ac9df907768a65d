"""Truth tables: resources as a recording holds them, judged by one policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.review.policy_check.analyzer import Answer, analyzed, in_the_stacks_context
from trainyard.policies.analyzed import retained_urns
from trainyard.policies.pack import POLICIES
from trainyard.recorded.model import UNKNOWN, RecordedResource, has_unknown
from trainyard.review.policy_check.check import as_told, check_policies

OK, VIOLATED, UNDECIDED, NOT_APPLICABLE = "ok", "violated", "undecided", "not applicable"
BY_ID = {policy.name: policy for policy in POLICIES}
PREFIX = "urn:pulumi:test::trainyard::"


def made(type_: str, name: str, inputs: Mapping[str, Any], **more: Any) -> RecordedResource:
    """A resource; `uses`: property -> the resources that it is made of; the rest are fields of a recorded one."""
    uses = more.pop("uses", {})
    urn = f"{PREFIX}{type_}::{name}"
    dependencies = {key: tuple(found.urn for found in of) for key, of in uses.items()}
    inputs = {**dict.fromkeys(uses, "an output"), **inputs}  # what is made of an output is there
    fields = {"parent": "", "component": "", "custom": True, "provider": "", **more}
    return RecordedResource(urn=urn, type=type_, name=name, inputs=inputs, property_dependencies=dependencies, **fields)


@dataclass(frozen=True)
class Case:
    """What a policy says about some resources, under the settings of a stack file and a configuration of the pack."""

    policy: str
    label: str
    expected: str
    resources: tuple[RecordedResource, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)  # what the stack file says to others, by full key

    @property
    def unknown(self) -> bool:
        """Whether a value is unknown in it."""
        return any(has_unknown(resource.inputs) for resource in self.resources)

    def outcome(self) -> str:
        """What the policy says: violated before undecided before not applicable."""
        configuration = {self.policy: self.configuration} if self.configuration else {}
        report = check_policies(
            "test",
            [],
            self.resources,
            self.settings,
            policies=(BY_ID[self.policy],),
            configuration=configuration,
            other_settings=self.others,
        )
        return _outcome(report.violations, report.undecided, report.not_applicable)

    def outcome_by_analyser(self) -> str:
        """The same through Pulumi's own analyser, as under the engine."""
        configuration = {self.policy: self.configuration} if self.configuration else {}
        settings = {**as_told(self.settings), **self.others}
        policies = (BY_ID[self.policy],)
        retained = frozenset(resource.urn for resource in self.resources if resource.retain_on_delete)

        def asked() -> Answer:
            retained_urns.set(retained)  # what no engine tells
            return analyzed(self.resources, policies, configuration)

        said = in_the_stacks_context(settings, asked)
        return _outcome(said.violations, said.undecided, said.reasons)


def _outcome(violations: Collection[Any], undecided: Collection[Any], reasons: Collection[Any]) -> str:
    if violations:
        return VIOLATED
    if undecided:
        return UNDECIDED
    return NOT_APPLICABLE if reasons else OK


def table(policy: str, *rows: tuple[Any, ...]) -> list[Case]:
    """Cases of one policy: (label, expected, resources[, settings[, configuration[, others]]])."""
    found = []
    for row in rows:
        label, expected, resources, *rest = row
        resources = resources if isinstance(resources, (list, tuple)) else (resources,)
        found.append(Case(policy, label, expected, tuple(resources), *rest))
    return found


def node_group(name: str = "train-spot", **changes: Any) -> RecordedResource:
    """A GPU node group of EKS: two p4d.24xlarge on spot in pool train, from zero."""
    options = {"types": ["p4d.24xlarge"], "min": 0, "max": 2, "capacity": "spot", "pool": "train"}
    options |= {key: changes.pop(key) for key in tuple(changes) if key in options}
    more = {"ignore_changes": ("scalingConfig.desiredSize",)}
    more |= {key: changes.pop(key) for key in tuple(changes) if key in ("ignore_changes", "uses")}
    inputs = {
        "instanceTypes": options["types"],
        "capacityType": "SPOT" if options["capacity"] == "spot" else "ON_DEMAND",
        "labels": {"ml.platform/pool": options["pool"], "ml.platform/capacity": options["capacity"]},
        "scalingConfig": {"minSize": options["min"], "maxSize": options["max"], "desiredSize": options["min"]},
        "version": "1.35",
        "tagsAll": {"environment": "demo"},
    }
    return made("aws:eks/nodeGroup:NodeGroup", name, {**inputs, **changes}, **more)


def gke_pool(name: str = "train", **changes: Any) -> RecordedResource:
    """A GPU node pool of GKE: up to two a2-highgpu-8g on spot, from zero."""
    node = {"machineType": "a2-highgpu-8g", "spot": True, "guestAccelerators": [{"type": "nvidia-a100", "count": 8}]}
    inputs = {"nodeConfig": node | changes.pop("node", {}), "autoscaling": {"minNodeCount": 0, "maxNodeCount": 2}}
    return made("gcp:container/nodePool:NodePool", name, {**inputs, **changes})


def kubernetes(type_: str, name: str, namespace: str = "", **more: Any) -> RecordedResource:
    """A Kubernetes object; `labels`, `annotations` and `uses` apart from its other top-level fields."""
    metadata: dict[str, Any] = {"name": name} | ({"namespace": namespace} if namespace else {})
    metadata |= {key: more.pop(key) for key in ("labels", "annotations") if key in more}
    uses = more.pop("uses", {})
    return made(
        f"kubernetes:{type_}", f"{namespace}-{name}" if namespace else name, {"metadata": metadata, **more}, uses=uses
    )


def team(name: str) -> RecordedResource:
    """A team's namespace."""
    labels = {"ml.platform/team": name, "pod-security.kubernetes.io/enforce": "baseline"}
    return kubernetes("core/v1:Namespace", f"team-{name}", labels=labels)


def bucket(name: str = "data", **inputs: Any) -> RecordedResource:
    """A bucket of S3."""
    protect = inputs.pop("protect", True)
    return made("aws:s3/bucket:Bucket", name, {"bucket": f"{name}-1234567", **inputs}, protect=protect)


def unknown(resource: RecordedResource, *path: str) -> RecordedResource:
    """The same with the value at `path` unknown."""

    def put(value: Any, parts: tuple[str, ...]) -> Any:
        if not parts:
            return UNKNOWN
        return {**value, parts[0]: put(value.get(parts[0], {}), parts[1:])}

    return replace(resource, inputs=put(resource.inputs, path))
