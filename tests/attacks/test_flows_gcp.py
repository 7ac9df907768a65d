"""Attacks over the network of Google Cloud, by a training pod that was taken over; and what training needs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.conftest import GKE
from trainyard.rehearsal.works.flows.gcp.places import API, GOOGLE, METADATA
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Port

STACKS = GKE
ANY = (Port(1), Port(22), Port(80), HTTPS, Port(5432), Port(8080), Port(29500), Port(65535), Port(53, "UDP"))


def refused(flows, places, ports=()):
    """No pod of any team reaches any of the places, on the ports and on those that they listen on."""
    assert flows.teams
    for team, place in itertools.product(flows.teams.values(), places):
        for port in {*ports, *place.ports}:
            assert not (verdict := flows.reaches(team, place, port)), verdict


def test_pods_of_other_teams_are_out_of_reach(flows):
    for team, other, port in itertools.product(flows.teams.values(), flows.teams.values(), ANY):
        if other != team:
            assert not (verdict := flows.reaches(team, other, port)), verdict


def test_the_database_the_nodes_and_the_api_are_out_of_reach(flows):
    databases = [place for place in flows.places.values() if place.name.startswith("database ")]
    assert databases
    refused(flows, [*databases, flows.places["nodes"], flows.places[API]], [*ANY, KUBELET])


@pytest.mark.parametrize("port", [*ANY, Port(25), Port(443, "UDP")], ids=str)
def test_the_internet_is_out_of_reach(flows, port):
    refused(flows, [replace(flows.places["internet"], ports=())], [port])


@pytest.mark.parametrize("namespace", ["kueue-system", "monitoring", "jobset-system", "kubeflow-system"])
def test_the_platforms_own_pods_are_out_of_reach(flows, namespace):
    places = flows.in_namespace(namespace)
    assert places
    refused(flows, places, ANY)


def test_the_internet_reaches_nothing(flows):
    for place in flows.places.values():
        if place.name not in ("internet", GOOGLE) and place.kind != "link-local":
            for port in {HTTPS, Port(22), *place.ports}:
                assert not (verdict := flows.reaches("internet", place, port)), verdict


def test_a_training_pod_reaches_its_storage_its_identity_its_ranks_and_tracking(flows):
    for team in flows.teams.values():
        assert flows.reaches(team, GOOGLE, HTTPS).reach == "all"
        assert flows.reaches(team, METADATA, Port(80)).reach == "all"
        assert flows.reaches(team, team, Port(29500)).reach == "all"
        assert flows.reaches(team, "mlflow/mlflow", Port(5000)).reach == "all"


def test_the_control_plane_reaches_the_webhooks_of_the_queue_manager(flows):
    (manager,) = flows.in_namespace("kueue-system")[-1:]
    assert flows.reaches(API, manager, Port(9443))
