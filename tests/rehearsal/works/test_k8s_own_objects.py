"""Sets of objects of other people's programs, and of our own, put to the whole verdict, and what is right beside them.

| set | mistakes | refused, at first sight | silent, at first sight | told now |
| --- | --- | --- | --- | --- |
| eighth | 62 | 13 of 20 | 17 of 42 | 62 |
| ninth | 30 | 6 of 10 | 6 of 20 | 30 |
"""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

from tests.rehearsal.works import mistakes_k8s_eighth as eighth
from tests.rehearsal.works import mistakes_k8s_ninth as ninth
from tests.rehearsal.works.mistakes import Change, both, edit, put, tells, told
from tests.rehearsal.works.mistakes_breadth import installed
from tests.rehearsal.works.mistakes_k8s_first import CONFIG_MAP, DEPLOYMENT, FIRST, POD, STACK, values
from tests.rehearsal.works.own_objects import (
    BOARD,
    BOUND,
    CHECK,
    CONTROLLER,
    DEFINITION,
    FRONT,
    GUARD,
    HARDENED,
    HEADLESS,
    HOOK,
    INGRESS,
    LABELS,
    NGINX,
    PLACE,
    PROGRAM,
    SCALER,
    SERVICE,
    STATEFUL,
    TOOLS,
    Own,
    dashboard,
    pod,
    program,
    ruled,
    variable,
)
from tests.rehearsal.works.test_k8s_sets import of
from tests.rehearsal.works.test_k8s_unseen import refused
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.review.policy_check.check import check_policies

__all__ = ["of"]  # the fixture

EVERY = [
    pytest.param(one, id=f"{which}-{one.name}")
    for which, found in (("eighth", eighth.MISTAKES), ("ninth", ninth.MISTAKES))
    for one in found
]


@pytest.mark.parametrize("mistake", EVERY)
def test_a_mistake_is_told(of, mistake):
    stack = of(mistake.stack)
    kind, _, name = mistake.rule.rpartition(":")
    if kind == "refusal":
        found = refused(stack, mistake.change)
    elif kind == "policy":
        changed_to = mistake.change(list(stack.known.resources))
        rules = [policy for policy in POLICIES if policy.name == name]
        found = {one.policy for one in check_policies("s", [], changed_to, stack.settings, policies=rules).violations}
    else:
        found = tells(stack, mistake.change, name, ours=True)
    assert name in found, found


SOUND_OBJECTS = (
    PROGRAM,
    SERVICE,
    STATEFUL,
    HEADLESS,
    SCALER,
    HOOK,
    CHECK,
    DEFINITION,
    BOARD,
    GUARD,
    BOUND,
    NGINX,
    PLACE,
)
ALLOWED = frozenset({"reference-namespace-order", "reference-kind-order", "flows-webhooks", "flows-names"})
"""What is told of an object that stands alone: it waits for nothing, and the strict mode lets nobody to it."""


def test_the_objects_as_they_are_are_sound(of):
    found = {one.rule for one in told(of("demo"), Own(SOUND_OBJECTS), ours=True)} - ALLOWED
    assert not found


def spoiled(objects: tuple[Any, ...], *into: Any) -> Own:
    """The first of some objects with changes."""
    return Own(objects, into)


def sidecar(**more: Any) -> dict[str, Any]:
    """A container that sends logs on."""
    return {"name": "logs", "image": "fluent/fluent-bit:4.0", "securityContext": HARDENED, **more}


JOB = "spec.jobTemplate.spec.template"
RICH = """pid /tmp/nginx.pid; events {}
http {
  client_body_temp_path /tmp/a; proxy_temp_path /tmp/b;
  log_format main '$remote_addr - "$request" { $status }; # no comment';
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  upstream app { least_conn; server 127.0.0.1:9000 max_fails=0; keepalive 8; }
  server {
    listen 8000 default_server;
    listen [::]:8000;
    location ~* "^/x/(?<id>\\d{2,4})$" { set $up mlflow.mlflow.svc.cluster.local; proxy_pass https://$up:5000/$id; }
    location /t/ { proxy_pass https://mlflow.mlflow.svc.cluster.local:5000/; }
    location / { if ($request_method = POST) { return 405; } proxy_pass http://app; }
  }
}
"""
QUIET = "rate(kueue_admission_wait_time_seconds_bucket[5m])"
ANNOTATED = {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "8000",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
    "board.example.com/aws-load-balancer-schema": "mine",
}
BALANCER = "service.beta.kubernetes.io/aws-load-balancer"
MONITOR = (
    "monitoring.coreos.com/v1:PodMonitor",
    "board",
    {"spec": {"selector": {"matchLabels": LABELS}, "podMetricsEndpoints": [{"port": "http"}]}},
    TOOLS,
)
INFLUXQL = 'SELECT mean("value") FROM "load" WHERE $timeFilter GROUP BY time($interval)'
HEALTHY: dict[str, tuple[str, Change]] = {
    "a script that reads what comes after it": (
        "programs-command",
        program(put(f"{FIRST}.command", ["sh", "-c", 'exec python -m http.server "$1"', "serve", "8000"])),
    ),
    "a pattern that ends, and a price": (
        "programs-command",
        program(put(f"{FIRST}.args", ["--filter=^a$", "--title=100$ off"])),
    ),
    "words of an image's own entrance": (
        "programs-command",
        program(put(f"{FIRST}.args", ["-c", "echo $HOME"]), lambda i: _first(i).pop("command")),
    ),
    "a shell behind an init": (
        "programs-command",
        program(
            put(f"{FIRST}.command", ["tini", "--", "bash", "-lc", "python -m http.server $PORT"]),
            put(f"{FIRST}.env", [variable("PORT", "8000")]),
        ),
    ),
    "variables of what comes before, of a service, and none at all": (
        "programs-command",
        program(
            put(
                f"{FIRST}.env",
                [
                    {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    variable("URL", "http://$(POD_IP):8000"),
                    variable("BACK", "http://$(BOARD_SERVICE_HOST)"),
                    variable("PLAIN", "$$(NOT)"),
                ],
            )
        ),
    ),
    "a path with a blank in a program's place": (
        "programs-command",
        program(put(f"{FIRST}.command", ["/opt/My Program/serve", "8000"])),
    ),
    "the node's network and the cluster's names": (
        "programs-never",
        edit(
            DEPLOYMENT,
            "kueue-budgets-deployment",
            put(f"{POD}.hostNetwork", True),
            put(f"{POD}.dnsPolicy", "ClusterFirstWithHostNet"),
        ),
    ),
    "a list of hosts that no proxy is asked for": (
        "programs-never",
        program(put(f"{POD}.dnsPolicy", "Default"), put(f"{FIRST}.env", [variable("NO_PROXY", ".svc,a.b.svc")])),
    ),
    "a sidecar that is ended with the work": (
        "programs-companion",
        spoiled((CHECK, PLACE), put(f"{JOB}.spec.initContainers", [sidecar(restartPolicy="Always")])),
    ),
    "a companion that is told to end": (
        "programs-companion",
        spoiled(
            (CHECK, PLACE),
            put(
                f"{JOB}.spec.containers[1]",
                sidecar(image="gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.15", args=["--quitquitquit", "p:r:i"]),
            ),
        ),
    ),
    "a webhook that leaves its own namespace out": (
        "programs-webhook",
        spoiled(
            (HOOK, PROGRAM, SERVICE, PLACE),
            put("webhooks[0].failurePolicy", "Fail"),
            put(
                "webhooks[0].namespaceSelector",
                {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [TOOLS]}]},
            ),
        ),
    ),
    "a guard that wants a label, which who has none has not": (
        "programs-policy",
        spoiled((GUARD, BOUND, PLACE), put("spec.validations[0].expression", "object.metadata.labels['owner'] != ''")),
    ),
    "a guard that looks whether there was something before": (
        "programs-policy",
        spoiled(
            (GUARD, BOUND, PLACE),
            put(
                "spec.validations[0].expression",
                "oldObject == null || object.spec.replicas <= oldObject.spec.replicas * 2",
            ),
        ),
    ),
    "a guard that looks before it reads": (
        "programs-policy",
        spoiled(
            (GUARD, BOUND, PLACE),
            put(
                "spec.validations[0].expression",
                "!has(object.metadata.labels) || !('tier' in object.metadata.labels)",
            ),
        ),
    ),
    "annotations that are read, and one's own": (
        "programs-annotation",
        spoiled((PROGRAM, SERVICE, MONITOR, PLACE), put("spec.template.metadata.annotations", ANNOTATED)),
    ),
    "a pod that asks to be scraped, and a monitor that means it": (
        "programs-unscraped",
        spoiled((PROGRAM, SERVICE, MONITOR, PLACE), put("spec.template.metadata.annotations", ANNOTATED)),
    ),
    "a balancer of the cloud's old controller": (
        "programs-annotation",
        spoiled(
            (SERVICE, PROGRAM, PLACE),
            put("spec.type", "LoadBalancer"),
            put("metadata.annotations", {f"{BALANCER}-internal": "true", f"{BALANCER}-type": "nlb"}),
        ),
    ),
    "certificates, files, bytes that a program wants encoded, and a password that looks so": (
        "programs-encoded",
        spoiled(
            (
                (
                    "core/v1:Secret",
                    "odd",
                    {
                        "stringData": {
                            "tls.crt": "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n",
                            "config.yaml": "a: 1\n",
                            "credentials_b64": base64.b64encode(b'{"type": "service_account"}').decode(),
                            "cookieSecret": base64.b64encode(bytes(range(32))).decode(),
                            "password": "c2VjcmV0c2VjcmV0",
                        }
                    },
                    TOOLS,
                ),
                PLACE,
            )
        ),
    ),
    "variables of a dashboard, of Grafana and of a pattern": (
        "watching-dashboard",
        edit(
            CONFIG_MAP,
            "monitoring-trainyard-pools",
            dashboard(
                lambda one: (
                    one.update(templating={"list": [{"name": "pool", "type": "query"}]}),
                    one["panels"].append(
                        {"targets": [{"expr": 'sum(rate(x_total{p=~"a-$pool$"}[$__rate_interval]))'}]}
                    ),
                )
            ),
        ),
    ),
    "variables that Grafana fills in for InfluxDB": (
        "watching-dashboard",
        edit(
            CONFIG_MAP,
            "monitoring-trainyard-pools",
            dashboard(lambda one: one["panels"].append({"targets": [{"query": INFLUXQL}]})),
        ),
    ),
    "quantiles with their bounds, and a rate of what counts": (
        "watching-function",
        both(
            ruled(
                alert="A",
                expr=f"histogram_quantile(0.9, sum without (pod) ({QUIET})) > 7200 or "
                f"histogram_quantile(0.9, sum({QUIET}) by (le)) > 7200",
            ),
            ruled(alert="B", expr="increase(kube_pod_container_status_restarts_total[1h]) > delta(up[5m])"),
        ),
    ),
    "a figure that starts from another": (
        "watching-syntax",
        ruled(record="own:share", expr="own:share * 0.9 or vector(0)"),
    ),
    "Grafana that serves below its path": (
        "programs-web-path",
        values(STACK, "grafana.grafana~ini.server", {"root_url": "https://a.example/g/", "serve_from_sub_path": True}),
    ),
    "Grafana at the root of its host": (
        "programs-web-path",
        values(STACK, "grafana.grafana~ini.server", {"root_url": "https://grafana.example.com/"}),
    ),
    "Grafana below a path that an entrance takes away": (
        "programs-web-path",
        both(
            values(STACK, "grafana.grafana~ini.server", {"root_url": "https://a.example/grafana/"}),
            spoiled(
                (INGRESS, CONTROLLER, PROGRAM, SERVICE, PLACE),
                put("metadata.annotations", {"nginx.ingress.kubernetes.io/rewrite-target": "/$1"}),
            ),
        ),
    ),
    "another port of Grafana's, in both places": (
        "programs-web-path",
        both(
            values(STACK, "grafana.env", {"GF_SERVER_HTTP_PORT": "8080"}),
            values(STACK, "grafana.service", {"targetPort": 8080}),
        ),
    ),
    "a rich configuration of nginx": (
        "programs-nginx",
        spoiled((NGINX, FRONT, SERVICE, PLACE), lambda i: i["data"].update({"nginx.conf": RICH})),
    ),
    "an entrance whose certificate a controller makes": (
        "reference-missing",
        spoiled(
            (INGRESS, CONTROLLER, PROGRAM, SERVICE, PLACE),
            put("metadata.annotations", {"cert-manager.io/cluster-issuer": "letsencrypt"}),
            put("spec.tls", [{"hosts": ["board.example.com"], "secretName": "board-tls"}]),
        ),
    ),
    "an entrance beside a controller that nobody knows": (
        "reference-ingress-class",
        both(
            spoiled((INGRESS, PROGRAM, SERVICE, PLACE), put("spec.ingressClassName", "contour")),
            Own((("helm.sh/v3:Release", "contour", {**CONTROLLER[2], "chart": "contour", "name": "contour"}, ""),)),
        ),
    ),
    "shares of the autoscaler": (
        "charts-flag",
        values("autoscaler-release", "extraArgs.scale-down-utilization-threshold", 0.65),
    ),
    "GPUs that turns are taken on, under their own name": (
        "placement-shared-gpu",
        values(
            "gpu-nvidia-device-plugin",
            "config",
            {"map": {"a": eighth.SLICED.replace("true", "false")}, "default": "a"},
        ),
    ),
    "shared GPUs of nodes that say so by a label": (
        "placement-shared-gpu",
        values(
            "gpu-nvidia-device-plugin", "config", {"map": {"a": eighth.SLICED, "b": "version: v1\n"}, "default": "b"}
        ),
    ),
    "one pod a node, of which one may be missing": (
        "placement-spread",
        edit(
            DEPLOYMENT,
            "egress-deployment",
            put("spec.replicas", 6),
            put("spec.strategy.rollingUpdate", {"maxSurge": 0, "maxUnavailable": 1}),
            put(
                f"{POD}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                [
                    {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "egress-proxy"}},
                    }
                ],
            ),
        ),
    ),
    "something optional that is nowhere near anything": (
        "reference-missing",
        program(put(f"{FIRST}.envFrom", [{"configMapRef": {"name": "overrides", "optional": True}}])),
    ),
    "images of others with the same words": (
        "programs-gone",
        program(put(f"{FIRST}.image", "registry.example.com/mirror/bitnami/kubectl:1.31")),
    ),
}


def _first(inputs: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = inputs["spec"]["template"]["spec"]["containers"][0]
    return found


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_right_is_not_told(of, name):
    stack = of("demo")
    held = told_together(
        __name__,
        name,
        stack.known.resources,
        {what: change for what, (_, change) in HEALTHY.items()},
        lambda resources: told(stack, lambda _: list(resources), ours=True),
        lambda what, finding: finding.rule == HEALTHY[what][0],
    )
    assert held == []


@pytest.mark.parametrize(("beside", "level"), [("redis", "error"), ("grafana", "warning")])
def test_a_uid_of_two_dashboards_may_be_of_two_grafanas(of, beside, level):
    one = edit(CONFIG_MAP, "monitoring-trainyard-pools", dashboard(lambda board: board.update(uid="trainyard-cost")))
    found = told(of("demo"), both(one, installed("own", beside)), ours=True)
    assert {one.level for one in found if one.rule == "watching-dashboard"} == {level}


UNUSUAL: dict[str, Change] = {
    "odd scaling": spoiled(
        (SCALER, PROGRAM, SERVICE, PLACE),
        put("spec.behavior", {"scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Disabled"}}),
    ),
    "a set with raw disks": spoiled(
        (STATEFUL, HEADLESS, PLACE),
        put("spec.podManagementPolicy", "Parallel"),
        put("spec.ordinals", {"start": 3}),
        put("spec.persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Delete", "whenScaled": "Retain"}),
    ),
    "names of its own": program(
        put(f"{POD}.dnsPolicy", "None"),
        put(f"{POD}.dnsConfig", {"nameservers": ["10.0.0.2"], "searches": ["corp.example", "."]}),
    ),
    "a service of one zone": spoiled(
        (SERVICE, PROGRAM, PLACE),
        put("spec.trafficDistribution", "PreferClose"),
        put("spec.ipFamilyPolicy", "PreferDualStack"),
    ),
    "a definition of two versions": spoiled(
        (DEFINITION, BOARD, PLACE),
        lambda i: i["spec"]["versions"].append(
            {**copy.deepcopy(i["spec"]["versions"][0]), "name": "v1alpha1", "storage": False}
        ),
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_is_taken(of, name):
    stack = of("demo")
    assert not refused(stack, UNUSUAL[name]) - {"k8s-unchecked"}


def test_pods_of_a_program_stay_as_they_were():
    assert pod() == pod()
    assert Own((PROGRAM,), (put("spec.replicas", 5),)).sound([])[0].inputs["spec"]["replicas"] == 2
