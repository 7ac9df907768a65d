"""What pods ask of the API server with kubectl is held against their roles."""

from __future__ import annotations

import pytest

from tests.policies.truth import kubernetes
from tests.rehearsal.works.rights.test_check import findings

RBAC = "rbac.authorization.k8s.io/v1"


def job(command, **spec):
    containers = [{"name": "main", "image": "kubectl", "command": ["sh", "-c", command]}]
    inside = {"serviceAccountName": "sweeper", "containers": containers, **spec}
    return kubernetes(
        "batch/v1:CronJob", "sweep", "ops", spec={"jobTemplate": {"spec": {"template": {"spec": inside}}}}
    )


def rules(command, *rules_, more=(), **spec):
    subject = {"kind": "ServiceAccount", "name": "sweeper", "namespace": "ops"}
    reference = {"kind": "Role", "name": "sweeper", "apiGroup": "rbac.authorization.k8s.io"}
    resources = [
        kubernetes("core/v1:ServiceAccount", "sweeper", "ops"),
        kubernetes(f"{RBAC}:Role", "sweeper", "ops", rules=list(rules_)),
        kubernetes(f"{RBAC}:RoleBinding", "sweeper", "ops", roleRef=reference, subjects=[subject]),
        job(command, **spec),
        *more,
    ]
    return {finding.rule for finding in findings(resources)}


PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "delete"]}
SCALE = {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["patch"]}


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("kubectl get pods", PODS),
        ("kubectl -n ops delete pod worn-out", PODS),
        ("kubectl delete pod/worn-out --wait=false", {**PODS, "resourceNames": ["worn-out"]}),
        ("kubectl scale deployment/api --replicas=0", SCALE),
        ("kubectl logs worker", {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}),
        ("kubectl get pods -A", {**SCALE}),  # everywhere: a cluster role of another stack may be bound
        ("kubectl delete -f /manifests", SCALE),
        ("kubectl --kubeconfig=/etc/other get secrets", SCALE),
        ("kubectl get widgets", SCALE),  # a kind of its own
        ("kubectl delete pod $NAME", SCALE),
    ],
)
def test_what_a_role_allows_or_nobody_knows_is_left_alone(command, rule):
    assert rules(command, rule) == set()


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("kubectl delete job old", PODS),
        ("kubectl delete pod worn-out", {**PODS, "verbs": ["get", "list"]}),
        ("kubectl delete pod worn-out", {**PODS, "resourceNames": ["another"]}),
        ("kubectl scale deploy/api --replicas=0", {**SCALE, "resources": ["deployments"]}),
        ("kubectl -n mlflow get pods", PODS),
        ("kubectl cordon node-1", PODS),
        ("kubectl exec worker -- true", {**PODS, "verbs": ["*"]}),
    ],
)
def test_what_no_role_allows_is_told(command, rule):
    assert rules(command, rule) == {"rights-program-lacks"}


def test_a_program_without_a_token_is_told():
    assert rules("kubectl get pods", PODS, automountServiceAccountToken=False) == {"rights-program-no-token"}


def test_an_account_of_somebody_else_is_left_alone():
    assert rules("kubectl get nodes", PODS, serviceAccountName="theirs") == set()
