"""Network policies of other people's programs: silence about what is correct or not known, words about the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import resource
from tests.rehearsal.works.foreign import behind_nat, deployment, with_group_of_nodes
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.types import NAMESPACE, NETWORK_POLICY
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.flows.check import check

DNS = {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}
CNI = '{"enableNetworkPolicy": "true"}'


def findings(resources):
    """What the room says."""
    stack = Stack(resources, ValueContext("1.35", "us-east-1"))
    check(stack)
    return stack.findings


def rules(resources):
    """Its rules alone."""
    return {finding.rule for finding in findings(resources)}


def policy(namespace, name, **spec):
    """A network policy."""
    given = {"podSelector": {}, **spec}
    return resource(
        NETWORK_POLICY, f"{namespace}-{name}", {"metadata": {"name": name, "namespace": namespace}, "spec": given}
    )


def namespace(name, **labels):
    """A namespace."""
    return resource(NAMESPACE, name, {"metadata": {"name": name, "labels": labels}})


def add_on(name, configuration="{}"):
    """An add-on of EKS."""
    given = {"addonName": name, "clusterName": "cluster", "configurationValues": configuration}
    return resource("aws:eks/addon:Addon", name, given)


def service(name, where, port, target):
    """A service of the pods of the same name."""
    return resource(
        "kubernetes:core/v1:Service",
        f"{where}-{name}",
        {
            "metadata": {"name": name, "namespace": where},
            "spec": {"selector": {"app": name}, "ports": [{"port": port, "targetPort": target}]},
        },
    )


def pods(name, where, *, port=None, **env):
    """A deployment with variables, and a port that it listens on."""
    container = {
        "name": name,
        "image": "nginx:1.29",
        "env": [{"name": key, "value": value} for key, value in env.items()],
        **({"ports": [{"containerPort": port}]} if port else {}),
    }
    found = deployment(name, where, "nginx:1.29")
    spec = found.inputs["spec"]
    template = {**spec["template"], "spec": {"containers": [container]}}
    return replace(found, inputs={**found.inputs, "spec": {**spec, "template": template}})


def application(*policies):
    """A client that is told of a server in another namespace, with DNS and the plugin that enforces policies."""
    return [
        *behind_nat(),
        add_on("vpc-cni", CNI),
        add_on("coredns"),
        namespace("front"),
        namespace("back", tier="back"),
        pods("client", "front", SERVER_URL="http://server.back.svc.cluster.local:80/api"),
        pods("server", "back", port=8080),
        service("server", "back", 80, 8080),
        *policies,
    ]


def to_server(port=8080, **selector):
    """The client is let out to the server's namespace."""
    peer = {"namespaceSelector": {"matchLabels": selector or {"tier": "back"}}}
    return policy(
        "front",
        "out",
        policyTypes=["Egress"],
        egress=[{**DNS}, {"to": [peer], "ports": [{"port": port, "protocol": "TCP"}]}],
    )


def from_front(port=8080, **labels):
    """The server lets the client's namespace in."""
    wanted = labels or {"kubernetes.io/metadata.name": "front"}
    rule = {"from": [{"namespaceSelector": {"matchLabels": wanted}}], "ports": [{"port": port, "protocol": "TCP"}]}
    return policy("back", "in", policyTypes=["Ingress"], ingress=[rule])


@pytest.mark.parametrize(
    "policies",
    [
        (),
        (to_server(),),
        (from_front(),),
        (to_server(), from_front()),
        (policy("front", "deny", policyTypes=["Ingress"]),),  # answers need nothing
        (policy("other", "deny", policyTypes=["Ingress", "Egress"]),),
    ],
)
def test_correct_policies_are_not_accused(policies):
    assert findings(application(*policies)) == []


@pytest.mark.parametrize(
    ("policies", "rule"),
    [
        ((to_server(port=80),), "flows-services"),  # the service's port, and not the pods'
        ((from_front(port=80),), "flows-services"),
        ((to_server(tier="backend"),), "flows-services"),
        ((from_front(name="front"),), "flows-services"),  # no namespace has a label `name` by itself
        ((policy("back", "deny", policyTypes=["Ingress"]),), "flows-services"),
        ((policy("front", "deny", policyTypes=["Egress"]),), "flows-names"),
        (
            (policy("front", "out", policyTypes=["Egress"], egress=[{"ports": [{"port": 8080}]}]),),
            "flows-names",
        ),
        ((policy("kube-system", "deny", policyTypes=["Ingress"]),), "flows-names"),
        ((policy("kube-system", "deny", policyTypes=["Egress"]),), "flows-names-outside"),
    ],
)
def test_broken_policies_are_told(policies, rule):
    assert rule in rules(application(*policies))


def test_policies_that_nobody_enforces_shut_nothing():
    shut = application(policy("back", "deny", policyTypes=["Ingress"]))
    assert rules([one for one in shut if one.name != "vpc-cni"]) == set()


def test_policies_of_another_kind_may_let_by():
    more = resource("kubernetes:cilium.io/v2:CiliumNetworkPolicy", "more", {"metadata": {"name": "more"}})
    assert findings(application(policy("back", "deny", policyTypes=["Ingress"]), more)) == []


def test_a_namespace_of_somebody_else_may_have_the_label():
    """Of `kube-system` and other namespaces that the stack does not make, labels are not known."""
    dns = {"to": [{"namespaceSelector": {"matchLabels": {"name": "kube-system"}}}], **DNS}
    rest = {"ports": [{"port": 8080, "protocol": "TCP"}]}
    assert findings(application(policy("front", "out", policyTypes=["Egress"], egress=[dns, rest]))) == []


def test_urls_that_a_pod_does_not_open_are_no_needs():
    stack = [one for one in application(policy("back", "deny", policyTypes=["Ingress"])) if one.name != "front-client"]
    texts = {"CORS_ALLOWED_ORIGINS": "http://server.back:80", "NO_PROXY": "http://server.back:80"}
    assert findings([*stack, pods("client", "front", **texts)]) == []
    assert rules([*stack, pods("client", "front", TARGET="http://server.back:80")]) == {"flows-services"}
    assert rules([*stack, pods("client", "front", TARGET="tcp://server.back:8080")]) == set()  # no port of the service
    assert rules([*stack, pods("client", "back", TARGET="http://server:80")]) == {"flows-services"}


@pytest.mark.parametrize("key", ["spec", "metadata"])
def test_a_policy_that_is_not_known_shuts_nothing(key):
    shut = policy("back", "deny", policyTypes=["Ingress"])
    assert findings(application(replace(shut, inputs={**shut.inputs, key: UNKNOWN}))) == []


def test_a_cluster_has_a_name_server_without_an_add_on():
    shut = application(policy("front", "deny", policyTypes=["Egress"]))
    assert "flows-names" in rules([one for one in shut if one.name != "coredns"])


def test_pods_of_a_queue_without_a_team_talk_to_each_other():
    queue = resource(
        "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue", "queue", {"metadata": {"name": "queue", "namespace": "front"}}
    )
    assert findings(application(queue)) == []
    assert rules(application(queue, policy("front", "deny", policyTypes=["Ingress"]))) == {"flows-ranks"}
    among = policy("front", "among", policyTypes=["Ingress"], ingress=[{"from": [{"podSelector": {}}]}])
    assert findings(application(queue, among)) == []


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, set()),  # each pod takes its part, by index
        ({"subdomain": "train"}, {"flows-ranks"}),
        ({"args": ["torchrun", "--nnodes=4", "train.py"]}, {"flows-ranks"}),
        ({"env": [{"name": "MASTER_ADDR", "value": "train-0"}]}, {"flows-ranks"}),
        ({"resources": {"limits": {"nvidia.com/gpu": "8"}}}, {"flows-ranks"}),
    ],
)
def test_pods_of_one_job_that_never_meet_are_no_ranks(spec, found):
    container = {"name": "work", "image": "acme/work:1", **{k: v for k, v in spec.items() if k != "subdomain"}}
    pod = {"restartPolicy": "Never", "containers": [container], **{k: v for k, v in spec.items() if k == "subdomain"}}
    job = resource(
        "kubernetes:batch/v1:Job",
        "work",
        {
            "metadata": {"name": "work", "namespace": "front"},
            "spec": {"parallelism": 4, "completions": 4, "completionMode": "Indexed", "template": {"spec": pod}},
        },
    )
    assert rules(application(job, policy("front", "deny", policyTypes=["Ingress"]))) == found


def test_a_rule_for_a_port_of_a_service_is_told_on_either_side():
    quiet = [one for one in application() if one.name != "front-client"]
    client = pods("client", "front")
    assert rules([*quiet, client, to_server(port=80), from_front()]) == {"flows-let-out"}
    assert rules([*quiet, client, to_server(), from_front(port=80)]) == {"flows-let-out"}
    assert findings([*quiet, client, to_server(), from_front()]) == []


def test_the_api_calls_the_pods_behind_a_webhook():
    hook = resource(
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration",
        "hook",
        {
            "metadata": {"name": "hook"},
            "webhooks": [{"clientConfig": {"service": {"name": "server", "namespace": "back", "port": 80}}}],
        },
    )
    stack = [one for one in application(hook) if one.name != "front-client"]
    assert findings(stack) == []
    assert findings([*stack, from_plane("10.4.0.0/16")]) == []
    assert rules([*stack, from_front()]) == {"flows-webhooks"}
    assert [finding.level for finding in findings([*stack, from_plane("10.4.0.0/24")])] == ["warning"]


def from_plane(block):
    """The server lets a network in."""
    rule = {"from": [{"ipBlock": {"cidr": block}}], "ports": [{"port": 8080, "protocol": "TCP"}]}
    return policy("back", "plane", policyTypes=["Ingress"], ingress=[rule])


def test_nodes_with_a_group_of_their_own_need_each_other():
    stack = with_group_of_nodes()
    among = next(one for one in stack if one.name == "node")
    alone = replace(among, inputs={**among.inputs, "ingress": among.inputs["ingress"][1:]})
    assert "flows-nodes-to-names" in rules([alone if one is among else one for one in stack])
