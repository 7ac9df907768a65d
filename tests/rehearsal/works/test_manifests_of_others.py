"""Manifests as their projects publish them: what they leave out and list besides does no harm, and slips are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.rehearsal.refusals.builders import findings, obj, resource
from tests.rehearsal.works.test_others_order import told
from trainyard.catalog import default_kubernetes_version
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.engine import invokes, synthesised
from trainyard.rehearsal.engine.project import StackConfig
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.engine.sdk_types import resource_class
from trainyard.rehearsal.findings import case_of
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.schema import check_schema

RBAC = "rbac.authorization.k8s.io"


def rules(*resources):
    return {rule for rule, _ in told(*resources)}


def definition(**extension):
    """The definition of a kind whose specification is `extension`."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", **extension}}}
    return obj(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", "tasks.example.com",
        spec={
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Task", "plural": "tasks"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "is_told"),
    [
        ("x-kubernetes-preserve-unknown-fields", False),
        ("x_kubernetes_preserve_unknown_fields", False),
        ("x-kubernetes-preserve-unknown-field", True),
        ("x-preserve-unknown-fields", True),
    ],
)
def test_extensions_of_a_schema_are_written_as_kubernetes_calls_them(key, is_told):
    import pulumi_kubernetes.apiextensions.v1  # noqa: F401

    made = replace(definition(**{key: True}), provider="")
    made = replace(made, type="kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition")
    found = {one.rule for one in check_schema([made], {made.type: resource_class(made.type)})}
    assert ("unknown-key" in found) is is_told


def test_references_of_a_schema_are_no_unknown_keys():
    made = replace(
        definition(**{"properties": {"a": {"$ref": "#/b"}}}),
        type="kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
    )
    assert list(check_schema([made], {made.type: resource_class(made.type)})) == []


@pytest.mark.parametrize(("key", "is_told"), [("status", False), ("statuss", True)])
def test_the_status_that_a_generator_writes_is_the_servers(key, is_told):
    made = replace(definition(), type="kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition")
    made = replace(made, inputs={**made.inputs, key: {"conditions": []}})
    found = [one.rule for one in check_schema([made], {made.type: resource_class(made.type)})]
    assert ("unknown-key" in found) is is_told


@pytest.mark.parametrize(("target", "is_told"), [(0, False), (8080, False), (70000, True), (-1, True)])
def test_a_target_port_of_zero_is_the_port(target, is_told):
    service = obj("v1", "Service", "web", "vision", spec={"ports": [{"port": 80, "targetPort": target}]})
    assert ("k8s-port" in rules(service)) is is_told


@pytest.mark.parametrize(("kind", "is_told"), [("DeploymentPatch", False), ("Deployment", True)])
def test_a_patch_has_a_part_of_what_its_kind_needs(kind, is_told):
    spec = {"template": {"spec": {"priorityClassName": "system-cluster-critical"}}}
    made = obj("apps/v1", "Deployment", "coredns", "kube-system", spec=spec)
    made = replace(made, type=made.type.replace("Deployment", kind), urn=made.urn.replace("Deployment", kind))
    assert ("k8s-required" in {one.rule for one in findings([made])}) is is_told


def role(*rules, kind="ClusterRole"):
    return obj(f"{RBAC}/v1", kind, "watcher", "" if kind == "ClusterRole" else "vision", rules=list(rules))


def rule(groups, resources, verbs, **more):
    return {"apiGroups": groups, "resources": resources, "verbs": verbs, **more}


READ = ["get", "list", "watch"]


@pytest.mark.parametrize(
    ("given", "told_as"),
    [
        # What was of another group once, and is allowed where it is now.
        ([rule([""], ["pods", "ingresses"], READ), rule(["networking.k8s.io"], ["ingresses"], READ)], ""),
        ([rule([""], ["pods", "ingresses"], READ), rule(["networking.k8s.io"], ["ingresses"], ["get"])], "warning"),
        ([rule([""], ["pods", "ingresses"], READ)], "warning"),
        ([rule([""], ["ingresses"], READ)], "error"),
        ([rule([""], ["configmaps", "configmaps/status"], READ)], "warning"),
        ([rule([""], ["configmaps/status"], READ)], "error"),
        ([rule([""], ["pods", "pods/logs"], READ)], "error"),  # a slip, whatever is beside it
        ([rule([""], ["pods", "configmap"], READ)], "error"),
    ],
)
def test_what_no_api_group_has_does_no_harm_beside_what_one_has(given, told_as):
    from tests.rehearsal.works.references.test_mistakes import findings
    from tests.rehearsal.works.test_others_order import CONTEXT

    found = [one.level for one in findings([role(*given)], CONTEXT) if one.rule == "reference-role-resource"]
    assert found == ([told_as] if told_as else [])


@pytest.mark.parametrize(
    ("verbs", "is_told"), [(["create", "post"], False), (["post"], True), (["get", "put", "create"], True)]
)
def test_a_verb_of_http_does_no_harm_beside_the_one_that_it_is(verbs, is_told):
    assert ("reference-role-verb" in rules(role(rule([""], ["pods/portforward"], verbs)))) is is_told


@pytest.mark.parametrize(
    ("resources", "verbs", "is_told"),
    [
        (["serviceaccounts/token"], ["create"], False),
        (["pods/eviction"], ["create"], False),
        (["serviceaccounts"], ["create"], True),
        (["serviceaccounts", "serviceaccounts/token"], ["create"], True),
    ],
)
def test_what_is_below_an_object_is_created_by_its_name(resources, verbs, is_told):
    found = rules(role(rule([""], resources, verbs, resourceNames=["cni-plugin"])))
    assert ("reference-role-names" in found) is is_told


@pytest.mark.parametrize(
    ("group", "is_told"),
    [
        ("scheduling.x-k8s.io", False),
        ("cluster.x-k8s.io", False),
        ("kueue.x-k8s.oi", True),
        ("networking.k8s.oi", True),
    ],
)
def test_groups_of_the_project_beside_kubernetes_are_no_slips(group, is_told):
    assert ("reference-role-group" in rules(role(rule([group], ["podgroups"], READ)))) is is_told


@pytest.mark.parametrize(("kind", "is_told"), [("RoleBinding", False), ("ClusterRoleBinding", True)])
def test_an_account_without_a_namespace_is_of_the_bindings(kind, is_told):
    where = "vision" if kind == "RoleBinding" else ""
    binding = obj(
        f"{RBAC}/v1", kind, "runner", where,
        roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"},
        subjects=[{"kind": "ServiceAccount", "name": "runner"}],
    )  # fmt: skip
    account = obj("v1", "ServiceAccount", "runner", "vision")
    assert ("k8s-subject" in rules(binding, account)) is is_told


def test_it_is_looked_for_in_the_bindings_namespace():
    binding = obj(
        f"{RBAC}/v1", "RoleBinding", "runner", "vision",
        roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"},
        subjects=[{"kind": "ServiceAccount", "name": "runer"}],
    )  # fmt: skip
    assert "k8s-reference" in rules(binding, obj("v1", "ServiceAccount", "runner", "vision"))


def controller(args, **probes):
    container = {
        "name": "controller", "image": "registry.example.com/controller:v1", "args": args,
        "ports": [{"containerPort": 8080}, {"containerPort": 8443}],
        **{name: {"httpGet": {"path": "/healthz", "port": port}} for name, port in probes.items()},
    }  # fmt: skip
    labels = {"app": "controller"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    return obj("apps/v1", "Deployment", "controller", "vision", spec=spec)


@pytest.mark.parametrize(
    ("probes", "is_told"),
    [
        ({"livenessProbe": 10254, "readinessProbe": 10254}, False),
        ({"livenessProbe": 10254, "readinessProbe": 8443}, True),
        ({"livenessProbe": 10254}, True),
        ({"livenessProbe": 4843, "readinessProbe": 4843}, True),  # the digits of 8443
    ],
)
def test_several_probes_of_one_port_are_above_suspicion(probes, is_told):
    assert ("reference-probe-port" in rules(controller(["--webhook=:8443"], **probes))) is is_told


@pytest.mark.parametrize(
    ("ready_for", "deadline", "is_told"), [(3, 60, False), (30, 60, False), (50, 60, True), (590, None, True)]
)
def test_a_short_deadline_is_the_authors_own(ready_for, deadline, is_told):
    made = controller([])
    inputs = {**made.inputs, "spec": {**made.inputs["spec"], "minReadySeconds": ready_for}}
    inputs["spec"] |= {"progressDeadlineSeconds": deadline} if deadline else {}
    assert ("programs-deadline" in rules(replace(made, inputs=inputs))) is is_told


@pytest.mark.parametrize(
    ("parent", "is_told"),
    [
        ("urn:pulumi:t::p::kubernetes:yaml:ConfigFile::install.yaml", False),
        ("urn:pulumi:t::p::acme:Part$kubernetes:yaml:ConfigGroup$kubernetes:yaml:ConfigFile::install.yaml", False),
        ("urn:pulumi:t::p::kubernetes:helm.sh/v3:Chart::web", False),
        ("urn:pulumi:t::p::kubernetes:yaml/v2:ConfigGroup::install", False),
        ("urn:pulumi:t::p::kubernetes:helm.sh/v4:Chart::web", False),
        ("urn:pulumi:t::p::kubernetes:kustomize/v2:Directory::web", False),
        ("urn:pulumi:t::p::acme:Part::web", True),
    ],
)
def test_nobody_gives_an_order_to_what_one_file_has(parent, is_told):
    namespace = replace(obj("v1", "Namespace", "training"), parent=parent)
    settings = replace(obj("v1", "ConfigMap", "settings", "training", data={"a": "b"}), parent=parent)
    assert ("reference-namespace-order" in rules(namespace, settings)) is is_told


@pytest.mark.parametrize("token", ["kubernetes:helm:template", "kubernetes:kustomize:directory"])
def test_what_a_chart_or_a_kustomization_makes_is_not_known(token):
    assert invokes.invoke(token, {"directory": "app"}, synthesised.Place())["result"] is UNKNOWN


CREDENTIALS = "eyJ2ZXJpZmllciI6IHsic2FsdCI6ICJ4In19"  # '{"verifier": {"salt": "x"}}'


@pytest.mark.parametrize(("key", "is_told"), [("1password-credentials.json", False), ("credentials.json", True)])
def test_a_file_that_its_reader_decodes_once_more(key, is_told):
    secret = obj("v1", "Secret", "connect", "vision", stringData={key: CREDENTIALS})
    assert ("programs-encoded" in rules(secret)) is is_told


def monitor(*honours):
    endpoints = [
        {"port": f"port-{index}", **({"honorLabels": True} if one else {})} for index, one in enumerate(honours)
    ]
    chosen = {"matchLabels": {"app.kubernetes.io/name": "kube-state-metrics"}}
    return obj(
        "monitoring.coreos.com/v1", "ServiceMonitor", "state", "vision",
        spec={"selector": chosen, "endpoints": endpoints},
    )  # fmt: skip


def watching(expression):
    group = {"name": "pods", "rules": [{"alert": "Failing", "expr": expression}]}
    return obj("monitoring.coreos.com/v1", "PrometheusRule", "pods", "vision", spec={"groups": [group]})


@pytest.mark.parametrize(("honours", "is_told"), [((True, False), False), ((True,), False), ((False,), True)])
def test_an_endpoint_that_tells_of_the_exporter_itself_keeps_the_labels_of_its_target(honours, is_told):
    asked = watching('sum by (namespace) (kube_pod_status_phase{phase="Failed"}) > 0')
    assert ("programs-scrape" in rules(monitor(*honours), asked)) is is_told


@pytest.mark.parametrize(
    ("metric", "is_told"),
    [
        ("container_memory_swap", False),
        ("container_cpu_cfs_periods_total", False),
        ("prometheus_notifications_sent_total", False),
        ("prometheus_remote_storage_samples_total", False),
        ("prometheus_operator_reconcile_errors_total", False),
        ("container_memory_working_set_byte", True),
        ("prometheus_notifications_droped_total", True),
        ("prometheus_operator_reconcile_error_total", True),
    ],
)
def test_programs_that_are_watched_export_more_than_is_often_asked_for(metric, is_told):
    assert ("watching-metric" in rules(watching(f"rate({metric}[5m]) > 0"))) is is_told


@pytest.mark.parametrize(
    ("cohort", "named", "is_told"), [("all-teams", False, False), ("all-teams", True, True), (None, False, True)]
)
def test_a_queue_that_nobody_uses_lends_to_its_cohort(cohort, named, is_told):
    flavor = obj("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "spot", spec={})
    quota = {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "40"}]}
    spec = {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}]}
    spec |= {"cohortName": cohort} if cohort else {}
    queue = obj("kueue.x-k8s.io/v1beta2", "ClusterQueue", "spot", spec=spec)
    local = obj("kueue.x-k8s.io/v1beta2", "LocalQueue", "spot", "vision", spec={"clusterQueue": "spot"})
    found = rules(flavor, queue, *([local] if named else []))
    assert ("kueue-namespace-selector" in found) is is_told


def job_set(mounted, **spec):
    container = {"name": "node", "image": "registry.example.com/node:v1"}
    container |= {"volumeMounts": [{"name": mounted, "mountPath": "/data"}]} if mounted else {}
    pod = {"restartPolicy": "Never", "containers": [container]}
    job = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    return obj("jobset.x-k8s.io/v1alpha2", "JobSet", "node", "vision", spec={"replicatedJobs": [job], **spec})


@pytest.mark.parametrize(("mounted", "is_told"), [("checkpoints", False), ("checkpoint", True)])
def test_pods_of_a_job_set_mount_the_claims_that_it_makes(mounted, is_told):
    claim = {"metadata": {"name": "checkpoints"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    made = job_set(mounted, volumeClaimPolicies=[{"templates": [claim]}])
    assert ("k8s-volume-mount" in rules(made)) is is_told


@pytest.mark.parametrize(("rule", "is_told"), [({"action": "FailJobSet"}, False), ({"name": "stop"}, True)])
def test_a_rule_of_failures_has_a_name_of_its_webhook(rule, is_told):
    assert ("k8s-required" in rules(job_set("", failurePolicy={"rules": [rule]}))) is is_told


@pytest.mark.parametrize(
    ("given", "told_as"),
    [
        ([rule([""], ["configmaps"], READ), rule([""], ["configmaps/status"], ["get", "update"])], "warning"),
        ([rule([""], ["secrets"], READ), rule([""], ["configmaps/status"], ["get", "update"])], "error"),
        ([rule([""], ["pods"], READ), rule([""], ["pods/logs"], READ)], "error"),  # a slip
    ],
)
def test_a_status_of_what_another_rule_allows_does_no_harm(given, told_as):
    from tests.rehearsal.works.references.test_mistakes import findings
    from tests.rehearsal.works.test_others_order import CONTEXT

    assert [one.level for one in findings([role(*given)], CONTEXT) if one.rule == "reference-role-resource"] == [
        told_as
    ]


def entrance(service):
    backend = {"service": {"name": service, "port": {"number": 8000}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    return obj("networking.k8s.io/v1", "Ingress", "llm", "vision", spec={"rules": [{"http": {"paths": paths}}]})


@pytest.mark.parametrize(
    ("api", "kind", "service", "is_told"),
    [
        ("ray.io/v1", "RayService", "llm-serve-svc", False),
        ("ray.io/v1", "RayService", "llm", False),
        ("serving.kserve.io/v1beta1", "InferenceService", "llm-predictor", False),
        ("ray.io/v1", "RayService", "other-serve-svc", True),
        ("ray.io/v1", "RayService", "llmserve", True),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", "llm-serve-svc", True),  # makes nothing
        ("external-secrets.io/v1", "ExternalSecret", "llm-serve-svc", True),  # makes secrets
    ],
)
def test_a_programs_own_object_has_others_made_after_it(api, kind, service, is_told):
    spaces = [obj("v1", "Namespace", "vision")]
    made = obj(api, kind, "llm", "vision", spec={"clusterQueue": "gpu"})
    assert ("reference-missing" in rules(*spaces, made, entrance(service))) is is_told


@pytest.mark.parametrize(
    ("api", "kind", "spec", "is_told"),
    [
        ("ray.io/v1", "RayCluster", {"workerGroupSpecs": [{"replicas": 2}]}, False),
        ("postgresql.cnpg.io/v1", "Cluster", {"instances": 3}, False),
        ("external-secrets.io/v1", "ExternalSecret", {"refreshInterval": "1h"}, True),  # runs nothing
    ],
)
def test_pods_of_a_programs_own_object_have_labels_that_it_gives(api, kind, spec, is_told):
    service = obj("v1", "Service", "head", "vision", spec={"selector": {"app": "head"}, "ports": [{"port": 6379}]})
    space = obj("v1", "Namespace", "vision")
    found = rules(space, controller([]), service, obj(api, kind, "llm", "vision", spec=spec))
    assert ("reference-service-selects-nothing" in found) is is_told


@pytest.mark.parametrize(
    ("api", "kind", "is_told"),
    [
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease", False),
        ("argoproj.io/v1alpha1", "Application", False),
        ("argoproj.io/v1alpha1", "Workflow", True),
    ],
)
def test_what_a_repository_says_is_made_where_nobody_sees_it(api, kind, is_told):
    space, release = obj("v1", "Namespace", "vision"), obj(api, kind, "apps", "flux-system", spec={"interval": "5m"})
    assert ("reference-missing" in rules(space, release, entrance("llm-serve-svc"))) is is_told


@pytest.mark.parametrize(
    ("args", "is_told"),
    [(["--port", "18080"], False), (["--listen=:18080"], False), (["--port", "118080"], True), ([], True)],
)
def test_a_program_listens_on_the_port_that_it_is_told(args, is_told):
    spec = {"selector": {"app": "controller"}, "ports": [{"port": 80, "targetPort": 18080}]}
    service = obj("v1", "Service", "controller", "vision", spec=spec)
    assert ("reference-port" in rules(service, controller(args))) is is_told


@pytest.mark.parametrize(
    ("version", "is_assumed", "field", "told_of"),
    [
        ("1.34", True, "schedulingGroup", set()),  # of 1.36
        ("1.34", False, "schedulingGroup", {"k8s-unknown-field"}),
        ("1.34", True, "schedulingGroups", {"k8s-unknown-field"}),
    ],
)
def test_what_a_later_version_takes_is_right_where_nothing_says_which_it_is(version, is_assumed, field, told_of):
    spec = {"containers": [{"name": "a", "image": "registry.example.com/a:v1"}], field: {"podGroupName": "gang"}}
    context = ValueContext(kubernetes_version=version, region="", version_is_assumed=is_assumed)
    found = check_values([obj("v1", "Pod", "worker", "vision", spec=spec)], context)
    assert {one.rule for one in found if one.rule.startswith("k8s-unknown")} == told_of


@pytest.mark.parametrize(
    ("api", "is_assumed", "is_told"),
    [
        ("scheduling.k8s.io/v1alpha2", True, False),  # of 1.36 alone
        ("scheduling.k8s.io/v1alpha2", False, True),
        ("scheduling.k8s.io/v1alpha9", True, True),
    ],
)
def test_so_is_an_api_that_a_later_version_serves(api, is_assumed, is_told):
    group = {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 4}}}
    made = obj(api, "Workload", "gang", "vision", spec={"podGroupTemplates": [group]})
    context = ValueContext(kubernetes_version="1.35", region="", version_is_assumed=is_assumed)
    assert ("k8s-api-version" in {one.rule for one in check_values([made], context)}) is is_told


@pytest.mark.parametrize(
    ("type_", "inputs", "said"),
    [
        ("gcp:container/cluster:Cluster", {"minMasterVersion": "1.33.4-gke.1350000"}, ("1.33", False)),
        ("aws:eks/cluster:Cluster", {"version": "1.36"}, ("1.36", False)),
        ("gcp:container/cluster:Cluster", {"releaseChannel": {"channel": "REGULAR"}}, ("", True)),
        ("gcp:container/cluster:Cluster", {"minMasterVersion": "latest"}, ("", True)),
    ],
)
def test_a_cluster_says_its_version(type_, inputs, said):
    config = StackConfig("p", "t", Path(), Path("Pulumi.t.yaml"), Path(), {}, frozenset())
    context = case_of(config, {}, Recording(False, [resource(type_, "one", inputs)])).context
    version, is_assumed = said
    assert context.version_is_assumed is is_assumed
    assert context.kubernetes_version == (version or default_kubernetes_version()[0])


@pytest.mark.parametrize(
    ("reference", "is_told"),
    [
        ({"kind": "ClusterRole", "name": "view"}, False),
        ({"apiGroup": RBAC, "name": "view"}, True),
        ({"apiGroup": RBAC, "kind": "ClusterRole"}, True),
    ],
)
def test_a_role_is_of_its_group_where_none_is_named(reference, is_told):
    account = obj("v1", "ServiceAccount", "runner", "vision")
    subjects = [{"kind": "ServiceAccount", "name": "runner", "namespace": "vision"}]
    binding = obj(f"{RBAC}/v1", "RoleBinding", "runner", "vision", roleRef=reference, subjects=subjects)
    assert bool({"k8s-required", "k8s-role"} & rules(account, binding)) is is_told
