"""What is made before what, and so taken away after it: over the recorded dependencies, found by type and role.

A pair holds for every two that belong together: of one network, of one namespace, of one identity. What is made in
another cluster or for another namespace is not waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from tests.conftest import EXAMPLES
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.rehearse import Rehearsal

RUNS_PODS = ("Release", "Deployment", "DaemonSet", "Job")
ADMISSION = "kubernetes:admissionregistration.k8s.io/v1:"


class Order:
    """Who waits for whom: dependencies, those of single properties, parents and providers, and what those wait for."""

    def __init__(self, resources: Iterable[RecordedResource]) -> None:
        self.by_urn = {resource.urn: resource for resource in resources}
        self.before = cache(self._before)

    def _before(self, urn: str) -> frozenset[str]:
        resource = self.by_urn.get(urn)
        if resource is None:
            return frozenset()
        direct = {*resource.dependencies, resource.parent, resource.provider.rpartition("::")[0]}
        direct.update(*resource.property_dependencies.values())
        direct.discard("")
        return frozenset(direct).union(*(self.before(each) for each in direct))

    def of(self, *kinds: str) -> list[RecordedResource]:
        """All of these types, which may be told by their end."""
        return [resource for resource in self.by_urn.values() if resource.type.endswith(kinds)]

    def inside(self, component: RecordedResource, *kinds: str) -> list[RecordedResource]:
        """Those below a component."""
        return [each for each in self.of(*kinds) if self._below(each, component.urn)]

    def _below(self, resource: RecordedResource, urn: str) -> bool:
        while resource.parent in self.by_urn:
            if resource.parent == urn:
                return True
            resource = self.by_urn[resource.parent]
        return False

    def missing(self, pairs: Iterable[Pair]) -> list[str]:
        """The pairs that nothing keeps in order."""
        return [f"{first.name} before {then.name}" for first, then in pairs if first.urn not in self.before(then.urn)]


Pair = tuple[RecordedResource, RecordedResource]


@dataclass(frozen=True)
class Rule:
    """A pair of roles and why the first has to be there before the second, and as long as it."""

    why: str
    pairs: Callable[[Order], Iterator[Pair]]


def each(firsts: tuple[str, ...], thens: tuple[str, ...]) -> Callable[[Order], Iterator[Pair]]:
    """Every one of the first types before every one of the others."""
    return lambda order: ((first, then) for then in order.of(*thens) for first in order.of(*firsts))


def within(component: str, firsts: tuple[str, ...], thens: tuple[str, ...]) -> Callable[[Order], Iterator[Pair]]:
    """The same within each component of a type."""
    return lambda order: (
        (first, then)
        for around in order.of(component)
        for then in order.inside(around, *thens)
        for first in order.inside(around, *firsts)
    )


def routes_of_private_subnets(order: Order) -> Iterator[Pair]:
    """What a node's subnet sends through, and the association that makes it the subnet's."""
    for group in order.of("nodeGroup:NodeGroup"):
        subnets = set(group.property_dependencies["subnetIds"])
        for association in order.of("routeTableAssociation:RouteTableAssociation"):
            if subnets.intersection(association.property_dependencies["subnetId"]):
                yield association, group
                for route in order.of("route:Route"):
                    if route.property_dependencies["routeTableId"] == association.property_dependencies["routeTableId"]:
                        yield route, group


def in_kube_system(order: Order) -> Iterator[Pair]:
    """Network policies of kube-system, and whatever a release, Deployment, DaemonSet or Job runs."""
    for policy in order.of("networking.k8s.io/v1:NetworkPolicy"):
        if policy.inputs["metadata"]["namespace"] == "kube-system":
            for runs in order.of(*(f":{kind}" for kind in RUNS_PODS)):
                if runs.inputs.get("namespace", runs.inputs.get("metadata", {}).get("namespace")) == "kube-system":
                    yield policy, runs


def walls_of_the_platform(order: Order) -> Iterator[Pair]:
    """Network policies of a namespace and what runs in it, where both are of one component."""
    for around in order.of(":EgressProxy", ":Kueue", ":MlflowServer", ":TrainingRuntimes"):
        for policy in order.inside(around, ":NetworkPolicy"):
            for runs in order.inside(around, *(f":{kind}" for kind in RUNS_PODS)):
                needed = policy.inputs["metadata"]["namespace"]
                if needed == runs.inputs.get("namespace", runs.inputs.get("metadata", {}).get("namespace")):
                    yield policy, runs


RULES = {
    "ways out before nodes": Rule("a node without a way out pulls no image", routes_of_private_subnets),
    "endpoints before nodes": Rule(
        "images and roles come through them", each(("vpcEndpoint:VpcEndpoint",), ("nodeGroup:NodeGroup",))
    ),
    "firewall rules before they bind": Rule(
        "with the last rule alone no name resolves",
        each(
            ("resolverFirewallRule:ResolverFirewallRule",),
            ("resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation",),
        ),
    ),
    "walls of kube-system before its pods": Rule("a strict network lets nothing by before them", in_kube_system),
    "walls before the platform's pods": Rule("a strict network lets nothing by before them", walls_of_the_platform),
    "controllers before their objects": Rule(
        "no kind before its definition; a finalizer needs its controller",
        within(":Kueue", (":Release",), (":ClusterQueue", ":LocalQueue", ":ResourceFlavor", ":Cohort")),
    ),
    "trainer before its runtimes": Rule(
        "no kind before its definition", within(":TrainingRuntimes", (":Release",), (":ClusterTrainingRuntime",))
    ),
    "drivers before claims": Rule(
        "a volume is let go by its driver",
        lambda order: (
            (driver, claim)
            for around in order.of(":StorageDrivers")
            for driver in order.inside(around, ":Release")
            for claim in order.of(":PersistentVolumeClaim", ":PersistentVolume")
            if driver.provider == claim.provider
        ),
    ),
    "guards before jobs": Rule(
        "a job admitted before is not looked at again",
        lambda order: (
            (guard, job)
            for guard in order.of(ADMISSION + "ValidatingAdmissionPolicyBinding")
            for job in order.of("batch/v1:Job")
            if guard.provider == job.provider and "ingest" not in guard.component
        ),
    ),
    "administrators before objects": Rule(
        "without the entry the API server refuses to make them, and to delete them",
        lambda order: (
            (entry, made)
            for around in order.of(":index:Cluster")
            for entry in order.inside(around, "accessPolicyAssociation:AccessPolicyAssociation")
            for made in order.by_urn.values()
            if made.type.startswith("kubernetes:") and around.urn in clusters_of(order, made)
        ),
    ),
}


def clusters_of(order: Order, resource: RecordedResource) -> set[str]:
    """The clusters' components that an object's provider waits for."""
    waited = order.before(resource.provider.rpartition("::")[0])
    return {around.urn for around in order.of(":index:Cluster") if around.urn in waited}


@pytest.fixture(scope="module", params=EXAMPLES)
def order(request: pytest.FixtureRequest, rehearsed: Callable[[str], Rehearsal]) -> Order:
    return Order(rehearsed(request.param).resources)


@pytest.mark.parametrize("rule", RULES)
def test_order(rule: str, order: Order) -> None:
    """The first is made before the second, and goes after it."""
    pairs = list(RULES[rule].pairs(order))
    assert pairs, f"{rule}: nothing of these roles was found"
    assert order.missing(pairs) == [], RULES[rule].why


def test_a_control_plane_waits_for_no_way_out(order: Order) -> None:
    """It needs none, and takes the longest: what its nodes wait for is made meanwhile."""
    gateways = order.of("natGateway:NatGateway")
    planes = order.of("eks/cluster:Cluster")
    assert gateways
    assert planes
    assert not [gateway for gateway in gateways for plane in planes if gateway.urn in order.before(plane.urn)]


def test_what_is_protected_keeps_its_key(order: Order) -> None:
    """A key that goes takes with it whatever it encrypts: what keeps data is not kept without it."""
    for kept in (each for each in order.by_urn.values() if each.protect and each.custom):
        for key in order.of("kms/key:Key"):
            if key.urn in order.before(kept.urn):
                assert key.protect, f"{kept.name} outlasts {key.name}"
                assert key.retain_on_delete, f"{kept.name} outlasts {key.name}"
