"""What is made before what, and so taken away after it: over the recorded dependencies, found by type and role.

A pair holds for every two that belong together: of one network, of one namespace, of one identity. What is made in
another cluster or for another namespace is not waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from tests.conftest import EKS, GKE, WITH_CLUSTERS
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
    of: Collection[str] = WITH_CLUSTERS  # the examples that have such a pair


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


def queues_and_namespaces(order: Order) -> Iterator[Pair]:
    """Kueue, its flavors and the team's ClusterQueue, the team's namespace, its LocalQueues."""
    for around in order.of(":index:Kueue"):
        before = order.inside(around, ":Release", ":NetworkPolicy")
        for queue in order.inside(around, ":ClusterQueue"):
            labels = queue.inputs["spec"]["namespaceSelector"]["matchLabels"]
            flavors = {
                flavor["name"]
                for group in queue.inputs["spec"].get("resourceGroups", [])
                for flavor in group["flavors"]
            }
            used = [
                each for each in order.inside(around, ":ResourceFlavor") if each.inputs["metadata"]["name"] in flavors
            ]
            (namespace,) = [
                each
                for each in order.of("core/v1:Namespace")
                if labels.items() <= each.inputs["metadata"].get("labels", {}).items()
                and each.provider == queue.provider
            ]
            for first in (*before, *used, queue):
                yield first, namespace
            for local in order.inside(around, ":LocalQueue"):
                if local.inputs["spec"]["clusterQueue"] == queue.inputs["metadata"]["name"]:
                    yield namespace, local


RULES = {
    "ways out before nodes": Rule("a node without a way out pulls no image", routes_of_private_subnets, EKS),
    "endpoints before nodes": Rule(
        "images and roles come through them", each(("vpcEndpoint:VpcEndpoint",), ("nodeGroup:NodeGroup",)), EKS
    ),
    "firewall rules before they bind": Rule(
        "with the last rule alone no name resolves",
        each(
            ("resolverFirewallRule:ResolverFirewallRule",),
            ("resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation",),
        ),
        EKS,
    ),
    "walls of kube-system before its pods": Rule("a strict network lets nothing by before them", in_kube_system, EKS),
    "walls before the platform's pods": Rule("a strict network lets nothing by before them", walls_of_the_platform),
    "controllers before their objects": Rule(
        "no kind before its definition; a finalizer needs its controller",
        within(":Kueue", (":Release",), (":ClusterQueue", ":LocalQueue", ":ResourceFlavor", ":Cohort")),
    ),
    "queues before namespaces, namespaces before their local queues": Rule(
        "Workloads keep a namespace until Kueue has let them go, and a ClusterQueue until they are gone",
        queues_and_namespaces,
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
        EKS,
    ),
    "guards before jobs": Rule(
        "a job admitted before is not looked at again",
        lambda order: (
            (guard, job)
            for guard in order.of(ADMISSION + "ValidatingAdmissionPolicyBinding")
            for job in order.of("batch/v1:Job")
            if guard.provider == job.provider and "ingest" not in guard.component and job.component != "folders"
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
        EKS,
    ),
    "gateway before nodes": Rule(
        "a private node without one pulls no image",
        each(("compute/routerNat:RouterNat",), ("container/nodePool:NodePool",)),
        GKE,
    ),
    "services before what they make": Rule(
        "a call to a service that is not enabled is refused",
        each(("projects/service:Service",), ("container/cluster:Cluster", "sql/databaseInstance:DatabaseInstance")),
        GKE,
    ),
    "private connection before the database": Rule(
        "an instance with a private address is refused without, and the connection goes only after it",
        each(("servicenetworking/connection:Connection",), ("sql/databaseInstance:DatabaseInstance",)),
        GKE,
    ),
    "rights to a key before what it encrypts": Rule(
        "the service's agent has to use the key",
        lambda order: (
            (right, made)
            for made in order.of("storage/bucket:Bucket", "sql/databaseInstance:DatabaseInstance")
            for right in order.of("kms/cryptoKeyIAMMember:CryptoKeyIAMMember")
            if set(order.before(made.urn)).intersection(right.property_dependencies["cryptoKeyId"])
            and right.inputs["member"].endswith(AGENTS[made.type.split(":")[1].split("/")[0]])
        ),
        GKE,
    ),
}
AGENTS = {"storage": "@gs-project-accounts.iam.gserviceaccount.com", "sql": "@gcp-sa-cloud-sql.iam.gserviceaccount.com"}
"""The ends of the names of Google's service agents, by service (Google Cloud's documentation of service agents)."""


def clusters_of(order: Order, resource: RecordedResource) -> set[str]:
    """The clusters' components that an object's provider waits for."""
    waited = order.before(resource.provider.rpartition("::")[0])
    return {around.urn for around in order.of(":index:Cluster") if around.urn in waited}


@pytest.fixture(scope="module")
def orders(rehearsed: Callable[[str], Rehearsal]) -> Callable[[str], Order]:
    return cache(lambda stack: Order(rehearsed(stack).resources))


@pytest.fixture(scope="module", params=WITH_CLUSTERS)
def order(request: pytest.FixtureRequest, orders: Callable[[str], Order]) -> Order:
    return orders(request.param)


@pytest.mark.parametrize(("stack", "rule"), [(stack, name) for name, rule in RULES.items() for stack in rule.of])
def test_order(stack: str, rule: str, orders: Callable[[str], Order]) -> None:
    """The first is made before the second, and goes after it."""
    order = orders(stack)
    pairs = list(RULES[rule].pairs(order))
    assert pairs, f"{rule}: nothing of these roles was found"
    assert order.missing(pairs) == [], RULES[rule].why


@pytest.mark.parametrize("stack", EKS)
def test_a_control_plane_waits_for_no_way_out(stack: str, orders: Callable[[str], Order]) -> None:
    """It needs none, and takes the longest: what its nodes wait for is made meanwhile."""
    order = orders(stack)
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
