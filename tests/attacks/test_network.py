"""The declared conversations against the network as it is recorded, both ways; what leaves it or comes from outside.

What is declared is possible, and of what is not declared nothing is: between any two kinds of the platform's pods, and
from them to the internet, the API server, the object store and the database.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.conftest import EKS
from trainyard.components.aws.on_cluster.kube_system import KUBE_SYSTEM_FLOWS
from trainyard.components.k8s.flows import Place, Pods
from trainyard.components.k8s.monitoring_flows import EXPORTER, monitoring_flows
from trainyard.components.k8s.platform_flows import PLATFORM_FLOWS
from trainyard.conventions import MLFLOW_NAMESPACE, TRAINER_SERVICE_ACCOUNT, team_prefix
from trainyard.recorded.types import BUCKET, NAMESPACE
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Port
from trainyard.rehearsal.works.rights.aws.callers import ANONYMOUS, principal, service
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights

STACKS = EKS
FLOWS = (*PLATFORM_FLOWS, *monitoring_flows(gpu_exporter=EXPORTER, name_service=True, leave=True), *KUBE_SYSTEM_FLOWS)
_NAMED = {pods.namespace for flow in FLOWS for pods in (flow.source, flow.destination) if isinstance(pods, Pods)}
PLATFORM = _NAMED - {MLFLOW_NAMESPACE}
"""Of the tracking server's own flows nothing is told here."""
PLACES = {
    Place.API_SERVER: "Kubernetes API",
    Place.NODES: "nodes",
    Place.RESOLVERS: "the VPC's name service",
    Place.IDENTITY: "Pod Identity agent",
    Place.OBJECT_STORE: "object store",
    Place.INTERNET: "internet",
}
AGENT = {"protocol": "TCP", "port": 80}


def ends(flows, end):
    """The recorded places that an end of a flow is about."""
    if isinstance(end, Pods):
        return [
            place for place in flows.in_namespace(end.namespace) if dict(end.labels).items() <= labels(place).items()
        ]
    if end is Place.TEAMS:
        return list(flows.teams.values())
    if end is Place.NETWORK:
        return [flows.places["nodes"], *flows.teams.values()]
    if end is Place.CLOUD_SERVICES:
        return [place for place in flows.places.values() if place.name.startswith("endpoint ")]
    return [flows.places[PLACES[end]]]


def labels(place):
    return place.pods.labels or {}


def ports(flow):
    for entry in flow.ports or (AGENT,):
        for number in range(entry["port"], entry.get("end_port", entry["port"]) + 1):
            yield Port(number, entry["protocol"])


def test_every_kind_of_the_platforms_pods_is_in_the_table(flows):
    """A chart whose pods nobody declared would get through to nobody."""
    known = PLATFORM | {MLFLOW_NAMESPACE, "storage-setup"} | {place.pods.namespace for place in flows.teams.values()}
    assert {place.pods.namespace for place in flows.places.values() if place.pods} <= known


def test_what_is_declared_is_possible(flows):
    asked = 0
    for flow in FLOWS:
        for source, destination, port in itertools.product(
            ends(flows, flow.source), ends(flows, flow.destination), ports(flow)
        ):
            if source.name == destination.name:
                continue
            asked += 1
            verdict = flows.reaches(source, destination, port)
            assert verdict, f"{flow.why}: {verdict}"
    assert asked > len(FLOWS)


def test_what_is_not_declared_is_not(flows):
    declared = {
        (source.name, destination.name, port)
        for flow in FLOWS
        for source, destination, port in itertools.product(
            ends(flows, flow.source), ends(flows, flow.destination), ports(flow)
        )
    }
    platform = [place for name in sorted(PLATFORM) for place in flows.in_namespace(name)]
    others = [flows.places[name] for name in ("Kubernetes API", "internet", "object store", "instance metadata")]
    others += [place for place in flows.places.values() if place.name.startswith("database ")]
    for source, destination in itertools.product(platform, [*platform, *others]):
        if source.name == destination.name:
            continue
        for port in {HTTPS, KUBELET, Port(80), Port(5432), *destination.ports} - {Port(53), Port(53, "UDP")}:
            out = destination.name == "object store" and (source.name, "internet", port) in declared
            if not out and (source.name, destination.name, port) not in declared:
                verdict = flows.reaches(source, replace(destination, ports=()), port)
                assert not verdict, f"{source.name} reaches {destination.name} at {port}: {verdict}"


def outside(flows, source, port):
    """What of the internet a source reaches that is not the object store."""
    return flows.reaches(source, "internet", port).left - flows.places["object store"].addresses


def test_of_what_is_outside_teams_reach_the_object_store_alone(flows):
    """443 of everywhere is any bucket in any region."""
    for team in flows.teams.values():
        assert flows.reaches(team, "object store", HTTPS).reach == "all"
        assert not outside(flows, team, HTTPS)


def test_the_tracking_server_has_no_way_out(flows):
    for server in flows.in_namespace("mlflow"):
        for port in (HTTPS, Port(80), Port(22)):
            assert not outside(flows, server, port)


def test_the_proxy_has_one(flows):
    (proxy,) = flows.in_namespace("egress-proxy")
    assert outside(flows, proxy, HTTPS)


class Perimeter:
    """A stack's buckets and teams, and who asks from where."""

    def __init__(self, resources):
        self.resources, self.rights = resources, Rights(resources)
        self.vpc = next(found for found in resources.of("aws:ec2/vpc:Vpc")).id
        self.pods = {
            labels["ml.platform/team"]: Pod(found.inputs["metadata"]["name"], TRAINER_SERVICE_ACCOUNT)
            for found in resources.of(NAMESPACE)
            if "ml.platform/team" in (labels := found.inputs["metadata"].get("labels", {}))
        }
        self.account = next(arn_of(found) for found in resources.of("aws:iam/role:Role")).split(":")[4]

    def bucket(self, end):
        named = (found for found in self.resources.of(BUCKET) if "-trail-" not in found.name)
        return next(arn_of(found) for found in named if found.name.endswith(f"-{end}"))

    def checkpoint(self, team):
        return f"{self.bucket('checkpoints')}/{team_prefix(team)}run-1/model.pt"


@pytest.fixture(scope="session")
def perimeter(resources):
    return Perimeter(resources)


OUTSIDE = ({"aws:SourceVpc": "vpc-somebodys", "aws:SourceVpce": "vpce-somebodys"}, {"aws:SourceVpc": ()})
"""From another network, and over the internet, where a request names none."""


@pytest.mark.parametrize("where", OUTSIDE, ids=["another network", "the internet"])
def test_credentials_of_a_pod_are_of_no_use_outside(perimeter, where):
    for team, pod in perimeter.pods.items():
        asked = [
            ("s3:GetObject", perimeter.checkpoint(team)),
            ("s3:PutObject", perimeter.checkpoint(team)),
            ("s3:DeleteObject", perimeter.checkpoint(team)),
            ("s3:GetObject", f"{perimeter.bucket('data')}/set/1"),
            ("s3:ListBucket", perimeter.bucket("data")),
        ]
        for action, resource in asked:
            said = {**where, "s3:prefix": team_prefix(team)}
            assert perimeter.rights.may(pod, action, resource, said).refused, f"{action} of {team}"


def test_credentials_of_a_pod_serve_inside(perimeter):
    for team, pod in perimeter.pods.items():
        for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
            verdict = perimeter.rights.may(pod, action, perimeter.checkpoint(team))
            assert verdict.allowed, str(verdict)
        listing = perimeter.rights.may(
            pod, "s3:ListBucket", perimeter.bucket("checkpoints"), {"s3:prefix": team_prefix(team)}
        )
        assert listing.allowed, str(listing)


def test_a_pods_rights_reach_no_bucket_of_others_through_the_endpoint(perimeter):
    for pod in perimeter.pods.values():
        for action in ("s3:PutObject", "s3:GetObject", "s3:ListBucket"):
            said = {"aws:ResourceAccount": "999988887777"}
            verdict = perimeter.rights.may(pod, action, "arn:aws:s3:::attackers-bucket/loot", said)
            assert verdict.refused, str(verdict)


def test_other_accounts_and_nobody_are_let_in_nowhere(perimeter):
    for who in (principal("arn:aws:iam::999988887777:role/somebody"), ANONYMOUS):
        for end in ("data", "checkpoints", "artifacts", "logs"):
            for action, resource in (("s3:GetObject", "/x"), ("s3:ListBucket", ""), ("s3:PutBucketPolicy", "")):
                said = {"aws:SourceVpc": perimeter.vpc}
                verdict = perimeter.rights.may(who, action, perimeter.bucket(end) + resource, said)
                assert verdict.refused, str(verdict)


def denied(perimeter, who, action, resource, **said):
    """Whether a bucket's policy denies it, whatever the caller's own rights are."""
    return "Deny" in (words := str(perimeter.rights.may(who, action, resource, said))) and words


def test_whoever_deploys_from_outside_manages_buckets(perimeter):
    """No role is recorded of the deployer's: none of the bucket's own statements may be what refuses."""
    deployer = principal(f"arn:aws:iam::{perimeter.account}:role/deployer")
    for end in ("data", "checkpoints", "artifacts", "logs"):
        for action in ("s3:PutBucketPolicy", "s3:GetBucketPolicy", "s3:ListBucket", "s3:PutBucketVersioning"):
            assert not denied(perimeter, deployer, action, perimeter.bucket(end))
        assert denied(perimeter, deployer, "s3:GetObject", f"{perimeter.bucket(end)}/x")


def test_services_of_aws_work_from_their_own_network(perimeter):
    fsx = principal(
        f"arn:aws:iam::{perimeter.account}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"
        "AWSServiceRoleForFSxS3Access_fs-1"
    )
    for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
        assert not denied(perimeter, fsx, action, f"{perimeter.bucket('data')}/set/1")
    delivery = {"aws:SourceAccount": perimeter.account}
    logged = perimeter.rights.may(
        service("logging.s3.amazonaws.com"), "s3:PutObject", f"{perimeter.bucket('logs')}/x", delivery
    )
    assert logged.allowed, str(logged)
