"""The sets of mistakes within the cluster: what tells each, and what is right beside every rule that came of them.

| set | mistakes | told at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| first | 75 | 49 (65 %) | 75 | nothing |
| second | 55 | 29 (53 %) | 54 | `preempting`: no promise of the stack is broken |
| third | 41 | 18 (44 %) | 37 | `metrics-room`, `database-user`, `own-images`, `efa-region`: each says why |
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rehearsal.works import mistakes_gcp_forty as gcp_forty
from tests.rehearsal.works import mistakes_k8s_first as first
from tests.rehearsal.works import mistakes_k8s_second as second
from tests.rehearsal.works import mistakes_k8s_third as third
from tests.rehearsal.works.mistakes import DROP, added, both, edit, put, tells, told
from tests.rehearsal.works.mistakes_breadth import installed
from tests.rehearsal.works.mistakes_k8s_first import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    LIMITS,
    NOTEBOOKS,
    POD,
    PROVISIONING,
    QUEUES,
    RELEASE,
    RUNTIME,
    SERVER,
    STACK,
    TRAIN,
    env,
    runtime,
    said,
    values,
)
from tests.rehearsal.works.together import told_together
from tests.shared import ROOT
from tests.stacks.test_notebooks import GITHUB, POOLS, _pools
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.programs.kubernetes import usage
from trainyard.review.policy_check.check import check_policies

OWN = {
    "notebooks": {"hub": True, "gpus": {"tune": 4}, "signOn": GITHUB},
    "gpuPools": {**_pools(), **POOLS},
    "offPeak": {"from": "20:00", "to": "07:00", "timeZone": "Europe/Berlin", "developmentSleeps": True},
}


def with_notebooks() -> Rehearsal:
    """The demo stack with a hub of notebooks, and hours that teams' work waits for."""
    return rehearse(ROOT, "demo", config_overrides=OWN)


@pytest.fixture
def of(rehearsed, shared_things):
    """A stack by its name, or that with notebooks."""
    return lambda name: shared_things.kept(NOTEBOOKS, with_notebooks) if name == NOTEBOOKS else rehearsed(name)


EVERY = [
    pytest.param(one, id=f"{which}-{one.name}")
    for which, found in (("first", first.MISTAKES), ("second", second.MISTAKES), ("third", third.MISTAKES))
    for one in found
    if one.rule is not None
]


@pytest.mark.parametrize("mistake", EVERY)
def test_a_mistake_is_told(of, mistake):
    stack = of(mistake.stack)
    kind, _, name = mistake.rule.rpartition(":")
    if kind == "policy":
        changed = mistake.change(list(stack.known.resources))
        rules = [policy for policy in POLICIES if policy.name == name]
        found = {one.policy for one in check_policies("s", [], changed, stack.settings, policies=rules).violations}
    else:
        found = tells(stack, mistake.change, name, ours=True)
    assert name in found, found


def test_what_is_left_is_few_and_says_why():
    left = [one for one in (*first.MISTAKES, *second.MISTAKES, *third.MISTAKES) if one.rule is None]
    assert len(left) <= 5
    assert all(one.why for one in left)


def program(text: str, *words: str, mount: str = "/app", key: str = "run.py", **more: Any) -> Any:
    """Adds a Deployment that runs a program of a config map."""
    body: dict[str, Any] = {
        "name": "app", "image": "python:3.13", "command": list(words), **more,
        "volumeMounts": [{"name": "programs", "mountPath": mount}, *more.get("volumeMounts", ())],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }  # fmt: skip
    volumes = [{"name": "programs", "configMap": {"name": "app"}}, {"name": "state", "emptyDir": {}}]
    labels = {"app": "app"}
    context = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"containers": [body], "volumes": volumes, "securityContext": context}
    pod = {"metadata": {"labels": labels}, "spec": spec}
    return both(
        added("core/v1:ConfigMap", "app", {"data": {key: text}}, "mlflow"),
        added("apps/v1:Deployment", "app",
              {"spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}}, "mlflow"),
    )  # fmt: skip


USAGE = '"""Serves.\n\n    run.py serve PORT FOLDER [NAME] [--every SECONDS]\n    run.py check FOLDER\n"""\n'
JSON = (
    '"""Keeps.\n\n    python -m app.run CONFIGURATION\n\nCONFIGURATION is JSON: {"teams": {NAME: {"cap": N}}}.\n"""\n'
)
PLAIN = "print('no word of itself')\n"
PORT = [{"containerPort": 8000}]
STATE = {"name": "state", "mountPath": "/var/lib/app"}
PYTHONPATH = [{"name": "PYTHONPATH", "value": "/app"}]
ALERT = {"expr": "sum by (team) (up) > 0", "labels": {"severity": "warning"}, "alert": "A"}


def ruled(*rules: Any, **group: Any) -> Any:
    """Adds a PrometheusRule."""
    body = {"spec": {"groups": [{"name": "g", **group, "rules": list(rules)}]}}
    return added("monitoring.coreos.com/v1:PrometheusRule", "own", body, "monitoring")


def renamed_user() -> Any:
    """Calls the user of the tracking server's database otherwise."""
    return gcp_forty.SILENT["a user that nobody logs in as"][0]


def login(name: str, word: str) -> Any:
    """Adds a Secret with a login of the tracking server."""
    data = {"MLFLOW_TRACKING_USERNAME": name, "MLFLOW_TRACKING_PASSWORD": word}
    return added("core/v1:Secret", "own-login", {"stringData": data}, "team-vision")


PARSED = """import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--verbose", "-v")
parser.add_argument("--younger-than-hours")
PEOPLE = os.environ["PEOPLE"]
"""
KEPT = '"""Keeps.\n\n    run.py keep FILE [--interval SECONDS]\n    run.py alive FILE SECONDS\n"""\n'
MAIN = ("python3", "/app/run.py", "keep", "/var/lib/app/x", "--interval=60")


def asked(seconds: str, probe: str = "livenessProbe") -> dict[str, Any]:
    """A probe that asks the program whether its last round is recent."""
    return {probe: {"exec": {"command": ["python3", "/app/run.py", "alive", "/var/lib/app/x", seconds]}}}


SOUND = {
    "the beginning of an option, which argparse takes": (
        "demo",
        "programs",
        program(PARSED, "python3", "/app/run.py", "--younger=3", "--verb", "1"),
    ),
    "JSON whose keys are people": (
        "demo",
        "programs",
        program(PARSED, "python3", "/app/run.py", env=[{"name": "PEOPLE", "value": '{"verbosa": 1, "parse": 2}'}]),
    ),
    "a probe that waits longer than a round takes": (
        "demo",
        "programs",
        program(KEPT, *MAIN, volumeMounts=[STATE], **asked("90")),
    ),
    "a probe of the start": (
        "demo",
        "programs",
        program(KEPT, *MAIN, volumeMounts=[STATE], **asked("30", "startupProbe")),
    ),
    "a folder that all teams share": (
        "demo",
        "references",
        edit(CONFIG_MAP, "teams-vision-storage", put("data.SHARED_URI", "s3://acme-demo-data-f6c28dc/teams/shared")),
    ),
    "an autoscaler by Cluster API": ("demo", "charts", values("autoscaler-release", "cloudProvider", "clusterapi")),
    "rights over everything": (
        "demo",
        "references",
        values(STACK, "kube-state-metrics.rbac.extraRules", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
    ),
    "a field that a version may have brought": (
        "demo",
        "references",
        values(STACK, f"{third.STATE}.metrics[0].each.gauge.path", ["status", "somethingNew"]),
    ),
    "spot nodes before those on demand, of a pool without reserved ones": (
        "demo",
        "queues",
        edit(
            third.CLUSTER_QUEUE,
            "kueue-cluster-queue-vision",
            lambda i: i["spec"]["resourceGroups"][0]["flavors"].sort(key=lambda f: "reserved" not in f["name"]),
        ),
    ),
    "a program that is told all that it may": (
        "demo",
        "programs",
        program(USAGE, "python3", "/app/run.py", "serve", "8000", "/data", "x", "--every", "5", ports=PORT),
    ),
    "an option with its value, and nothing that may be left out": (
        "demo",
        "programs",
        program(USAGE, "python3", "-u", "/app/run.py", "serve", "8000", "/data", "--every=5", ports=PORT),
    ),
    "the other way of a program": ("demo", "programs", program(USAGE, "python3", "/app/run.py", "check", "/data")),
    "a program that says nothing of itself": (
        "demo",
        "programs",
        program(PLAIN, "python3", "/app/run.py", "--any", "9000", "{}", ports=PORT),
    ),
    "a port of a program without ports declared": (
        "demo",
        "programs",
        program(USAGE, "python3", "/app/run.py", "serve", "9000", "/data"),
    ),
    "JSON with inner keys": (
        "demo",
        "programs",
        program(
            JSON,
            "python3",
            "-m",
            "app.run",
            json.dumps({"teams": {"a": {"cap": 3, "more": 1}}}),
            mount="/programs/app",
            env=[{"name": "PYTHONPATH", "value": "/programs"}],
        ),
    ),
    "a module of the image beside programs of one's own": (
        "demo",
        "programs",
        program(PLAIN, "python3", "-m", "torch.distributed.run", "x.py", env=PYTHONPATH),
    ),
    "a package of the image, extended": (
        "demo",
        "programs",
        program(PLAIN, "python3", "-m", "mlflow.server", mount="/app/plugins", env=PYTHONPATH),
    ),
    "a folder of the image beside a mount that is used": (
        "demo",
        "references",
        program(PLAIN, "python3", "/app/run.py", "--to=/var/lib/app/x", "--from=/var/lib/base", volumeMounts=[STATE]),
    ),
    "a program of the image beside a configuration that it finds itself": (
        "demo",
        "references",
        program(PLAIN, "/opt/app/server", "--state=/var/lib/app/x", mount="/opt/app/config", volumeMounts=[STATE]),
    ),
    "a configuration of the image beside a mount": (
        "demo",
        "references",
        program(
            PLAIN,
            "nginx",
            "-c",
            "/etc/nginx/nginx.conf",
            volumeMounts=[{"name": "state", "mountPath": "/etc/nginx/conf.d"}],
        ),
    ),
    "a probe that looks at another file of the program's folder": (
        "demo",
        "programs",
        program(
            PLAIN,
            "python3",
            "/app/run.py",
            "--state",
            "/var/lib/app",
            volumeMounts=[STATE],
            livenessProbe={"exec": {"command": ["python3", "/app/run.py", "ask", "/var/lib/app/alive"]}},
        ),
    ),
    "a login of a person": ("demo", "programs", login("vision+ada", "her-own")),
    "a login of a person, in base64": (
        "demo",
        "programs",
        added(
            "core/v1:Secret",
            "own-login",
            {"data": {"MLFLOW_TRACKING_USERNAME": "dmlzaW9uK2FkYQ==", "MLFLOW_TRACKING_PASSWORD": "aGVyLW93bg=="}},
            "team-vision",
        ),
    ),
    "a password of somebody else's server": (
        "demo",
        "programs",
        added("core/v1:Secret", "own", {"stringData": {"MLFLOW_TRACKING_USERNAME": "x"}}, "mlflow"),
    ),
    "shared memory of the node": (
        "demo",
        "programs",
        edit(RUNTIME, TRAIN, runtime(lambda s: (first.no_shared_memory(s), s.update(hostIPC=True)))),
    ),
    "one GPU without a volume of shared memory": (
        "demo",
        "programs",
        edit(
            RUNTIME,
            TRAIN,
            runtime(first.no_shared_memory),
            runtime(lambda s: s["containers"][0]["resources"]["limits"].update({"nvidia.com/gpu": "1"})),
        ),
    ),
    "EFA's own provider, and one that falls back": (
        "demo",
        "programs",
        edit(RUNTIME, TRAIN, runtime(lambda s: env("FI_PROVIDER", "efa;ofi_rxm")(s["containers"][0]))),
    ),
    "everything asked directly": (
        "demo",
        "programs",
        edit(CONFIG_MAP, "egress-clients-vision", put("data.NO_PROXY", "*"), put("data.no_proxy", "*")),
    ),
    "a proxy outside of the cluster": (
        "demo",
        "programs",
        added("core/v1:ConfigMap", "out", {"data": {"HTTPS_PROXY": "http://proxy.acme.example:3128"}}, "team-vision"),
    ),
    "a namespace that the chart makes": (
        "demo",
        "references",
        both(
            values("drivers-s3", "mountpointPod.createNamespace", True),
            values("drivers-s3", "mountpointPod.namespace", "s3-mounts"),
        ),
    ),
    "a small request that somebody means": (
        "demo",
        "references",
        edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].defaultRequest.cpu", "10m")),
    ),
    "nodes for GPUs and TPUs, of which one kind is counted": (
        "large-gcp",
        "queues",
        edit(
            PROVISIONING,
            "kueue-provisioning-train-flex-start",
            put("spec.managedResources", ["nvidia.com/gpu", "acme.example/tpu"]),
        ),
    ),
    "a user that a program makes": (
        gcp_forty.STACK,
        "programs",
        both(
            renamed_user(),
            added("core/v1:ConfigMap", "own", {"data": {"make.sql": "CREATE USER mlflow WITH LOGIN;"}}, "mlflow"),
        ),
    ),
    "nodes for ten minutes": (
        "large-gcp",
        "queues",
        edit(PROVISIONING, "kueue-provisioning-train-flex-start", put("spec.parameters.maxRunDurationSeconds", "600")),
    ),
    "nodes for as long as the class has them": (
        "large-gcp",
        "queues",
        edit(PROVISIONING, "kueue-provisioning-train-flex-start", put("spec.parameters.maxRunDurationSeconds", DROP)),
    ),
    "a hub below a path, an hour and a half": (
        NOTEBOOKS,
        "references",
        both(
            values("notebooks-release", "cull.timeout", 5400),
            values(
                "notebooks-release",
                "hub.config.GitHubOAuthenticator.oauth_callback_url",
                "https://ml.acme.example/jupyter/hub/oauth_callback",
            ),
        ),
    ),
    "a hub that ends nobody": (NOTEBOOKS, "references", values("notebooks-release", "cull.enabled", False)),
    "a setting of the authenticator that no list has": (
        NOTEBOOKS,
        "references",
        values("notebooks-release", "hub.config.GitHubOAuthenticator.enterprise_slug", "acme"),
    ),
    "memory with a fraction": (
        NOTEBOOKS,
        "references",
        values("notebooks-release", "singleuser.profileList[0].kubespawner_override.mem_limit", "8.5G"),
    ),
    "another extension of the image": (
        NOTEBOOKS,
        "references",
        edit(
            RELEASE,
            "notebooks-release",
            lambda i: i["values"]["singleuser"]["extraFiles"]["server"].update(
                stringData=json.dumps(
                    {"ServerApp": {"jpserver_extensions": {"ends_when_idle": True, "nbgitpuller": True}}}
                )
            ),
        ),
    ),
    "a label that is dropped on the way to another figure": (
        "demo",
        "programs",
        ruled(
            {"record": "own:a", "expr": "sum by (team) (max by (team, pod) (up)) / 60"},
            {"record": "own:b", "expr": "max by (team) (own:a)"},
        ),
    ),
    "a label that an expression may have": (
        "demo",
        "programs",
        ruled(
            {
                **ALERT,
                "expr": "up * on (pod) group_left (rack) own_rack > 0",
                "annotations": {"s": "{{ $labels.rack }}"},
            }
        ),
    ),
    "a value that is shown": (
        "demo",
        "programs",
        ruled({**ALERT, "annotations": {"s": "{{ $labels.team }} {{ $value }}"}}),
    ),
    "figures of a range that are recorded more often": (
        "demo",
        "programs",
        ruled(
            {"record": "code:apiserver_request_total:increase1h", "expr": "sum(increase(apiserver_request_total[1h]))"},
            interval="3m",
        ),
    ),
    "constants of namespaces that the stack does not make": (
        "demo",
        "programs",
        ruled(
            {"record": "own_kept", "expr": "vector(90)", "labels": {"namespace": "kube-system"}},
            {"record": "own_spared", "expr": "vector(9)", "labels": {"namespace": "default"}},
        ),
    ),
    "a legend by what a variable of the board says": (
        "demo",
        "programs",
        added(
            "core/v1:ConfigMap",
            "own",
            {
                "data": {
                    "own.json": json.dumps(
                        {
                            "templating": {"list": [{"name": "by"}]},
                            "panels": [{"targets": [{"expr": "sum by ($by) (up)", "legendFormat": "{{pod}}"}]}],
                        }
                    )
                }
            },
            "monitoring",
        ),
    ),
    "a constant of something else": (
        "demo",
        "programs",
        ruled({"record": "own_price", "expr": "vector(3)", "labels": {"storageclass": "gp2"}}),
    ),
    "a sum as often as it says": (
        "demo",
        "programs",
        ruled(
            {"record": "own:usd", "expr": "vector(1)"},
            {"record": "own:spent", "expr": "sum_over_time(own:usd[1d]) * 10 / 60"},
            interval="10m",
        ),
    ),
    "an alert of objects that may be there": (
        "demo",
        "programs",
        ruled({**ALERT, "expr": 'kube_deployment_spec_replicas{deployment=~"budget-keeper|later-keeper"} == 0'}),
    ),
    "alerts that are told again before they are forgotten": (
        "demo",
        "references",
        both(
            values(STACK, "alertmanager.alertmanagerSpec.retention", DROP),
            values(STACK, "alertmanager.config.route.routes[3].repeat_interval", "5d"),
        ),
    ),
    "a slice of a GPU": (
        "demo",
        "programs",
        edit(JOB, "smoke-train-reserved-job", said("spec", '"expect_memory_gib": 40.0', '"expect_memory_gib": 5.0')),
    ),
    "a machine that no catalogue has": (
        "demo",
        "programs",
        edit(JOB, "smoke-train-reserved-job", said("spec", '"instance": "p4d.24xlarge"', '"instance": "p9.48xlarge"')),
    ),
    "a proxy for other ports as well": (
        "demo",
        "programs",
        edit(CONFIG_MAP, "egress-configuration", said("data", "acl secure port 443", "acl secure port 443 1025-65535")),
    ),
    "a list of ports over several lines": (
        "demo",
        "programs",
        edit(
            CONFIG_MAP,
            "egress-configuration",
            said("data", "acl secure port 443\n", "acl secure port 443\nacl secure port 70\nacl secure port 777\n"),
        ),
    ),
    "a proxy that refuses a port": (
        "demo",
        "programs",
        edit(
            CONFIG_MAP,
            "egress-configuration",
            said(
                "data",
                "http_access deny !tunnel\n",
                "acl mail port 25\nhttp_access deny mail\nhttp_access deny !tunnel\n",
            ),
        ),
    ),
    "a folder of logs with a slash at its end": (
        "demo",
        "programs",
        edit("kubernetes:apps/v1:DaemonSet", "team-logs", put(f"{POD}.volumes[1].hostPath.path", "/var/log/")),
    ),
    "spread against pods that are there": (
        "demo",
        "references",
        both(
            program(PLAIN, "python3", "/app/run.py"),
            edit(
                DEPLOYMENT, SERVER, put(f"{POD}.topologySpreadConstraints[1].labelSelector.matchLabels", {"app": "app"})
            ),
        ),
    ),
    "Kueue by its chart's own configuration": (
        "demo",
        "programs",
        edit(RELEASE, QUEUES, lambda i: i["values"].pop("managerConfig")),
    ),
    "the GPU operator without a driver": (
        "demo",
        "charts",
        installed(
            "gpu-operator",
            "gpu-operator",
            driver={"enabled": False},
            toolkit={"enabled": False},
            devicePlugin={"enabled": False},
            dcgmExporter={"enabled": False},
        ),
    ),
    "a balancer's controller on the nodes' own network": (
        "demo",
        "charts",
        installed("balancers", "aws-load-balancer-controller", clusterName="acme-demo", hostNetwork=True),
    ),
}
USAGE_BY_EXAMPLE = '"""Serves.\n\n    run.py --model llama --port 8000\n"""\n'
USAGE_OF_OPTIONS = '"""Serves.\n\n    run.py --port PORT FOLDER\n"""\n'
SWITCH = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--compile", action=argparse.BooleanOptionalAction)
"""
DEEPSPEED = """import argparse, deepspeed
parser = argparse.ArgumentParser()
parser.add_argument("--epochs")
parser = deepspeed.add_config_arguments(parser)
"""
OWN_PROGRAMS = {
    "the example of a docstring": program(USAGE_BY_EXAMPLE, "python3", "/app/run.py", "--port", "8000", "--seed", "1"),
    "an option that has to be given, with its value": program(
        USAGE_OF_OPTIONS, "python3", "/app/run.py", "--port", "8000", "/data"
    ),
    "the other way of a switch": program(SWITCH, "python3", "/app/run.py", "--no-compile"),
    "options that DeepSpeed adds": program(DEEPSPEED, "python3", "/app/run.py", "--deepspeed", "--epochs=3"),
    "one file in a package of the image": program(
        "a: 1\n",
        "python3",
        "-m",
        "app.serve",
        key="settings.yaml",
        mount="/etc/app",
        volumeMounts=[{"name": "programs", "mountPath": "/opt/app/settings.yaml", "subPath": "settings.yaml"}],
        env=[{"name": "PYTHONPATH", "value": "/opt"}],
    ),
}
"""Right in a program of our own too."""
MEANT = {
    "an option that a docstring does not have": program(
        USAGE, "python3", "/app/run.py", "check", "/data", "--often=3", "more"
    ),
    "a route of somebody else's alerts": values(
        STACK, "alertmanager.config.route.routes[2].matchers", ['severity="page"']
    ),
    "a label of somebody else's": values(STACK, "prometheus.prometheusSpec.externalLabels", {"cluster_name": "x"}),
    "profiling that the nodes' driver lets everybody do": values(
        "gpu-dcgm-exporter", "securityContext.capabilities.add", []
    ),
    "a claim that people make": next(one for one in second.MISTAKES if one.name == "data-claim").change,
    "a thousandth of a core": edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].defaultRequest.cpu", "1m")),
}
"""Right in a program that is not ours, whose people bring the other half."""
DRIVER = ("gpu-operator", "gpu-operator", {"devicePlugin": {"enabled": False}, "dcgmExporter": {"enabled": False}})
FOREIGN_VPC = {"clusterName": "acme-demo", "region": "us-east-1", "vpcId": "vpc-00000000000000000"}
CHARTS = {
    "a probe that wants more than a round is": (
        program(KEPT, *MAIN, volumeMounts=[STATE], **asked("45")),
        "programs-probe-file",
    ),
    "an option that argparse does not take": (
        program(PARSED, "python3", "/app/run.py", "--older-than=3"),
        "programs-usage",
    ),
    "an alert log that is told its time in words": (
        program(KEPT, *MAIN[:-1], "--interval", "1m", volumeMounts=[STATE]),
        "programs-usage",
    ),
    "a driver on images that have one": (installed(DRIVER[0], DRIVER[1], **DRIVER[2]), "charts-driver"),
    "a network of somebody else": (installed("b", "aws-load-balancer-controller", **FOREIGN_VPC), "charts-network"),
    "no network, and no metadata": (
        installed("b", "aws-load-balancer-controller", clusterName="acme-demo"),
        "charts-network",
    ),
    "a program that lacks a word": (program(USAGE, "python3", "/app/run.py", "serve", "8000"), "programs-usage"),
    "an option that it has not": (
        program(USAGE, "python3", "/app/run.py", "check", "/data", "--often=3"),
        "programs-usage",
    ),
    "a way that it has not": (program(USAGE, "python3", "/app/run.py", "look", "/data"), "programs-usage"),
    "JSON without what it reads": (
        program(
            JSON,
            "python3",
            "-m",
            "app.run",
            '{"team": {}}',
            mount="/programs/app",
            env=[{"name": "PYTHONPATH", "value": "/programs"}],
        ),
        "programs-usage",
    ),
    "a login with another's password": (login("vision", "guessed"), "programs-login"),
    "a window of one sample more than none": (
        edit(
            DEPLOYMENT,
            "kueue-idle-deployment",
            said("spec/template/spec/containers/0/args", '"grace_seconds": 900', '"grace_seconds": 30'),
        ),
        "programs-window",
    ),
    "a figure whose name says another interval": (
        ruled({"record": "own:jobs:increase5m", "expr": "sum(increase(up[5m]))"}, interval="1m"),
        "watching-constant",
    ),
}
"""Further breaks of the same rules, which no set has."""


@pytest.mark.parametrize("sound", SOUND)
def test_what_is_right_is_believed(of, sound):
    name, room, _ = SOUND[sound]
    stack = of(name)

    def judged(resources):
        return told(stack, lambda _: list(resources), room, ours=name == NOTEBOOKS)

    changes = {what: change for what, (*where, change) in SOUND.items() if where == [name, room]}
    assert told_together((__name__, name, room), sound, stack.known.resources, changes, judged) == []


@pytest.mark.parametrize("sound", MEANT)
def test_what_others_may_mean_is_believed(rehearsed, sound):
    for room in ("programs", "references"):
        assert told(rehearsed("demo"), MEANT[sound], room) == []


@pytest.mark.parametrize("sound", OWN_PROGRAMS)
def test_a_program_of_ones_own_that_is_right_is_believed(rehearsed, sound):
    assert told(rehearsed("demo"), OWN_PROGRAMS[sound], "programs", ours=True) == []


@pytest.mark.parametrize("broken", CHARTS)
def test_further_breaks_are_told(rehearsed, broken):
    change, rule = CHARTS[broken]
    assert rule in tells(rehearsed("demo"), change, rule, ours=True)


def test_a_machine_without_time_zones_knows_none_that_is_wrong(rehearsed, monkeypatch):
    zone = edit(
        DEPLOYMENT,
        "kueue-idle-deployment",
        said(
            "spec/template/spec/containers/0/args",
            '"grace_seconds": ',
            '"time_zone": "Europe/Berlin", "grace_seconds": ',
        ),
    )
    monkeypatch.setattr(usage, "_zones", frozenset)
    assert not [one for one in told(rehearsed("demo"), zone, "programs", ours=True) if "time zone" in one.message]


def test_what_something_unrecorded_may_make_right_is_a_warning(of):
    rules = {"reference-state-metrics", "reference-spread-selects-others", "reference-quota", "programs-shared-memory"}
    changes = [
        ("demo", values(STACK, "kube-state-metrics.rbac.extraRules", [])),
        (
            "demo",
            edit(DEPLOYMENT, SERVER, put(f"{POD}.topologySpreadConstraints[1].labelSelector.matchLabels", {"x": "y"})),
        ),
        ("demo", edit(RUNTIME, TRAIN, runtime(first.no_shared_memory))),
        (
            NOTEBOOKS,
            edit("kubernetes:core/v1:ResourceQuota", "notebooks-quota", put("spec.hard.requests~storage", "1Gi")),
        ),
    ]
    found = [one for stack, change in changes for one in told(of(stack), change, ours=True) if one.rule in rules]
    assert {(one.rule, one.level) for one in found} == {(rule, "warning") for rule in rules}


def test_a_notebook_is_given_time_to_start_where_nobody_is_ended(of):
    change = both(
        values("notebooks-release", "cull.enabled", False), values("notebooks-release", "singleuser.startTimeout", 5)
    )
    assert [one.path for one in told(of(NOTEBOOKS), change, "references", ours=True)] == [
        "values.singleuser.startTimeout"
    ]


def test_a_machine_of_another_kind_is_no_crash(rehearsed):
    change = edit(JOB, "smoke-train-reserved-job", said("spec", '"instance": "p4d.24xlarge"', '"instance": ["p4d"]'))
    assert told(rehearsed("demo"), change, "programs", ours=True) == []


def test_a_finding_shows_no_name_that_a_secret_holds(rehearsed):
    changes = [one.change for one in second.MISTAKES if one.name in ("administrator", "login", "no-account")]
    found = [one for change in changes for one in told(rehearsed("demo"), change, "programs", ours=True)]
    said = " ".join(" ".join(one.as_json().values()) for one in found if one.rule == "programs-login")
    assert said
    assert "keeper" in said or "administrator" in said
    assert "one of" not in said and "language" not in said and "admin " not in said


def test_the_stack_with_notebooks_works(of):
    assert of(NOTEBOOKS).findings == ()
