"""Kueue's objects as they are recorded, both versions of its API.

What of an object is not known yet, or cannot be read, makes that object `unsure`: nothing is said about what depends on
it. An object whose name is not known makes its whole kind unsure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.quantities import quantity
from trainyard.recorded.queues import (
    ADMISSION_CHECK,
    CLUSTER_QUEUE,
    COHORT,
    LOCAL_QUEUE,
    PRIORITY_CLASS,
    RESOURCE_FLAVOR,
    TOPOLOGY,
)
from trainyard.recorded.read import (
    UnknownInput,
    UnreadableInput,
    as_number,
    list_at,
    mapping_at,
    mappings_at,
    value_at,
)
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE, NAMESPACE
from trainyard.rehearsal.refusals.kubernetes.charts import read_charts
from trainyard.rehearsal.works.queues.kubernetes.manager import manager_of
from trainyard.rehearsal.works.queues.kubernetes.model import (
    MULTIKUEUE,
    PROVISIONING,
    Check,
    ClusterQueue,
    Cohort,
    Configuration,
    Flavor,
    FlavorResource,
    Fungibility,
    Group,
    LocalQueue,
    Manager,
    Preemption,
    Quota,
    Retry,
)

_Made = TypeVar("_Made")

_OLD_WORDS: Final = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}  # of v1beta1
_PARAMETERS: Final = {PROVISIONING: "ProvisioningRequestConfig", MULTIKUEUE: "MultiKueueConfig"}


@dataclass(slots=True)
class Recorded:
    """The configuration, which resource each part of it is, and what of it is not sure."""

    configuration: Configuration
    resources: Mapping[tuple[str, str], RecordedResource]  # by kind and name; "namespace/name" of a LocalQueue
    release: RecordedResource | None  # of the one Kueue chart that the stack installs
    unsure: set[tuple[str, str]] = field(default_factory=set)  # kind and name, of parts that are not known; "": any
    made: frozenset[str] = frozenset()  # kinds that the stack makes at least one of
    is_whole: bool = False  # whether the stack brings Kueue, and no chart whose objects nobody knows

    def missing(self, kind: str, name: str) -> bool:
        """Whether an object does not exist for sure.

        The stack makes others of its kind and none of that name, or it brings Kueue itself and nothing else could.
        """
        if (kind, name) in self.resources or (kind, "") in self.unsure:
            return False
        return kind in self.made or self.is_whole

    def is_unsure(self, kind: str, name: str) -> bool:
        """Whether an object is not fully known, or is somebody else's for all that is recorded."""
        return (kind, name) in self.unsure or ((kind, name) not in self.resources and not self.missing(kind, name))


def read(resources: Resources) -> Recorded:
    """Everything of Kueue's in a recording."""
    found: dict[tuple[str, str], RecordedResource] = {}
    unsure: set[tuple[str, str]] = set()

    def each(type_: str, kind: str, make: Callable[[str, RecordedResource], _Made]) -> Iterator[_Made]:
        for resource in resources.of(type_):
            name = _name(resource)
            if name is None:
                unsure.add((kind, ""))
                continue
            found[kind, name] = resource
            try:
                yield make(name, resource)
            except UnreadableInput:
                unsure.add((kind, name))

    flavors = {flavor.name: flavor for flavor in each(RESOURCE_FLAVOR, "ResourceFlavor", _flavor)}
    queues = {queue.name: queue for queue in each(CLUSTER_QUEUE, "ClusterQueue", _queue)}
    cohorts = {cohort.name: cohort for cohort in each(COHORT, "Cohort", _cohort)}
    locals_ = {(local.namespace, local.name): local for local in each(LOCAL_QUEUE, "LocalQueue", _local)}
    topologies = dict(each(TOPOLOGY, "Topology", _topology))
    priorities = dict(each(PRIORITY_CLASS, "WorkloadPriorityClass", _priority))
    configs, retries = _configs(resources), _retries(resources)
    checks = {
        check.name: check
        for check in each(
            ADMISSION_CHECK, "AdmissionCheck", lambda name, resource: _check(name, resource, configs, retries)
        )
    }
    namespaces = dict(each(NAMESPACE, "Namespace", _namespace))
    release, manager = manager_of(resources)
    if manager is None:
        unsure.add(("Manager", ""))
    return Recorded(
        Configuration(
            queues, cohorts, locals_, flavors, topologies, checks, priorities, namespaces, manager or Manager(None)
        ),
        found,
        release,
        unsure,
        frozenset(kind for kind, _ in found),
        release is not None and all(_is_read(chart) for chart in resources.of(HELM_RELEASE)),
    )


def _is_read(release: RecordedResource) -> bool:
    chart = value_at(release.inputs, "chart", default="", unknown="")
    return str(chart).rpartition("/")[2] in read_charts()


def _name(resource: RecordedResource) -> str | None:
    try:
        name = value_at(resource.inputs, "metadata", "name")
        namespace = value_at(resource.inputs, "metadata", "namespace")
    except UnknownInput:
        return None
    name = name or value_at(resource.outputs, "metadata", "name", unknown=None)
    if not isinstance(name, str):
        return None
    return f"{namespace or 'default'}/{name}" if resource.type.endswith(":LocalQueue") else name


def _flavor(name: str, resource: RecordedResource) -> Flavor:
    return Flavor(
        name,
        {key: str(value) for key, value in mapping_at(resource.inputs, "spec", "nodeLabels").items()},
        tuple(_plain(taint) for taint in mappings_at(resource.inputs, "spec", "nodeTaints")),
        tuple(_plain(one) for one in mappings_at(resource.inputs, "spec", "tolerations")),
        value_at(resource.inputs, "spec", "topologyName"),
    )


def _plain(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in mapping_at(entry).items() if value is not None}


def _queue(name: str, resource: RecordedResource) -> ClusterQueue:
    spec = value_at(resource.inputs, "spec", default={})
    groups, quotas = _groups(spec)
    rules = value_at(spec, "preemption", default={})
    threshold = as_number(value_at(rules, "borrowWithinCohort", "maxPriorityThreshold"))
    fungibility = value_at(spec, "flavorFungibility", default={})
    checks: dict[str, tuple[str, ...]] = {str(check): () for check in list_at(spec, "admissionChecks")}
    for entry in mappings_at(spec, "admissionChecksStrategy", "admissionChecks"):
        checks[str(value_at(entry, "name"))] = tuple(map(str, list_at(entry, "onFlavors")))
    borrow, preempt = (
        value_at(fungibility, key, default=default)
        for key, default in (("whenCanBorrow", "MayStopSearch"), ("whenCanPreempt", "TryNextFlavor"))
    )
    selector = value_at(spec, "namespaceSelector")
    return ClusterQueue(
        name=name,
        groups=groups,
        quotas=quotas,
        cohort=value_at(spec, "cohortName", default=value_at(spec, "cohort")),
        namespace_selector=None if selector is None else _known(selector),
        preemption=Preemption(
            value_at(rules, "withinClusterQueue", default="Never"),
            value_at(rules, "reclaimWithinCohort", default="Never"),
            value_at(rules, "borrowWithinCohort", "policy", default="Never"),
            None if threshold is None else int(threshold),
        ),
        fungibility=Fungibility(
            _OLD_WORDS.get(borrow, borrow),
            _OLD_WORDS.get(preempt, preempt),
            value_at(fungibility, "preference", default="BorrowingOverPreemption"),
        ),
        strategy=value_at(spec, "queueingStrategy", default="BestEffortFIFO"),
        stop=value_at(spec, "stopPolicy", default="None"),
        checks=checks,
        weight=_weight(spec),
    )


def _known(selector: Any) -> Any:
    """A selector all of which is known. Raises UnknownInput."""
    for expression in mappings_at(selector, "matchExpressions"):
        list_at(expression, "values")
    mapping_at(selector, "matchLabels")
    return selector


def _groups(spec: Any) -> tuple[tuple[Group, ...], dict[FlavorResource, Quota]]:
    groups, quotas = [], {}
    for group in mappings_at(spec, "resourceGroups"):
        flavors = mappings_at(group, "flavors")
        names = tuple(str(value_at(flavor, "name")) for flavor in flavors)
        groups.append(Group(tuple(map(str, list_at(group, "coveredResources"))), names))
        for name, flavor in zip(names, flavors, strict=True):
            for entry in mappings_at(flavor, "resources"):
                nominal = _amount(entry, "nominalQuota")
                quotas[name, str(value_at(entry, "name"))] = Quota(
                    0.0 if nominal is None else nominal,
                    _amount(entry, "borrowingLimit"),
                    _amount(entry, "lendingLimit"),
                )
    return tuple(groups), quotas


def _amount(entry: Mapping[str, Any], key: str) -> float | None:
    given = value_at(entry, key)
    amount = quantity(given)
    if given is not None and amount is None:
        raise UnreadableInput(key, f"{given!r} is not a quantity")
    return amount


def _weight(spec: Any) -> float:
    given = quantity(value_at(spec, "fairSharing", "weight"))
    return 1.0 if given is None else given


def _cohort(name: str, resource: RecordedResource) -> Cohort:
    spec = value_at(resource.inputs, "spec", default={})
    return Cohort(name, value_at(spec, "parentName", default=value_at(spec, "parent")), _groups(spec)[1], _weight(spec))


def _local(name: str, resource: RecordedResource) -> LocalQueue:
    namespace, _, own = name.partition("/")
    spec = value_at(resource.inputs, "spec", default={})
    target = value_at(spec, "clusterQueue")
    if not isinstance(target, str):
        raise UnreadableInput("spec.clusterQueue", "is no text")
    return LocalQueue(namespace, own, target, value_at(spec, "stopPolicy", default="None"))


def _topology(name: str, resource: RecordedResource) -> tuple[str, tuple[str, ...]]:
    levels = mappings_at(resource.inputs, "spec", "levels")
    return name, tuple(str(value_at(level, "nodeLabel")) for level in levels)


def _priority(name: str, resource: RecordedResource) -> tuple[str, int]:
    value = as_number(value_at(resource.inputs, "value"))
    if value is None:
        raise UnreadableInput("value", "is no number")
    return name, int(value)


def _namespace(name: str, resource: RecordedResource) -> tuple[str, dict[str, str]]:
    return name, {key: str(value) for key, value in mapping_at(resource.inputs, "metadata", "labels").items()}


def _configs(resources: Resources) -> dict[str, set[str] | None]:
    """Names of the objects that checks take their parameters from, by kind; None where the stack makes none."""
    found: dict[str, set[str] | None] = {}
    for kind in _PARAMETERS.values():
        made = resources.of(f"kubernetes:kueue.x-k8s.io/*:{kind}")
        names = [_name(resource) for resource in made]
        found[kind] = None if not made or None in names else {name for name in names if name}
    return found


def _retries(resources: Resources) -> dict[str, Retry]:
    """What is done about nodes that do not come, by the request's configuration; what is not known of is left out."""
    found = {}
    for resource in resources.of(f"kubernetes:kueue.x-k8s.io/*:{_PARAMETERS[PROVISIONING]}"):
        try:
            name, given = _name(resource), mapping_at(resource.inputs, "spec", "retryStrategy")
            limit, base, most = (
                as_number(given.get(key)) for key in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds")
            )
        except UnreadableInput:
            continue
        if name is not None:
            usual = Retry()
            found[name] = Retry(
                usual.limit if limit is None else int(limit),
                usual.base_seconds if base is None else base,
                usual.most_seconds if most is None else most,
            )
    return found


def _check(
    name: str, resource: RecordedResource, configs: Mapping[str, set[str] | None], retries: Mapping[str, Retry]
) -> Check:
    controller = str(value_at(resource.inputs, "spec", "controllerName"))
    kind = _PARAMETERS.get(controller)
    given = value_at(resource.inputs, "spec", "parameters", "name")
    known = configs.get(kind) if kind else None
    active = kind is None or (
        given is not None
        and value_at(resource.inputs, "spec", "parameters", "kind") == kind
        and (known is None or given in known)
    )
    return Check(name, controller, active, retries.get(str(given)) if controller == PROVISIONING else None)
