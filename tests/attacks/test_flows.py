"""Attacks over the network, by a member of a team or a training pod that was taken over; and what training needs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from trainyard.recorded.read import value_at
from trainyard.recorded.types import DATABASE
from trainyard.rehearsal.works.flows.aws.places import HTTPS, KUBELET
from trainyard.rehearsal.works.flows.model import Port

SSH, NFS, POSTGRESQL, NCCL = Port(22), Port(2049), Port(5432), Port(29500)
ANY = (Port(1), SSH, Port(80), HTTPS, POSTGRESQL, Port(8080), NCCL, Port(65535), Port(53, "UDP"), Port(8472, "UDP"))
"""Ports of every kind: of services, of what pods listen on, of rendezvous."""

TRACKING = Port(5000)
NAMES = "kube-system/coredns"


def named(flows, *beginnings):
    return [place for place in flows.places.values() if place.name.startswith(beginnings)]


def refused(flows, places, ports=()):
    """No pod of any team reaches any of the places, on the ports and on those that they listen on."""
    assert flows.teams
    for team, place in itertools.product(flows.teams.values(), places):
        for port in {*ports, *place.ports}:
            verdict = flows.reaches(team, place, port)
            assert not verdict, verdict


def reached(flows, places, *ports):
    """Every pod of every team reaches all of all places; gives the verdicts."""
    assert flows.teams
    assert places
    verdicts = [flows.reaches(*asked) for asked in itertools.product(flows.teams.values(), places, ports)]
    assert [verdict for verdict in verdicts if verdict.reach != "all"] == []
    return verdicts


def test_pods_of_other_teams_are_out_of_reach(flows):
    for team, other, port in itertools.product(flows.teams.values(), flows.teams.values(), ANY):
        if other != team:
            verdict = flows.reaches(team, other, port)
            assert not verdict, verdict


def test_the_database_is_out_of_reach(flows, resources):
    assert len(named(flows, "database ")) == len(resources.of(DATABASE)) == 1
    refused(flows, named(flows, "database "), [POSTGRESQL, HTTPS])


def test_the_kubelets_of_other_nodes_are_out_of_reach(flows):
    refused(flows, [flows.places["nodes"]], [KUBELET, SSH, Port(10255), Port(10256)])


def test_the_identity_of_nodes_is_out_of_reach(flows):
    refused(flows, [flows.places["instance metadata"]], [Port(80), HTTPS])


def test_the_identity_of_nodes_is_out_of_reach_by_the_hop_limit_alone(flows):
    """Two walls: without any network policy the answer still ends at the node."""
    refused(replace(flows, walls=flows.walls[1:]), [flows.places["instance metadata"]])


def test_file_servers_are_out_of_reach_of_pods(flows):
    """Volumes are mounted by the node: a pod that speaks NFS or Lustre itself would go past access points."""
    refused(flows, named(flows, "EFS ", "Lustre "), [NFS])


def test_the_vpcs_name_service_is_out_of_reach(flows):
    """Names are asked of the cluster's name service, where they can be watched."""
    refused(flows, [flows.places["the VPC's name service"]])


def test_of_the_tracking_server_the_tracking_port_alone_is_in_reach(flows):
    for place in flows.in_namespace("mlflow"):
        refused(flows, [replace(place, ports=())], {*ANY, *place.ports} - {TRACKING})


def test_the_pods_that_prepare_volumes_are_out_of_reach(flows):
    refused(flows, flows.in_namespace("storage-setup"), ANY)


@pytest.mark.parametrize("namespace", ["kueue-system", "jobset-system", "kubeflow-system", "kube-system", "mount-s3"])
def test_the_platforms_own_pods_are_out_of_reach(flows, namespace):
    """A webhook that a pod may ask says what it would change or refuse; no pod has business there."""
    refused(flows, [place for place in flows.in_namespace(namespace) if place.name != NAMES], ANY)


def test_other_nodes_are_out_of_reach(flows):
    refused(flows, [flows.places["nodes"]], ANY)


@pytest.mark.parametrize("port", [Port(25), SSH, Port(80), Port(3389), Port(6667), NCCL, Port(443, "UDP")], ids=str)
def test_the_internet_is_out_of_reach_but_for_https(flows, port):
    refused(flows, [replace(flows.places["internet"], ports=())], [port])


def test_the_internet_reaches_nothing(flows):
    for place in flows.places.values():
        if place.name not in ("internet", "object store"):
            for port in {HTTPS, SSH, *place.ports}:
                assert not (verdict := flows.reaches("internet", place, port)), verdict


class TestTraining:
    """What a training pod needs, all of it."""

    def test_ranks_reach_each_other_on_every_port(self, flows):
        for team in flows.teams.values():
            for port in (Port(1024), NCCL, Port(65535), Port(4791, "UDP")):
                assert flows.reaches(team, team, port).reach == "all"

    def test_names(self, flows):
        reached(flows, [flows.places[NAMES]], Port(53, "UDP"), Port(53))

    def test_the_tracking_server(self, flows):
        reached(flows, [place for place in flows.in_namespace("mlflow") if TRACKING in place.ports], TRACKING)

    def test_the_object_store_through_its_endpoint(self, flows):
        for verdict in reached(flows, [flows.places["object store"]], HTTPS):
            assert "network-s3" in verdict.words

    def test_the_pods_own_identity(self, flows):
        reached(flows, [flows.places["Pod Identity agent"]], Port(80))

    def test_volumes_are_mounted_by_nodes(self, flows):
        for place in named(flows, "EFS ", "Lustre "):
            assert place.ports
            assert {flows.reaches("nodes", place, port).reach for port in place.ports} == {"all"}


class TestPlatform:
    """What the platform needs of the network."""

    def test_the_tracking_server_reaches_its_database(self, flows):
        for server in flows.in_namespace("mlflow"):
            for database in named(flows, "database "):
                assert flows.reaches(server, database, database.ports[0]).reach == "all"

    def test_nodes_reach_the_kubernetes_api(self, flows):
        assert flows.reaches("nodes", "Kubernetes API", HTTPS).reach == "all"

    def test_the_kubernetes_api_reaches_webhooks(self, flows):
        for name in ("kueue-controller-manager", "jobset-controller", "kubeflow-trainer-controller-manager"):
            place = next(found for found in flows.places.values() if found.name.endswith(f"/{name}"))
            assert flows.reaches("Kubernetes API", place, 9443)


def test_every_place_is_told_once_and_every_team_is_one(flows, resources):
    assert all(flows.places[name].name == name for name in flows.places)
    assert {place.pods.namespace for place in flows.teams.values()} == {
        value_at(found.inputs, "metadata", "name")
        for found in resources.of("kubernetes:core/v1:Namespace")
        if "ml.platform/team" in (value_at(found.inputs, "metadata", "labels") or {})
    }
