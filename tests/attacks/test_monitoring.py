"""Attacks on what watches: a team's pod reads other teams' figures, silences an alert, or makes figures of its own."""

from tests.attacks.test_flows import Port, named, refused
from tests.conftest import EKS
from trainyard.conventions import TEAM_LABEL, TRAINER_SERVICE_ACCOUNT, team_group
from trainyard.conventions.monitoring import MONITORING_NAMESPACE
from trainyard.recorded.read import value_at
from trainyard.recorded.types import NAMESPACE, SNS_TOPIC
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.rights.stack import Rights

PROMETHEUS, ALERTMANAGER, GRAFANA, METRICS = Port(9090), Port(9093), Port(3000), Port(8080)
STACKS = EKS
PODS = f"{MONITORING_NAMESPACE}/"
RULES = ("prometheusrules", "podmonitors", "servicemonitors", "probes", "scrapeconfigs")


def test_no_pod_of_a_team_reaches_the_monitoring(flows):
    assert len(named(flows, PODS)) >= 5
    refused(flows, named(flows, PODS), [PROMETHEUS, ALERTMANAGER, GRAFANA, METRICS])


def test_no_pod_of_a_team_reads_what_prometheus_reads(flows):
    refused(flows, named(flows, "kube-system/dcgm-exporter"), [Port(9400)])
    refused(flows, named(flows, "kueue-system/"), [Port(8443)])


def test_prometheus_reads_what_it_is_there_for(flows):
    (prometheus,) = named(flows, f"{PODS}prometheus")[:1]
    for place, port in (
        ("kueue-system/kueue-controller-manager", Port(8443)),
        ("kube-system/dcgm-exporter", Port(9400)),
        ("kube-system/coredns", Port(9153)),
        ("mlflow/mlflow", Port(9102)),
        (f"{PODS}kube-state-metrics", METRICS),
        (f"{PODS}alertmanager", ALERTMANAGER),
    ):
        for there in named(flows, place):
            verdict = flows.reaches(prometheus, there, port)
            assert verdict.reach == "all", verdict


def test_prometheus_and_grafana_have_no_way_out(flows):
    """What reads everything must not be able to send it away."""
    outside = flows.places["internet"]
    for pod in (*named(flows, f"{PODS}prometheus"), *named(flows, f"{PODS}grafana")):
        assert not flows.reaches(pod, outside, Port(443))


def test_no_team_publishes_to_the_topics(resources):
    rights = Rights(resources)
    for topic in resources.of(SNS_TOPIC):
        for namespace in _teams(resources):
            assert rights.may(Pod(namespace, TRAINER_SERVICE_ACCOUNT), "sns:Publish", arn_of(topic)).refused


def test_no_member_of_a_team_makes_rules_or_figures(resources):
    rights = Rights(resources)
    for namespace, team in _teams(resources).items():
        person = Person((team_group(team),))
        for kind in RULES:
            for where in (namespace, MONITORING_NAMESPACE):
                asked = f"{kind}.monitoring.coreos.com"
                assert rights.may(person, "create", asked, {"namespace": where}).refused
        for kind in ("secrets", "configmaps", "pods/portforward"):
            verb = "create" if "/" in kind else "get"
            assert rights.may(person, verb, kind, {"namespace": MONITORING_NAMESPACE}).refused


def _teams(resources):
    return {
        str(value_at(space.inputs, "metadata", "name")): str(team)
        for space in resources.of(NAMESPACE)
        if (team := value_at(space.inputs, "metadata", "labels", TEAM_LABEL))
    }
