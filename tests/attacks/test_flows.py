"""Attacks over the network, by a member of a team or a training pod that was taken over; and what training needs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.conftest import EKS
from trainyard.recorded.read import value_at
from trainyard.recorded.types import DATABASE
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.aws.names import names_looked_up
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Port

SSH, NFS, POSTGRESQL, NCCL = Port(22), Port(2049), Port(5432), Port(29500)
STACKS = EKS
ANY = (Port(1), SSH, Port(80), HTTPS, POSTGRESQL, Port(8080), NCCL, Port(65535), Port(53, "UDP"), Port(8472, "UDP"))
"""Ports of every kind: of services, of what pods listen on, of rendezvous."""

TRACKING = Port(5000)
NAMES = "kube-system/coredns"
SERVICES = Addresses.of("172.20.0.0/16")
"""What the API server does not ask from: services answer, they do not ask."""


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
    places = [place for place in flows.in_namespace(namespace) if place.name != NAMES]
    assert places
    refused(flows, places, ANY)


def test_of_the_proxy_its_port_alone_is_in_reach(flows):
    (proxy,) = flows.in_namespace("egress-proxy")
    refused(flows, [replace(proxy, ports=())], set(ANY) - set(proxy.ports))


def test_other_nodes_are_out_of_reach(flows):
    refused(flows, [flows.places["nodes"]], ANY)


def test_the_kubernetes_api_and_the_endpoints_of_services_are_out_of_reach(flows):
    """A training pod has no token for the one, and reaches the object store without the others."""
    places = [flows.places["Kubernetes API"], *named(flows, "endpoint ")]
    assert len(places) > 3
    refused(flows, places)


@pytest.mark.parametrize("port", [*ANY, Port(25), Port(3389), Port(443, "UDP")], ids=str)
def test_the_internet_is_out_of_reach(flows, port):
    """Whoever asks goes by the proxy, which knows the names of the allow-list."""
    refused(flows, [replace(flows.places["internet"], ports=())], [port])


def test_names_that_nothing_needs_are_not_looked_up(resources):
    """A lookup carries data to whoever answers for the name."""
    found = names_looked_up(resources)
    assert not found.every
    assert not {"*", "*.com", "*.net", "*.org", "*.io"} & set(found.allowed)


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

    def test_the_names_of_the_allow_list_by_the_proxy(self, flows):
        (proxy,) = flows.in_namespace("egress-proxy")
        reached(flows, [proxy], *proxy.ports)
        assert flows.reaches(proxy, "internet", HTTPS).reach == "all"

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

    def test_nodes_reach_what_starts_them(self, flows):
        """The Kubernetes API, the services of AWS, images, and names."""
        for place in [flows.places["Kubernetes API"], *named(flows, "endpoint "), flows.places["object store"]]:
            assert flows.reaches("nodes", place, HTTPS).reach == "all"
        assert flows.reaches("nodes", "internet", HTTPS).reach == "all"
        assert flows.reaches("nodes", "the VPC's name service", Port(53, "UDP"))

    @pytest.mark.parametrize(
        ("name", "port"),
        [
            ("kueue-controller-manager", 9443),
            ("kueue-controller-manager", 8082),
            ("jobset-controller", 9443),
            ("kubeflow-trainer-controller-manager", 9443),
            ("metrics-server", 10251),
        ],
    )
    def test_the_kubernetes_api_reaches_who_serves_it(self, flows, name, port):
        """From all of its own addresses: from which one it asks is its matter."""
        place = next(found for found in flows.places.values() if found.name.endswith(f"/{name}"))
        source = flows.places["Kubernetes API"]
        interfaces = replace(source, addresses=source.addresses - SERVICES)
        assert flows.reaches(interfaces, place, port).reach == "all"

    def test_controllers_reach_the_kubernetes_api_and_names(self, flows):
        for place in flows.places.values():
            if place.pods and place.pods.namespace in ("kueue-system", "jobset-system", "kubeflow-system"):
                assert flows.reaches(place, "Kubernetes API", HTTPS).reach == "all"
                assert flows.reaches(place, NAMES, Port(53, "UDP"))

    @pytest.mark.parametrize(
        ("name", "destination", "port"),
        [
            ("mount-s3/mountpoint pods", "object store", HTTPS),
            ("kube-system/metrics-server", "nodes", KUBELET),
            ("kube-system/cluster-autoscaler", "endpoint autoscaling", HTTPS),
            ("kube-system/ebs-csi-controller", "endpoint ec2", HTTPS),
        ],
        ids=["mounts", "figures", "new nodes", "disks"],
    )
    def test_the_systems_pods_reach_what_they_work_with(self, flows, name, destination, port):
        assert flows.reaches(name, destination, port).reach == "all"

    def test_the_clusters_name_service_asks_the_networks(self, flows):
        assert flows.reaches(NAMES, "the VPC's name service", Port(53, "UDP"))

    def test_probes_come_from_the_pods_own_node(self, flows):
        for place in flows.places.values():
            if place.kind == "pods":
                for port in place.ports:
                    assert flows.reaches("the pod's own node", place, port)


def test_every_place_is_told_once_and_every_team_is_one(flows, resources):
    assert all(flows.places[name].name == name for name in flows.places)
    assert {place.pods.namespace for place in flows.teams.values()} == {
        value_at(found.inputs, "metadata", "name")
        for found in resources.of("kubernetes:core/v1:Namespace")
        if "ml.platform/team" in (value_at(found.inputs, "metadata", "labels") or {})
    }
