"""Sets in references, flows, rights and paths of our clusters on both clouds, put to the whole verdict; what is right
beside every rule that came is not told.

| set | mistakes | refused, at first sight | silent, at first sight | healthy accused |
| --- | --- | --- | --- | --- |
| first | 44 | 16 of 16 | 24 of 28 | 1 of 10 |
| second | 24 | 7 of 8 | 12 of 16 | 1 of 5 |

Both that were accused break a policy that is meant so: a trust of every cluster of a client, and rights of a team
beyond its list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works import mistakes_refs_first as first
from tests.rehearsal.works import mistakes_refs_second as second
from tests.rehearsal.works.mistakes import (
    DROP,
    Change,
    Recorded,
    added,
    both,
    context_of,
    edit,
    in_json,
    put,
    tells,
    told,
)
from tests.rehearsal.works.mistakes_k8s_first import (
    BINDING,
    CLUSTER_ROLE,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    LIMITS,
    POD,
    POD_MONITOR,
    RELEASE,
    STACK,
    VOLUME,
    WALL,
    said,
    values,
)
from tests.rehearsal.works.mistakes_refs_first import BUCKET_MEMBER, CHECK, DATA, DRILL, SERVER
from tests.rehearsal.works.mistakes_refs_second import SERVICE
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.refusals.check import check_values
from trainyard.review.policy_check.check import check_policies

SETS = {"first": first, "second": second}
EVERY = [pytest.param(one, id=f"{which}-{one.name}") for which, found in SETS.items() for one in found.MISTAKES]
SPOT = "smoke-train-spot-job"
FAILURES = "spec.podFailurePolicy.rules"


@pytest.mark.parametrize("mistake", EVERY)
def test_a_mistake_is_told(rehearsed, mistake):
    stack = rehearsed(mistake.stack)
    if mistake.rule is None:
        assert mistake.why
        return
    kind, _, name = mistake.rule.rpartition(":")
    if kind == "refusal":
        changed = mistake.change(list(stack.known.resources))
        found = {one.rule for one in check_values(changed, replace(context_of(stack), ours=True))}
    elif kind == "policy":
        rules = [policy for policy in POLICIES if policy.name == name]
        changed = mistake.change(list(stack.known.resources))
        found = {one.policy for one in check_policies("s", [], changed, stack.settings, policies=rules).violations}
    else:
        found = tells(stack, mistake.change, name, ours=True)
    assert name in found, found


def failing(*rules: Any, at: int = 0) -> Change:
    """Rules about failures among those of a smoke job."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["spec"]["podFailurePolicy"]["rules"][at:at] = rules

    return edit(JOB, SPOT, into)


def routed(*routes: Any, at: int = 0) -> Change:
    """Routes among those of the stack's alerts."""
    return edit(RELEASE, STACK, lambda i: i["values"]["alertmanager"]["config"]["route"]["routes"].__setitem__(
        slice(at, at), routes))  # fmt: skip


def twin(type_: str, name: str, **inputs: Any) -> Change:
    """A second resource with the inputs of one, but for some."""

    def change(resources: Recorded) -> list[Any]:
        one = next(each for each in resources if (each.type, each.name) == (type_, name))
        kept = {key: value for key, value in {**one.inputs, **inputs}.items() if value is not DROP}
        return [*resources, replace(one, name=f"{name}-2", urn=f"{one.urn}-2", inputs=kept)]

    return change


def gathered(resources: Recorded) -> list[Any]:
    """The rules of the readers' role, gathered of another role with a label."""
    chosen = {"example.com/readers": "true"}
    rules = next(
        dict(one.inputs)["rules"] for one in resources if (one.type, one.name) == (CLUSTER_ROLE, "teams-reader")
    )
    kind, rest = "rbac.authorization.k8s.io/v1:ClusterRole", {"metadata": {"labels": chosen}, "rules": rules}
    selector = {"clusterRoleSelectors": [{"matchLabels": chosen}]}
    change = edit(CLUSTER_ROLE, "teams-reader", put("aggregationRule", selector), put("rules", DROP))
    return change(added(kind, "readers-of-queues", rest)(resources))


ALL_FAIL = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}}
FURTHER = {
    "all failures first": ("demo", failing(ALL_FAIL), "reference-failure-rule"),
    "a route of more than the next": ("demo", routed({"receiver": "nobody", "matchers": ['severity=~"info|critical"']}),
                                      "reference-alert-route"),
    "the first route of some alone": ("demo", values(STACK, "alertmanager.config.route.matchers", ['team="a"']),
                                      "reference-alert-route"),
    "a receiver twice": ("demo", values(STACK, "alertmanager.config.receivers[2].name", "topic"),
                         "reference-alert-route"),
    "a folder of the node in a team's job": (
        "demo", edit(JOB, SPOT, put(f"{POD}.volumes[6]", {"name": "x", "hostPath": {"path": "/mnt"}})),
        "reference-admission-refuses"),
    "a script that imports of its package": (
        "demo", edit(CONFIG_MAP, "smoke-train-spot-code",
                     lambda i: i["data"].update({"start.py": f"from .training import run\n{i['data']['start.py']}"})),
        "programs-import"),
    "a module that is left out": (
        "demo-gcp", edit(CRON_JOB, DRILL, lambda i: i["spec"]["jobTemplate"]["spec"]["template"]["spec"]["volumes"][0][
            "configMap"]["items"].pop(2)), "programs-import"),
    "scratch space of another team": (
        "large-aws", edit(VOLUME, "volumes-foundation-scratch-volume",
                          said("spec/csi/volumeAttributes/mountname", "foundation", "forecasting")),
        "reference-team-folder"),
    "a prefix of another team": (
        "demo", edit(VOLUME, "volumes-vision-checkpoints-volume",
                     put("spec.mountOptions[1]", "prefix teams/language/")),
        "reference-team-folder"),
    "an object twice": ("demo", twin(CONFIG_MAP, "egress-configuration"), "reference-twice"),
    "an add-on twice": ("demo", twin(aws.ADD_ON, "cluster-coredns"), "reference-twice"),
    "a way in twice": ("demo", twin(aws.INGRESS, "network-endpoints-https"), "reference-twice"),
    "a service's own names twice": ("demo", twin(aws.ENDPOINT, "network-sts-interface"), "reference-twice"),
    "a table with two ways to a store": ("demo", twin(aws.ENDPOINT, "network-s3"), "reference-twice"),
    "a record twice": ("large-gcp", twin(first.RECORDS, "google-apis-all"), "reference-twice"),
    "a certificate for a key": (
        "demo", edit(DEPLOYMENT, SERVER, first.of_argument("--uvicorn-opts=", "--ssl-keyfile=/etc/mlflow/auth/tls.key",
                                                           "--ssl-keyfile=/etc/mlflow/auth/tls.crt")),
        "programs-key-file"),
    "a gate of Google's on Amazon": (
        "demo", edit(DEPLOYMENT, SERVER,
                     put(f"{POD}.readinessGates", [{"conditionType": "cloud.google.com/load-balancer-neg-ready"}])),
        "reference-readiness-gate"),
}  # fmt: skip
"""Further breaks of the rules that came of the sets."""

TRUE_BUCKET = 'resource.type == "storage.googleapis.com/Bucket"'
SOUND = {
    "all failures last": ("demo", failing(ALL_FAIL, at=9)),
    "failures of one container first": ("demo", failing(
        {"action": "FailJob", "onExitCodes": {"containerName": "fabric", "operator": "In", "values": [75]}})),
    "a route of all at the end": ("demo", routed({"receiver": "topic"}, at=9)),
    "a route of all that goes on": ("demo", routed({"receiver": "topic", "continue": True})),
    "a route of others first": ("demo", routed({"receiver": "topic", "matchers": ['severity=~"page|info"', "team=a"]})),
    "a trial of what is read by its owner": ("demo", edit(DEPLOYMENT, SERVER,
                                                          put(f"{POD}.volumes[6].secret.defaultMode", 256))),
    "a range of ports": ("demo", edit(WALL, "monitoring-allow-prometheus",
                                      put("spec.egress[3].ports[1].endPort", 9110))),
    "a port by its name": ("demo", edit(WALL, "mlflow-server-ingress", put("spec.ingress[0].ports[0].port", "https"))),
    "rules that are gathered": ("demo", gathered),
    "denied and audited": ("demo", edit(BINDING, "teams-pods-images-binding",
                                        put("spec.validationActions", ["Deny", "Audit"]))),
    "weekly in Dubai": ("large-aws", edit(CRON_JOB, DRILL, put("spec.schedule", "@weekly"),
                                          put("spec.timeZone", "Asia/Dubai"))),
    "half a minute to start": ("demo", edit(CRON_JOB, DRILL, put("spec.startingDeadlineSeconds", 30))),
    "traffic to what is near": ("demo-gcp", edit(SERVICE, "mlflow-service",
                                                 put("spec.trafficDistribution", "PreferClose"))),
    "callers that stay with a pod": ("demo", edit(SERVICE, "mlflow-service", put("spec.sessionAffinity", "ClientIP"))),
    "pods by their label": ("demo", edit(POD_MONITOR, "monitoring-tracking", put(
        "spec.podMetricsEndpoints[0].relabelings[2]",
        {"action": "keep", "sourceLabels": ["__meta_kubernetes_pod_label_app_kubernetes_io_name"],
         "regex": "mlflow"}))),
    "one block for three": ("demo", edit(WALL, "mlflow-server-egress",
                                         put("spec.egress[1].to", [{"ipBlock": {"cidr": "10.0.208.0/21"}}]))),
    "a grant of what is mounted": ("large-gcp", edit(BUCKET_MEMBER, "team-foundation-data", put("condition", {
        "title": "data", "expression": f'{TRUE_BUCKET} || resource.name.startsWith("{DATA}/data/")'}))),
    "names by fewer steps": ("demo", edit(DEPLOYMENT, "kueue-budgets-deployment", put(
        f"{POD}.dnsConfig", {"options": [{"name": "ndots", "value": "2"}]}))),
    "a default of memory": ("demo", edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].default",
                                                                               {"memory": "512Gi"}))),
    "more of a program than it reads": ("demo", edit(CRON_JOB, CHECK, put(
        f"spec.jobTemplate.{POD}.volumes[0].configMap.items[2]", {"key": "drill.exits.py", "path": "drill/more.py"}))),
    "the same role for another account": ("demo", both(
        added("core/v1:ServiceAccount", "own", {}, "ingest"),
        twin(aws.IDENTITY, "ingest-role-ingest", serviceAccount="own"),
        edit(aws.ROLE, "ingest-role", in_json("assumeRolePolicy", lambda p: p["Statement"][0]["Condition"][
            "StringEquals"].update({"aws:RequestTag/kubernetes-service-account": ["ingest", "own"]}))))),
    "a way in from elsewhere": ("demo", twin(aws.INGRESS, "network-endpoints-https", cidrIpv4="100.64.0.0/10")),
    "a grant twice": ("large-gcp", twin(BUCKET_MEMBER, "team-foundation-data")),
    "a name that Pulumi makes": ("demo", twin(aws.ROLE, "ingest-role")),
}  # fmt: skip
"""Right beside them, and uncommon."""
ALLOWED = frozenset({"rights-role-unused"})
"""What is told of a role that stands alone."""


@pytest.mark.parametrize("broken", FURTHER)
def test_further_breaks_are_told(rehearsed, broken):
    stack, change, rule = FURTHER[broken]
    assert rule in tells(rehearsed(stack), change, rule, ours=True)


@pytest.mark.parametrize("sound", SOUND)
def test_what_is_right_is_believed(rehearsed, sound):
    name, _ = SOUND[sound]
    stack = rehearsed(name)

    def judged(resources):
        return [one for one in told(stack, lambda _: list(resources), ours=True) if one.rule not in ALLOWED]

    changes = {what: change for what, (of_stack, change) in SOUND.items() if of_stack == name}
    assert told_together((__name__, name), sound, stack.known.resources, changes, judged) == []
