"""Broken references, and what is right beside each: what others fill, another release of an API, another spelling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.references.kubernetes import (
    admitted_pods,
    failure_rules,
    gates,
    route_order,
    runtimes,
    services,
    team_folders,
)
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster


def told(check: Any, *objects: Any, ours: bool = False) -> list[str]:
    """The paths of what a check tells."""
    stack = Stack(list(objects), replace(CONTEXT, ours=ours))
    check(Cluster(stack))
    return [finding.path for finding in stack.findings]


def volume(name: str, folder: str, mode: str = "ReadWriteMany", **more: Any) -> Any:
    """A volume of one folder of a bucket."""
    csi = {"driver": "s3.csi.aws.com", "volumeHandle": name, "volumeAttributes": {"bucketName": "data"}}
    return obj("v1", "PersistentVolume", name, spec={
        "csi": csi, "accessModes": [mode], "mountOptions": [f"prefix {folder}/"], **more})  # fmt: skip


@pytest.mark.parametrize(("folder", "is_told"), [("sets/imgaes", True), ("sets/images", False), ("archive", False)])
def test_a_folder_of_another_name_is_filled_by_others(folder, is_told):
    written = (volume("a", "sets/images"), volume("b", "runs"), volume("c", "runs", "ReadOnlyMany"))
    assert bool(told(team_folders.check, *written, volume("d", folder, "ReadOnlyMany"))) is is_told


def shown(name: str, folder: str, mode: str = "ReadOnlyMany", claim: str = "data") -> Any:
    return volume(name, folder, mode, claimRef={"name": claim, "namespace": name})


@pytest.mark.parametrize(("last", "is_told"), [
    (shown("d", "datasets"), True),
    (shown("d", "data"), False),
    (shown("d", "datasets", claim="archive"), False),  # another claim shows another folder
    (shown("d", "datasets", "ReadWriteMany"), False),  # whoever writes fills it
])  # fmt: skip
def test_one_claim_shows_what_those_of_its_name_do(last, is_told):
    others = (shown("a", "data", "ReadWriteMany"), shown("b", "data"), shown("c", "data"))
    assert bool(told(team_folders.check, *others, last)) is is_told


def test_claims_of_one_name_may_show_folders_of_their_own():
    folders = (shown("a", "data", "ReadWriteMany"), shown("b", "photos"), shown("c", "sounds"), shown("d", "letters"))
    assert told(team_folders.check, *folders) == []


def system(name: str, folder: str) -> Any:
    attributes = {"ip": "10.0.0.2", "filesystem": f"lustre{folder}"}
    return obj(
        "v1",
        "PersistentVolume",
        name,
        spec={"csi": {"driver": "lustre.csi.storage.gke.io", "volumeHandle": name, "volumeAttributes": attributes}},
    )


def maker(name: str, *words: str) -> Any:
    spec = {"volumes": [{"name": "all", "persistentVolumeClaim": {"claimName": "all"}}],
            "containers": [{"name": "mkdir", "command": list(words)}]}  # fmt: skip
    return obj("batch/v1", "Job", name, "ops", spec={"template": {"spec": spec}})


@pytest.mark.parametrize(
    ("makers", "count"),
    [
        ([maker("one", "mkdir", "-p", "a")], 1),
        ([maker("one", "mkdir", "-p", "a", "b")], 0),
        ([maker("one", "mkdir", "-p", "a"), maker("two", "mkdir", "-p", "b")], 0),
        ([maker("one", "mkdir", "-p", "a"), maker("two", "sh", "-c", "mkdir -p /all/b && ls /all")], 0),
        ([maker("one", "mkdir", "-p", "a", "b/runs")], 0),
        ([maker("one", "ls")], 0),
    ],
)
def test_folders_may_be_made_by_any_program_with_the_whole(makers, count):
    objects = (
        obj("v1", "PersistentVolumeClaim", "all", "ops", spec={"volumeName": "all"}),
        system("all", ""), system("a", "/a"), system("b", "/b"),
    )  # fmt: skip
    assert len(told(team_folders.check, *objects, *makers)) == count


def unreached(*routes: dict[str, Any]) -> int:
    stack = Stack([obj("v1", "ConfigMap", "any")], CONTEXT)
    route_order.unreached(stack.views[0], "route", {"routes": list(routes)})
    return len(stack.findings)


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ({"matchers": [{"name": "team", "value": "a|b", "matchType": "=~"}]},
         {"matchers": [{"name": "team", "value": "a"}]}, 1),
        ({"matchers": [{"name": "team", "value": "a|b", "regex": True}]},
         {"matchers": [{"name": "team", "value": "a"}]}, 1),
        ({"matchers": [{"name": "team", "value": "a"}]},
         {"matchers": [{"name": "team", "value": "a", "regex": True}, {"name": "x", "value": "y"}]}, 0),
        ({"matchers": [r'alertname!~"Kube\\.Down"']}, {"matchers": ['alertname="Kube.Down"']}, 0),
        ({"matchers": [r'alertname=~"Kube\\.Down"']}, {"matchers": ['alertname="Kube.Down"']}, 1),
    ],
)  # fmt: skip
def test_routes_are_read_as_alertmanager_reads_them(first, second, count):
    assert unreached({"receiver": "a", **first}, {"receiver": "b", **second}) == count


@pytest.mark.parametrize(("codes", "count"), [([42], 1), ([43], 0), ([[42]], 0), ([{"code": 42}, None], 0)])
def test_codes_of_any_kind_are_read(codes, count):
    rules = [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42, 1]}},
        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": codes}},
    ]
    spec = {"podFailurePolicy": {"rules": rules}, "template": {"spec": {"containers": [{"name": "a"}]}}}
    assert len(told(failure_rules.check, obj("batch/v1", "Job", "a", spec=spec))) == count


def test_a_gate_of_another_kind_is_no_gate():
    assert told(gates.check, obj("v1", "Pod", "a", spec={"readinessGates": ["odd", None, {"conditionType": 3}]})) == []


@pytest.mark.parametrize(("policy", "count"), [({"torch": {}}, 1), ({"mpi": {}}, 0), ({}, 0), (None, 0)])
def test_variables_are_the_runtimes_own_where_it_sets_them(policy, count):
    runtime = obj("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", "gang", spec={"mlPolicy": policy})
    job = obj("trainer.kubeflow.org/v1alpha1", "TrainJob", "a", "team", spec={
        "runtimeRef": {"name": "gang"}, "trainer": {"env": [{"name": "PET_NNODES", "value": "2"}]}})  # fmt: skip
    assert len(told(runtimes.check, runtime, job)) == count


@pytest.mark.parametrize(
    ("values", "count"),
    [({}, 1), ({"nameOverride": "q"}, 0), ({"fullnameOverride": "jobs"}, 0)],
)
def test_a_chart_by_another_name_has_services_by_other_names(values, count):
    release = resource("kubernetes:helm.sh/v3:Release", "kueue", {
        "chart": "kueue", "name": "kueue", "namespace": "kueue-system", "values": values})  # fmt: skip
    hook = {"name": "a.b.c", "clientConfig": {"service": {"name": "kueue-webhook-servce", "namespace": "kueue-system"}}}
    hooks = obj("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "own", webhooks=[hook])
    assert len(told(services.check, release, hooks)) == count


GUARD = (
    obj("v1", "Namespace", "web", metadata={"labels": {"team": "web"}}),
    obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "guard", spec={
        "policyName": "guard", "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": {"matchLabels": {"team": "web"}}}}),
)  # fmt: skip


def guarded(expression: str, kind: str = "Job") -> bool:
    policy = obj("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "guard", spec={
        "matchConstraints": {"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
        "validations": [{"expression": expression}]})  # fmt: skip
    template = {"metadata": {"labels": {"app": "a", "tier": "b"}}, "spec": {
        "containers": [{"name": "a", "image": "a:1", "env": [{"name": "A"}]}],
        "volumes": [{"name": "v", "configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}}]}}  # fmt: skip
    made = obj("batch/v1" if kind == "Job" else "apps/v1", kind, "made", "web", spec={"template": template})
    return bool(told(admitted_pods.check, *GUARD, policy, made, ours=True))


@pytest.mark.parametrize(
    ("holds", "fails"),
    [
        ("has(object.spec.volumes) && object.spec.volumes.all(v, has(v.configMap))",
         "object.spec.volumes.all(v, has(v.secret))"),
        ("object.spec.volumes.all(v, v.configMap.items.size() == 1)",
         "object.spec.volumes.all(v, v.configMap.name == 'd')"),
        ("'app' in object.metadata.labels", "'other' in object.metadata.labels"),
        ("object.metadata.labels.exists(k, k == 'tier')", "object.metadata.labels.all(k, k == 'app')"),
        ("object.metadata.namespace == 'web'", "object.metadata.namespace != 'web'"),
        ("namespaceObject.metadata.labels['team'] == 'web'", "namespaceObject.metadata.labels['team'] == 'app'"),
        ("object.spec.containers.all(c, c.env.size() == 1)", "object.spec.containers.all(c, !has(c.env))"),
        ("object.spec.restartPolicy == 'Always'", "has(object.spec.hostNetwork) || object.spec.priority > 0"),
        ("object.metadata.ownerReferences[0].kind == 'Job'", "object.metadata.ownerReferences[0].kind == 'ReplicaSet'"),
    ],
)  # fmt: skip
def test_a_policy_sees_all_that_it_names_of_a_pod(holds, fails):
    assert not guarded(holds)
    assert guarded(fails)


def test_who_makes_a_pod_is_part_of_the_question():
    expression = "!request.userInfo.username.endsWith(':job-controller')"
    assert not guarded("!request.userInfo.username.endsWith(':replicaset-controller')")
    assert not guarded(expression)  # the controllers may be one, of another name
    alone = "!(request.userInfo.username.endsWith(':job-controller') || request.userInfo.username.endsWith('-manager'))"
    assert guarded(alone)
    assert not guarded(alone.replace("'-manager'", "'nobody'"))
    assert not guarded(alone.replace("'-manager'", "'nobody'"), "Deployment")
