from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest

from tests.components.k8s.addresses import ADDRESSES, STORE, addresses
from tests.components.k8s.checkers import check_plain_objects, depends_on
from tests.pulumi_harness import Recorded, Recording, record
from trainyard.components.k8s.teams import TeamNamespaces, TeamNamespacesArgs

TEAMS = [
    {
        "name": "vision",
        "namespace": "team-vision",
        "cpu_only_cores": 20,
        "cpu_only_memory_gib": 1024,
        "cpu_only_pods": 100,
        "claims": 4,
        "claims_gib": 2048,
    },
    {
        "name": "speech",
        "namespace": "team-speech",
        "cpu_only_cores": 2000,
        "cpu_only_memory_gib": 80,
        "cpu_only_pods": 50,
        "claims": 0,
        "claims_gib": 0,
    },
]


def arguments(**changes: Any) -> TeamNamespacesArgs:
    args: TeamNamespacesArgs = {
        "teams": TEAMS,  # type: ignore[typeddict-item]
        "mlflow": {"namespace": "mlflow", "port": 5000},
        "addresses": ADDRESSES,
        "egress_proxy": {"namespace": "egress-proxy", "port": 3128},
    }
    return {**args, **changes}  # type: ignore[typeddict-item]


def run(**changes: Any) -> Recording:
    return record(lambda: TeamNamespaces("teams", arguments(**changes)))


def policies(recording: Recording, namespace: str = "team-vision") -> dict[str, Any]:
    return {
        policy.inputs["metadata"]["name"]: policy.inputs["spec"]
        for policy in recording.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
        if policy.inputs["metadata"]["namespace"] == namespace
    }


def of_team(recording: Recording, kind: str, team: str) -> Recorded:
    (found,) = [r for r in recording.of_type(f"kubernetes:{kind}") if r.name.startswith(f"teams-{team}-")]
    return found


def test_every_object_is_valid() -> None:
    # A team: namespace, three quotas, defaults, account, seven network policies, role, binding.
    # All: a priority class, a cluster role and its binding.
    assert check_plain_objects(run()) == 2 * 15 + 3


def test_namespace_is_labelled_for_the_queue_and_for_pod_security() -> None:
    namespace = of_team(run(), "core/v1:Namespace", "vision").inputs["metadata"]
    assert namespace["name"] == "team-vision"
    assert namespace["labels"] == {
        "ml.platform/team": "vision",
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/warn": "restricted",
        "pod-security.kubernetes.io/audit": "restricted",
    }


def quotas(recording: Recording, team: str) -> dict[str, Any]:
    found = recording.of_type("kubernetes:core/v1:ResourceQuota")
    return {
        quota.inputs["metadata"]["name"]: quota.inputs["spec"]
        for quota in found
        if quota.inputs["metadata"]["namespace"] == f"team-{team}"
    }


def counts(quota: dict[str, Any], pod: dict[str, Any]) -> bool:
    """Whether a quota counts a pod, as the API server decides: no scope, or a priority class that its scope names."""
    if not any(key in quota["hard"] for key in ("pods", "requests.cpu", "requests.memory")):
        return False
    (expression,) = quota.get("scopeSelector", {}).get("matchExpressions") or [None]
    if expression is None:
        return True
    assert (expression["scopeName"], expression["operator"]) == ("PriorityClass", "In")
    return pod.get("priorityClassName") in expression["values"]


def test_pods_that_wait_never_hold_up_an_admitted_gpu_job() -> None:
    """A hundred waiting CPU pods made a job "exceeded quota" after its admission, while it held its GPUs."""
    for team in ("vision", "speech"):
        found = quotas(run(), team)
        gpu_pod: dict[str, Any] = {}  # the admission policies let it have no priority class
        cpu_pod = {"priorityClassName": "cpu-only"}  # they let it have no other
        assert not any(counts(quota, gpu_pod) for quota in found.values()), "Kueue alone rations it"
        assert [name for name, quota in found.items() if counts(quota, cpu_pod)] == ["cpu-only"], "bounded"
        assert not any("gpu" in key for quota in found.values() for key in quota["hard"])


def test_what_a_team_does_without_gpus_is_bounded() -> None:
    recording = run()
    vision, speech = quotas(recording, "vision")["cpu-only"]["hard"], quotas(recording, "speech")["cpu-only"]["hard"]
    assert vision == {"requests.cpu": "20", "requests.memory": "1Ti", "pods": "100"}
    assert speech == {"requests.cpu": "2k", "requests.memory": "80Gi", "pods": "50"}
    kind = recording.one("kubernetes:scheduling.k8s.io/v1:PriorityClass").inputs
    assert kind["metadata"]["name"] == "cpu-only"
    assert kind["preemptionPolicy"] == "Never", "it evicts nobody"
    assert -10 <= kind["value"] < 0, "it gives way to the platform, and the autoscaler still starts nodes for it"
    assert not kind.get("globalDefault")


def test_nothing_in_a_namespace_is_reachable_from_outside() -> None:
    hard = quotas(run(), "vision")["team"]["hard"]
    assert (hard["services.loadbalancers"], hard["services.nodeports"]) == ("0", "0")


def test_claims_are_the_platforms_and_each_can_be_replaced() -> None:
    vision, speech = quotas(run(), "vision")["team"]["hard"], quotas(run(), "speech")["team"]["hard"]
    assert (vision["persistentvolumeclaims"], vision["requests.storage"]) == ("8", "4Ti")
    assert (speech["persistentvolumeclaims"], speech["requests.storage"]) == ("0", "0")


def test_no_pod_of_a_team_has_a_class_of_kubernetes_own() -> None:
    quota = quotas(run(), "vision")["no-system-priority"]
    assert quota["hard"] == {"pods": "0"}
    for name in ("system-node-critical", "system-cluster-critical"):
        assert counts(quota, {"priorityClassName": name})
    assert not counts(quota, {"priorityClassName": "cpu-only"})
    assert not counts(quota, {})


def test_defaults_state_every_request_that_a_quota_counts() -> None:
    recording = run()
    (limits,) = of_team(recording, "core/v1:LimitRange", "vision").inputs["spec"]["limits"]
    counted = {
        key.removeprefix("requests.")
        for quota in quotas(recording, "vision").values()
        for key in quota["hard"]
        if key.startswith("requests.") and key != "requests.storage"  # of claims
    }
    assert limits["type"] == "Container"
    assert set(limits["defaultRequest"]) == counted
    assert "default" not in limits  # no limit for who stated none


def test_network_is_closed_but_for_what_is_named() -> None:
    found = policies(run())
    assert found["default-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert set(found) == {
        "default-deny",
        "allow-within-team",
        "allow-dns",
        "allow-object-store",
        "allow-egress-proxy",
        "allow-pod-identity",
        "allow-mlflow",
    }
    assert all(spec["podSelector"] == {} for spec in found.values())
    assert [name for name, spec in found.items() if spec.get("ingress")] == ["allow-within-team"]


def test_ranks_talk_to_each_other_within_the_namespace_only() -> None:
    spec = policies(run())["allow-within-team"]
    assert spec["ingress"] == [{"from": [{"podSelector": {}}]}]
    assert spec["egress"] == [{"to": [{"podSelector": {}}]}]


def test_egress_goes_to_dns_https_pod_identity_and_mlflow() -> None:
    found = policies(run())
    (dns,) = found["allow-dns"]["egress"]
    assert dns["to"] == [
        {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
            "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
        }
    ]
    assert [(port["protocol"], port["port"]) for port in dns["ports"]] == [("UDP", 53), ("TCP", 53)]
    (store,) = found["allow-object-store"]["egress"]
    assert store["to"] == [{"ipBlock": {"cidr": cidr}} for cidr in STORE]
    assert [port["port"] for port in store["ports"]] == [443]
    (proxy,) = found["allow-egress-proxy"]["egress"]
    assert proxy["to"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "egress-proxy"}}}]
    assert [port["port"] for port in proxy["ports"]] == [3128]
    assert "allow-https" not in found
    (identity,) = found["allow-pod-identity"]["egress"]
    assert identity["to"] == [{"ipBlock": {"cidr": "169.254.170.23/32"}}]
    assert [port["port"] for port in identity["ports"]] == [80]
    (mlflow,) = found["allow-mlflow"]["egress"]
    assert mlflow["to"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "mlflow"}}}]
    assert [port["port"] for port in mlflow["ports"]] == [5000]


def test_its_ground_says_how_training_pods_get_an_identity() -> None:
    role = {"identity.example.com/role": "vision"}
    recording = run(
        teams=[{**TEAMS[0], "service_account_annotations": role}, TEAMS[1]], addresses=addresses(identity=[])
    )
    accounts = {
        account.inputs["metadata"]["namespace"]: account.inputs["metadata"]
        for account in recording.of_type("kubernetes:core/v1:ServiceAccount")
    }
    assert accounts["team-vision"]["annotations"] == role
    assert "annotations" not in accounts["team-speech"]
    assert "allow-pod-identity" not in policies(recording)


def test_without_a_proxy_the_internet_is_open_and_the_network_is_not() -> None:
    args = {key: value for key, value in arguments().items() if key != "egress_proxy"}
    (https,) = policies(record(lambda: TeamNamespaces("teams", args)))["allow-https"]["egress"]  # type: ignore[arg-type]
    inside = ["10.0.0.0/16", "172.20.0.0/16", "169.254.0.0/16"]
    assert https["to"] == [{"ipBlock": {"cidr": "0.0.0.0/0", "except": inside}}]
    assert [port["port"] for port in https["ports"]] == [443]


def test_a_store_without_addresses_is_nobody_and_not_everybody() -> None:
    found = policies(run(addresses=addresses(object_store=[])))["allow-object-store"]["egress"]
    assert [rule["to"] for rule in found] == [[{"ipBlock": {"cidr": "192.0.2.0/32"}}]]


def test_without_mlflow_there_is_no_way_to_it() -> None:
    recording = record(lambda: TeamNamespaces("teams", {"teams": arguments()["teams"]}))
    assert "allow-mlflow" not in policies(recording)


def test_service_account_has_no_token() -> None:
    account = of_team(run(), "core/v1:ServiceAccount", "speech").inputs
    assert account["metadata"] == {"name": "trainer", "namespace": "team-speech"}
    assert account["automountServiceAccountToken"] is False


def test_members_have_their_own_namespace_and_no_wildcards() -> None:
    recording = run()
    binding = of_team(recording, "rbac.authorization.k8s.io/v1:RoleBinding", "vision").inputs
    assert binding["subjects"] == [{"kind": "Group", "name": "team:vision", "apiGroup": "rbac.authorization.k8s.io"}]
    role = of_team(recording, "rbac.authorization.k8s.io/v1:Role", "vision").inputs
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    granted = {
        (group, resource): rule["verbs"]
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    for kind in (("batch", "jobs"), ("jobset.x-k8s.io", "jobsets"), ("trainer.kubeflow.org", "trainjobs")):
        assert {"create", "delete", "watch"} <= set(granted[kind])
    assert granted["", "pods/log"] == ["get"]
    assert set(granted["kueue.x-k8s.io", "localqueues"]) == {"get", "list", "watch"}
    assert not {("", "secrets"), ("", "resourcequotas/status"), ("networking.k8s.io", "networkpolicies")} & set(granted)


def test_no_role_has_wildcards_or_rights_to_more_rights() -> None:
    recording = run()
    roles = recording.of_type("kubernetes:rbac.authorization.k8s.io/v1:Role") + recording.of_type(
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
    )
    assert len(roles) == 3
    for role in roles:
        for rule in role.inputs["rules"]:
            assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
            assert not {"bind", "escalate", "impersonate"} & set(rule["verbs"])
            assert not {"roles", "rolebindings", "secrets"} & set(rule["resources"])


def test_cluster_wide_members_only_read() -> None:
    recording = run()
    role = recording.one("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole").inputs
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    binding = recording.one("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding").inputs
    assert [subject["name"] for subject in binding["subjects"]] == ["team:vision", "team:speech"]


def test_namespace_output_is_known_at_preview_and_brings_quota_and_defaults() -> None:
    def program() -> None:
        nodes = core.ConfigMap("cluster")
        teams = TeamNamespaces("teams", arguments(), pulumi.ResourceOptions(depends_on=nodes))
        assert teams.service_account == "trainer"
        core.ConfigMap("job", metadata={"namespace": teams.namespaces["vision"]})

    recording = record(program, preview=True)
    job = recording.one("kubernetes:core/v1:ConfigMap", "job")
    assert job.inputs["metadata"]["namespace"] == "team-vision"
    waits = depends_on(recording, job)
    assert {"teams-vision-namespace", "teams-vision-quota", "teams-vision-defaults", "cluster"} <= waits
    assert {"teams-vision-cpu-only", "teams-cpu-only"} <= waits
    assert not any(name.startswith("teams-speech") for name in waits)


def test_everything_in_a_namespace_waits_for_it() -> None:
    recording = run()
    for resource in recording.resources:
        namespace = resource.inputs.get("metadata", {}).get("namespace")
        if namespace is not None:
            assert f"teams-{namespace.removeprefix('team-')}-namespace" in depends_on(recording, resource)


@pytest.mark.parametrize("key", ["name", "namespace"])
def test_two_teams_of_one_name_are_refused(key: str) -> None:
    teams = [TEAMS[0], {**TEAMS[1], key: TEAMS[0][key]}]
    with pytest.raises(ValueError, match=f"two teams have the {key} {TEAMS[0][key]}"):
        run(teams=teams)
