"""One thing made by two resources: told once, whichever room might, and what only looks the same not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from tests.rehearsal.works import mistakes_aws_eighth, mistakes_aws_wider, mistakes_refs_first, test_refs_sets
from tests.rehearsal.works.mistakes import context_of
from trainyard.recorded import types as t
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.works.check import check_works
from trainyard.rehearsal.works.references.aws import endpoints
from trainyard.rehearsal.works.references.aws.identities import IDENTITIES as AWS
from trainyard.rehearsal.works.references.gcp.identities import IDENTITIES as GCP
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.references.taken import check, inputs_of_id

ONE_ROOM: Final = ("reference-twice", "eip-taken", "efs-mount-target")
SETS: Final = (mistakes_aws_eighth, mistakes_aws_wider, mistakes_refs_first)
SEEDED: Final = {
    **{one.name: (one.stack, one.change) for each in SETS for one in each.MISTAKES if one.rule in ONE_ROOM},
    **{name: found[:2] for name, found in test_refs_sets.FURTHER.items() if found[2] in ONE_ROOM},
}


def made(type_: str, name: str, inputs: dict[str, Any], inside: str = "", **more: Any) -> RecordedResource:
    """A resource, in a component of its own where one is named."""
    around = f"own:index:{inside}${type_}" if inside else type_
    urn = f"urn:pulumi:dev::own::{around}::{name}"
    return RecordedResource(
        **{
            "urn": urn, "type": type_, "name": name, "parent": "", "component": inside, "custom": True, "provider": "",
            "inputs": inputs, "id": f"{name}-1", **more,
        }
    )  # fmt: skip


def thing(kind: str, called: str, /, api: str = "v1", **metadata: Any) -> RecordedResource:
    """An object of a cluster."""
    inputs = {"apiVersion": api, "kind": kind.removesuffix("Patch"), "metadata": {"namespace": "a", **metadata}}
    return made(f"kubernetes:{api if '/' in api else f'core/{api}'}:{kind}", called, inputs)


def twice(*resources: RecordedResource) -> list[str]:
    """The names of those that are told to be there already."""
    stack = Stack(resources, ValueContext("1.34", "us-east-1"))
    check(Cluster(stack), (AWS, GCP))
    endpoints.check(stack)
    return [finding.urn.rpartition("::")[2] for finding in stack.findings if finding.rule == "reference-twice"]


SOUND: dict[str, int] = {}
"""How many times it is told of a stack as it is."""


def times(resources: list[RecordedResource], rehearsal: Rehearsal) -> int:
    """How many times it is told, by values or by any room."""
    context = context_of(rehearsal)
    found = [*check_values(resources, context), *check_works(resources, context)]
    return sum(each.rule in ONE_ROOM for each in found)


@pytest.mark.parametrize("seeded", SEEDED)
def test_a_seeded_mistake_is_told_once(rehearsed, seeded):
    name, change = SEEDED[seeded]
    rehearsal = rehearsed(name)
    resources = list(rehearsal.known.resources)
    if name not in SOUND:
        SOUND[name] = times(resources, rehearsal)
    assert (SOUND[name], times(change(resources), rehearsal)) == (0, 1)


RULE: Final = {"ipProtocol": "tcp", "fromPort": 443, "toPort": 443, "cidrIpv4": "10.0.0.0/8"}
IN_ONE: Final = {
    "a role": (t.ROLE, {"name": "trainer"}, {}),
    "a bucket's policy": (t.BUCKET_POLICY, {"bucket": "data"}, {}),
    "a detector": (t.DETECTOR, {"enable": True}, {}),
    "a filter": (t.LOG_METRIC_FILTER, {"logGroupName": "jobs", "name": "failed"}, {}),
    "a port by a float": (t.SECURITY_GROUP_INGRESS_RULE, {"securityGroupId": "sg-1", **RULE}, {"fromPort": 443.0}),
    "a key of a bucket": (t.BUCKET_OBJECT, {"bucket": "data", "key": "a"}, {}),
    "an account": (t.GCP_ACCOUNT, {"accountId": "jobs"}, {}),
    "a topic": (t.GCP_TOPIC, {"name": "alerts"}, {}),
    "a node pool": (t.GKE_NODE_POOL, {"cluster": "demo", "name": "train"}, {}),
    "a release": (t.HELM_RELEASE, {"name": "kueue", "namespace": "kueue-system"}, {"chart": "kueue"}),
    "a gateway's table": (t.ROUTE_TABLE_ASSOCIATION, {"gatewayId": "igw-1", "routeTableId": "a"},
                          {"routeTableId": "b"}),
}  # fmt: skip


@pytest.mark.parametrize("what", IN_ONE)
def test_the_second_is_told(what):
    type_, inputs, changed = IN_ONE[what]
    assert twice(made(type_, "first", inputs), made(type_, "second", {**inputs, **changed})) == ["second"]


def test_an_object_is_told_and_a_bucket_of_another_project():
    assert twice(thing("Service", "first", name="web"), thing("Service", "second", name="web")) == ["second"]
    here, there = (made(t.GCP_BUCKET, name, {"name": "data"}, provider=f"urn::{name}") for name in ("here", "there"))
    assert twice(here, there) == ["there"]


OF_TWO: Final = {
    "of two regions": (t.LOG_GROUP, {"name": "jobs", "region": "us-east-1"}, {"region": "us-west-2"}),
    "of two projects": (t.GCP_TOPIC, {"name": "alerts", "project": "a"}, {"project": "b"}),
    "of two locations": (t.GKE_NODE_POOL, {"cluster": "demo", "name": "a", "location": "us-east1"},
                         {"location": "us-west1"}),
    "of an unknown name": (t.ROLE, {"name": UNKNOWN}, {}),
    "of no name": (t.ROLE, {"assumeRolePolicy": "{}"}, {}),
    "of two log groups": (t.LOG_METRIC_FILTER, {"logGroupName": "jobs", "name": "failed"}, {"logGroupName": "pods"}),
    "of two buses": (t.EVENT_RULE, {"name": "jobs"}, {"eventBusName": "own"}),
    "of two buckets": (t.BUCKET_OBJECT, {"bucket": "data", "key": "a"}, {"bucket": "more"}),
    "of what passes and what does not": (t.FLOW_LOG, {"vpcId": "v", "logDestination": "d", "trafficType": "ACCEPT"},
                                         {"trafficType": "REJECT"}),
    "of IPv4 and IPv6": (t.SECURITY_GROUP_INGRESS_RULE, {"securityGroupId": "sg-1", **RULE},
                         {"cidrIpv4": None, "cidrIpv6": "::/0"}),
    "an API that both turn on": (t.GCP_SERVICE, {"service": "compute.googleapis.com"}, {}),
    "a list for a text": (t.ROLE_POLICY, {"role": ["a"], "name": "x"}, {"role": ["b"]}),
    "a user of two hosts": ("gcp:sql/user:User", {"instance": "i", "name": "u", "host": "a"}, {"host": "b"}),
    "an endpoint without names": (t.VPC_ENDPOINT, {"vpcId": "v", "serviceName": "s", "vpcEndpointType": "Interface"},
                                  {"privateDnsEnabled": True}),
}  # fmt: skip


@pytest.mark.parametrize("what", OF_TWO)
def test_what_is_of_two_is_not_told(what):
    type_, inputs, changed = OF_TWO[what]
    assert twice(made(type_, "first", inputs), made(type_, "second", {**inputs, **changed})) == []


def test_two_that_pulumi_names_or_somebody_else_made_are_not_told():
    named = {"inputs": {"name": "nodes-1234567"}, "from_check": ("name",)}
    assert twice(*(made(t.ROLE, "nodes", inside=inside, **named) for inside in ("A", "B"))) == []
    assert twice(made(t.ROLE, "made", {"name": "x"}), made(t.ROLE, "found", {"name": "x"}, read=True)) == []
    assert twice(*(made(t.ROLE, name, {"name": "x"}, provider=f"urn::{name}") for name in ("here", "there"))) == []


def test_things_of_two_components_with_one_logical_name_are_apart():
    """Their ids are the same in a rehearsal, which makes them of the logical name."""

    def tables(*inside: str) -> list[str]:
        return twice(
            *(
                made(
                    t.ROUTE_TABLE_ASSOCIATION, f"in-{number}", {"subnetId": "subnet-1", "routeTableId": "r"},
                    property_dependencies={"subnetId": (f"urn:pulumi:dev::own::own:index:{one}${t.SUBNET}::private",)},
                )
                for number, one in enumerate(inside)
            )
        )  # fmt: skip

    assert tables("A", "B") == []
    assert tables("A", "A") == ["in-1"]


def test_objects_that_only_look_the_same_are_not_told():
    assert (
        twice(thing("Service", "a", name="web"), thing("Service", "b", api="serving.knative.dev/v1", name="web")) == []
    )
    assert twice(thing("Service", "a", name="web"), thing("Service", "b", name="web", namespace="b")) == []
    assert twice(*(thing("ServicePatch", each, name="web") for each in "ab")) == []
    assert twice(*(thing("Service", each, generateName="web-") for each in "ab")) == []


def test_no_row_of_a_table_says_what_a_card_says():
    for type_, inputs in {**AWS.inputs, **GCP.inputs}.items():
        of_card = inputs_of_id(type_)
        if of_card is not None:
            said = {each.rstrip("?").replace("cloud_name", "name") for each in of_card}
            assert said != {each.rstrip("?") for each in inputs}, type_
    assert not set(AWS.inputs) & set(GCP.inputs)


@pytest.mark.parametrize(("houses", "told"), [(("blue", "blue"), ["second"]), (("blue", "green"), [])])
def test_two_providers_of_one_cluster_make_one_object_twice(houses, told):
    clusters = [made(t.EKS_CLUSTER, name, {"name": name}) for name in dict.fromkeys(houses)]
    urns = {one.name: one.urn for one in clusters}
    providers = [
        made(
            t.KUBERNETES_PROVIDER, f"k8s-{at}", {"kubeconfig": "{}"}, property_dependencies={"kubeconfig": (urns[on],)}
        )
        for at, on in enumerate(houses)
    ]
    objects = [
        replace(thing("ConfigMap", called, name="settings"), provider=f"{provider.urn}::id")
        for called, provider in zip(("first", "second"), providers, strict=True)
    ]
    assert twice(*clusters, *providers, *objects) == told
