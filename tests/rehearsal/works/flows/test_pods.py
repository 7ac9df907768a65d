"""The pods of a cluster: a team's, a stack's own, and those of charts that the recording does not show."""

import pytest

from tests.cost.recorded import resource
from trainyard.catalog.versions import add_on_pins, kubernetes_versions, pins
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DEPLOYMENT, HELM_RELEASE, NAMESPACE, SERVICE
from trainyard.rehearsal.works.flows.kubernetes.pods import platform, teams
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.workloads.charts import table


def test_teams_are_the_namespaces_with_their_label():
    theirs = resource(NAMESPACE, "t", {"metadata": {"name": "team-x", "labels": {"ml.platform/team": "x"}}})
    other = resource(NAMESPACE, "o", {"metadata": {"name": "mlflow", "labels": {}}})
    found = teams(Resources([theirs, other]))
    assert {team: workload.pods.namespace for team, workload in found.items()} == {"x": "team-x"}
    assert found["x"].pods.labels is None  # whatever its members write


def deployment(namespace="mlflow", **spec):
    container = {"name": "it", "ports": [{"name": "http", "containerPort": 5000}, {"containerPort": 9102}]}
    template = {"metadata": {"labels": {"app": "it"}}, "spec": {"containers": [container], **spec}}
    metadata = {"name": "it", "namespace": namespace}
    return resource(DEPLOYMENT, "d", {"metadata": metadata, "spec": {"template": template}})


def test_a_recorded_workload_with_its_ports_and_services():
    spec = {"selector": {"app": "it"}, "ports": [{"port": 80, "targetPort": "http"}, {"port": 9102}]}
    service = resource(SERVICE, "s", {"metadata": {"namespace": "mlflow"}, "spec": spec})
    elsewhere = resource(SERVICE, "e", {"metadata": {"namespace": "other"}, "spec": spec})
    (found,) = platform(Resources([deployment(), service, elsewhere]))
    assert found.pods.labels == {"app": "it"}
    assert found.pods.services == ((80, 5000), (9102, 9102))
    assert found.ports == (Port(5000), Port(9102))


def test_what_runs_in_a_teams_namespace_is_the_teams():
    theirs = resource(NAMESPACE, "t", {"metadata": {"name": "team-x", "labels": {"ml.platform/team": "x"}}})
    assert list(platform(Resources([theirs, deployment("team-x")]))) == []


def test_pods_in_the_network_of_their_node_are_the_node():
    assert list(platform(Resources([deployment(hostNetwork=True)]))) == []


def release(chart, **values):
    return resource(HELM_RELEASE, "r", {"chart": chart, "name": "mine", "namespace": "there", "values": values})


def test_a_chart_makes_the_pods_of_thetable():
    (found,) = platform(Resources([release("oci://registry.k8s.io/kueue/charts/kueue")]))
    assert found.name == "there/kueue-controller-manager"
    assert found.pods.labels["app.kubernetes.io/instance"] == "mine"
    assert (443, 9443) in found.pods.services


def test_a_chart_that_puts_its_pods_into_the_network_of_the_node():
    assert len(list(platform(Resources([release("cluster-autoscaler")])))) == 1
    assert list(platform(Resources([release("cluster-autoscaler", hostNetwork=True)]))) == []


def test_a_chart_that_nobody_knows_has_pods_all_the_same():
    (found,) = platform(Resources([release("something-else")]))
    assert found.pods.namespace == "there"


def test_every_pinned_chart_and_add_on_is_known():
    assert {pin.chart.rpartition("/")[2] for _, pin in pins().charts} <= set(table()["charts"])
    for version in kubernetes_versions():
        assert {add_on.name for add_on in add_on_pins(version)[0]} <= set(table()["add-ons"])


@pytest.mark.parametrize("kind", ["charts", "add-ons"])
def test_the_table_says_where_it_is_from(kind):
    assert all(entry["source"].endswith("2026-11") and entry["pods"] for entry in table()[kind].values())
