"""A wall that is taken away lets the attack through: what says that it is refused would say so if it were not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.conftest import WHOLE
from tests.policies.mutants import Change, edit, put
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ADD_ON,
    DATABASE,
    DNS_FIREWALL_RULE,
    EKS_CLUSTER,
    NETWORK_POLICY,
    SECURITY_GROUP_INGRESS_RULE,
)
from trainyard.rehearsal.works.flows.aws.names import names_looked_up
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.flows.reach import Flows

MINE, OTHERS = "pods of team language", "pods of team vision"
DATABASE_PLACE, LUSTRE = "database acme-demo-mlflow", "Lustre acme-demo-lustre"
WITHIN = "allow-within-team"


@pytest.fixture(scope="module")
def demo(recorded) -> Resources:
    return recorded(WHOLE)


def rule(direction: str, **given: Any) -> Callable[[dict[str, Any]], None]:
    """Adds a rule to a network policy."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["spec"][direction] = [*inputs["spec"].get(direction, []), given]

    return into


def out(team: str = "language", **given: Any) -> Change:
    """Lets a team's pods out to somewhere more."""
    return edit(NETWORK_POLICY, f"teams-{team}-{WITHIN}", rule("egress", **given))


def into(team: str, **given: Any) -> Change:
    """Lets somebody more in to a team's pods."""
    return edit(NETWORK_POLICY, f"teams-{team}-{WITHIN}", rule("ingress", **given))


def block(cidr: str) -> list[Mapping[str, Any]]:
    """A peer by address."""
    return [{"ipBlock": {"cidr": cidr}}]


def each(*changes: Change) -> Change:
    """Changes one after another."""

    def change(resources: Any) -> Any:
        for one in changes:
            resources = one(resources)
        return resources

    return change


def of_every_template(*path: str, value: Any) -> Change:
    """Puts a value into every launch template."""

    def change(resources: Any) -> Any:
        for found in resources:
            if found.type == LAUNCH_TEMPLATE:
                resources = edit(LAUNCH_TEMPLATE, found.name, put(*path, value=value))(resources)
        return resources

    return change


OFF = edit(ADD_ON, "cluster-vpc-cni", put("configurationValues", value=json.dumps({"enableNetworkPolicy": "false"})))
LINK_LOCAL = out(to=block("169.254.0.0/16"), ports=[{"port": 80}])

FALLEN: dict[str, tuple[Change, str, str, Port]] = {
    "the plugin enforces nothing": (OFF, MINE, OTHERS, Port(29500)),
    "the plugin enforces nothing, and the database": (OFF, MINE, DATABASE_PLACE, Port(5432)),
    "two teams share": (
        each(out(to=[{"namespaceSelector": {}}]), into("vision", **{"from": [{"namespaceSelector": {}}]})),
        MINE,
        OTHERS,
        Port(8080),
    ),
    "PostgreSQL out": (out(to=block("10.0.0.0/8"), ports=[{"port": 5432}]), MINE, DATABASE_PLACE, Port(5432)),
    "Lustre out": (out(to=block("10.0.0.0/8"), ports=[{"port": 988}]), MINE, LUSTRE, Port(988)),
    "everything out": (out(), MINE, "internet", Port(6667)),
    "the hop limit": (
        each(LINK_LOCAL, of_every_template("metadataOptions", "httpPutResponseHopLimit", value=2)),
        MINE,
        "instance metadata",
        Port(80),
    ),
    "no token asked": (
        each(LINK_LOCAL, of_every_template("metadataOptions", "httpTokens", value="optional")),
        MINE,
        "instance metadata",
        Port(80),
    ),
    "a database on the internet": (
        each(
            edit(DATABASE, "acme-demo-mlflow", put("publiclyAccessible", value=True)),
            edit(SECURITY_GROUP_INGRESS_RULE, "acme-demo-mlflow-ingress-cluster", put("cidrIpv4", value="0.0.0.0/0")),
        ),
        "internet",
        DATABASE_PLACE,
        Port(5432),
    ),
    "a cluster on the internet": (
        edit(EKS_CLUSTER, "cluster-cluster", put("vpcConfig", "endpointPublicAccess", value=True)),
        "internet",
        "Kubernetes API, public endpoint",
        Port(443),
    ),
}


@pytest.mark.parametrize("fallen", FALLEN)
def test_the_attack_comes_through(demo, fallen):
    change, source, destination, port = FALLEN[fallen]
    before, after = Flows.recorded(demo), Flows.recorded(Resources(change(demo.all)))
    assert destination not in before.places or not before.reaches(source, destination, port)
    verdict = after.reaches(source, destination, port)
    assert verdict, verdict


@pytest.mark.parametrize(
    ("change", "destination", "port"),
    [
        (LINK_LOCAL, "instance metadata", Port(80)),
        (of_every_template("metadataOptions", "httpPutResponseHopLimit", value=2), "instance metadata", Port(80)),
        (into("vision", **{"from": [{"namespaceSelector": {}}]}), OTHERS, Port(8080)),
        (edit(DATABASE, "acme-demo-mlflow", put("publiclyAccessible", value=True)), DATABASE_PLACE, Port(5432)),
    ],
    ids=[
        "a network policy, not the hop limit",
        "the hop limit, not a network policy",
        "one door of two",
        "a public name",
    ],
)
def test_one_of_two_walls_holds(demo, change, destination, port):
    verdict = Flows.recorded(Resources(change(demo.all))).reaches(MINE, destination, port)
    assert not verdict, verdict


def test_names_that_are_only_counted_are_looked_up(demo):
    alert = edit(DNS_FIREWALL_RULE, "dns-others", put("action", value="ALERT"))
    assert names_looked_up(Resources(alert(demo.all))).every


def test_a_pod_that_no_policy_selects_is_closed_where_the_plugin_is_strict(demo):
    without = Resources(found for found in demo.all if found.type != NETWORK_POLICY)
    assert not Flows.recorded(without).reaches(MINE, OTHERS, 8080)
    standard = json.dumps({"enableNetworkPolicy": "true"})
    loose = edit(ADD_ON, "cluster-vpc-cni", put("configurationValues", value=standard))
    assert Flows.recorded(Resources(loose(without.all))).reaches(MINE, OTHERS, 8080)
