"""What other people's clusters rightly hold and a rule once refused, and beside each what that rule is there for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check


def rules(*resources: RecordedResource) -> set[str]:
    """The rules of what is told of objects in a cluster that the stack makes."""
    stack = Stack([resource("aws:eks/cluster:Cluster", "cluster", {"name": "c"}), *resources], CONTEXT)
    check(stack)
    return {one.rule for one in stack.findings}


def pod(image: str, name: str = "own", volumes: list[dict[str, Any]] | None = None, **body: Any) -> RecordedResource:
    container = {"name": name, "image": image, **body}
    return obj("v1", "Pod", name, "tools", spec={"containers": [container], "volumes": volumes or []})


def proxied(config: str, image: str = "nginx:1.29") -> list[RecordedResource]:
    """nginx, and the template that it makes its configuration of."""
    volumes = [{"name": "config", "configMap": {"name": "proxy"}}]
    mounts = [{"name": "config", "mountPath": "/etc/nginx/templates"}]
    return [
        obj("v1", "ConfigMap", "proxy", "tools", data={"default.conf.template": config}),
        pod(image, volumes=volumes, volumeMounts=mounts),
    ]


LUA = "content_by_lua_block { if ngx.var.arg_a then ngx.say('a;') end }"


@pytest.mark.parametrize(
    ("within", "told"),
    [
        ("location / { proxy_pass http://${BACKEND_HOST}:${PORT}; }", False),
        ("location / { proxy_pass http://${BACKEND_HOST}:${PORT} }", True),
        (f"location / {{ {LUA} }}", False),
        ("location / { return 200 }", True),
    ],
)
def test_a_variable_within_an_address_ends_no_directive_and_lua_is_not_read(within, told):
    found = rules(*proxied(f"server {{ listen 80; {within} }}", "openresty/openresty:1.27"))
    assert ("programs-nginx" in found) == told


def logged(inputs: str) -> list[RecordedResource]:
    """Fluent Bit with AWS's file of inputs, which its main file includes."""
    volumes = [{"name": "config", "configMap": {"name": "logs"}}]
    return [
        obj("v1", "ConfigMap", "logs", "tools", data={"application-log.conf": inputs}),
        pod("fluent/fluent-bit:4", volumes=volumes, volumeMounts=[{"name": "config", "mountPath": "/fluent-bit/etc"}]),
    ]


ON_DISK = "[INPUT]\n    Name tail\n    storage.type filesystem\n[OUTPUT]\n    Name cloudwatch_logs\n    Match *\n"


@pytest.mark.parametrize(("service", "told"), [("", False), ("[SERVICE]\n    Flush 5\n", True)])
def test_a_file_of_inputs_that_another_includes_has_no_folder_of_its_own(service, told):
    assert ("programs-node-logs" in rules(*logged(service + ON_DISK))) == told


@pytest.mark.parametrize(("option", "told"), [("K8S-Logging.Parser", False), ("K8S-Logging.Pasrer", True)])
def test_an_option_of_fluent_bit_may_have_a_dash(option, told):
    text = f"[FILTER]\n    Name kubernetes\n    Match *\n    {option} On\n[OUTPUT]\n    Name stdout\n    Match *\n"
    assert ("programs-fluent-bit" in rules(*logged(text))) == told


def beside(image: str, *command: str) -> list[RecordedResource]:
    """A job whose training has a container beside it."""
    work = {"name": "train", "image": "train:1", "command": ["python", "train.py", "--steps", "5"]}
    other = {"name": "other", "image": image, **({"command": list(command)} if command else {})}
    template = {"spec": {"restartPolicy": "Never", "containers": [work, other]}}
    return [obj("batch/v1", "Job", "train", "tools", spec={"template": template})]


@pytest.mark.parametrize(
    ("image", "command", "told"),
    [
        ("train:1", ["python", "train.py", "--report_to", "tensorboard"], False),
        ("train:1", ["tensorboard", "--logdir", "/runs"], True),
        ("train:1", ["sh", "-c", "tensorboard --logdir /runs"], True),
        ("train:1", ["python", "-m", "tensorboard.main", "--logdir", "/runs"], True),
        ("train:1", ["sh", "-c", "tail -F /log 2>&1 & exec python train.py"], False),
        ("train:1", ["sh", "-c", "tail -F /log 2>&1"], True),
        ("train:1", ["sh", "-c", "tail -F /log & python train.py; wait"], True),
        ("train:1", ["sh", "-c", "while true; do sync; sleep 9; done & exec python train.py"], False),
        ("train:1", ["sh", "-c", "while true; do sync && sleep 9; done"], True),
        ("redis:8", ["redis-cli", "-h", "cache", "ping"], False),
        ("redis:8", ["redis-server"], True),
        ("redis:8", [], True),
    ],
)
def test_what_ends_with_the_work_is_no_companion_for_ever(image, command, told):
    assert ("programs-companion" in rules(*beside(image, *command))) == told


def policy(*validations: str, variables: dict[str, str] | None = None, **constraints: Any) -> list[RecordedResource]:
    """An admission policy on pods that are made or changed, and its binding."""
    api = "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}
    return [
        obj(api, "ValidatingAdmissionPolicy", "own", spec={
            "failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule], **constraints},
            "variables": [{"name": name, "expression": text} for name, text in (variables or {}).items()],
            "validations": [{"expression": text} for text in validations]}),
        obj(api, "ValidatingAdmissionPolicyBinding", "own", spec={"policyName": "own", "validationActions": ["Deny"]}),
    ]  # fmt: skip


OLD = {"old": "oldObject.spec.nodeName"}
BLUE = "object.metadata.labels['tier'] != 'blue'"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (policy("request.operation == 'CREATE' || variables.old == object.spec.nodeName", variables=OLD), False),
        (policy("oldObject.spec.nodeName == object.spec.nodeName"), True),
        (policy(BLUE, objectSelector={"matchLabels": {"tier": "red"}}), False),
        (policy(BLUE, objectSelector={"matchExpressions": [{"key": "tier", "operator": "Exists"}]}), False),
        (policy(BLUE, objectSelector={"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}), True),
        (policy(BLUE, objectSelector={"matchLabels": {"team": "red"}}), True),
        (policy(BLUE), True),
    ],
)  # fmt: skip
def test_a_policy_reads_what_is_there_once_it_is_read(found, told):
    assert ("programs-policy" in rules(*found)) == told


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("htpasswd", "ops:$apr1$x$y\n", False),
        ("users.htpasswd", "ops:$apr1$x$y\n", False),
        (".pgpass", "db:5432:mlflow:mlflow:secret\n", False),
        ("passwd", "trainer:x:1000:1000::/home/trainer:/bin/sh\n", False),
        ("passwd", "secret\n", True),
        ("password", "secret\n", True),
    ],
)
def test_a_file_of_passwords_ends_as_its_lines_do(key, value, told):
    assert ("programs-encoded" in rules(obj("v1", "Secret", "own", "tools", stringData={key: value}))) == told


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (["/var/log", "/var/lib/docker/containers"], False),
        (["/sys", "/dev/disk", "/var/lib/docker/"], False),
        (["/var/lib/docker/containers"], True),
        (["/var/log", "/var/run/docker.sock"], True),
    ],
)
def test_a_folder_of_docker_beside_those_that_nodes_have_does_no_harm(paths, told):
    volumes = [{"name": f"v{at}", "hostPath": {"path": path}} for at, path in enumerate(paths)]
    assert ("programs-gone" in rules(pod("agent:1", volumes=volumes))) == told


@pytest.mark.parametrize(("value", "told"), [("true", False), ("false", False), ("no", True)])
def test_a_pod_that_may_be_disrupted_may_say_so(value, told):
    annotations = {"karpenter.sh/do-not-disrupt": value}
    spec = {"containers": [{"name": "own", "image": "own:1"}]}
    found = rules(obj("v1", "Pod", "own", "tools", metadata={"annotations": annotations}, spec=spec))
    assert ("programs-annotation" in found) == told


MONITOR = {"name": "own", "selector": {"matchLabels": {"app": "own"}}, "podMetricsEndpoints": [{"port": "metrics"}]}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"additionalPodMonitors": [MONITOR]}, False),
        ({"additionalServiceMonitors": [MONITOR]}, False),
        ({"additionalPodMonitors": []}, True),
        ({}, True),
    ],
)
def test_monitors_that_the_chart_makes_are_monitors(values, told):
    chart = {"chart": "kube-prometheus-stack", "name": "watch", "values": {"prometheus": values}}
    spec = {"containers": [{"name": "own", "image": "own:1"}]}
    marked = {"annotations": {"prometheus.io/scrape": "true"}, "labels": {"app": "own"}}
    found = rules(
        resource("kubernetes:helm.sh/v3:Release", "watch", chart),
        obj("v1", "Pod", "own", "tools", metadata=marked, spec=spec),
    )
    assert ("programs-unscraped" in found) == told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["envsubst", "$HOST"], False),
        (["su", "-c", "exec serve $HOST", "trainer"], False),
        (["/usr/bin/perl", "-e", "print $HOST"], False),
        (["tini", "--", "envsubst", "$HOST"], False),
        (["envsubst", "$(HOSTS)"], True),
        (["serve", "$HOST"], True),
    ],
)
def test_a_program_that_reads_variables_itself_may_be_given_them(command, told):
    found = rules(pod("own:1", command=command, env=[{"name": "HOST", "value": "a"}]))
    assert ("programs-command" in found) == told


@pytest.mark.parametrize(("url", "told"), [("http://[::1/grafana", False), ("http://[::1]/grafana", True)])
def test_an_address_that_is_none_ends_no_rehearsal(url, told):
    values = {"grafana.ini": {"server": {"root_url": url}}}
    chart = {"chart": "grafana", "name": "grafana", "values": values}
    assert ("programs-web-path" in rules(resource("kubernetes:helm.sh/v3:Release", "grafana", chart))) == told
