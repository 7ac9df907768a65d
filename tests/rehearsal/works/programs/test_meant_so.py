"""What looks like a mistake and is somebody's way of working is no error; beside each stands what is one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check
from trainyard.rehearsal.works.references.check import check as check_references


def told(*resources: Any) -> list[str]:
    """Levels and rules of what is told of a program of somebody else's."""
    stack = Stack(list(resources), CONTEXT)
    check(stack)
    return [f"{finding.level} {finding.rule}" for finding in stack.findings]


def told_of_names(*resources: Any) -> list[str]:
    stack = Stack(list(resources), CONTEXT)
    check_references(stack)
    return [f"{finding.level} {finding.rule}" for finding in stack.findings]


def gang(*command: str, pods: int = 4, **env: str) -> Any:
    """An indexed job whose pods find each other by name."""
    container = {
        "name": "train", "image": "acme/train:1", "command": list(command),
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }  # fmt: skip
    spec = {"restartPolicy": "Never", "subdomain": "sweep", "containers": [container]}
    return obj(
        "batch/v1", "Job", "sweep", "vision",
        spec={"parallelism": pods, "completions": pods, "completionMode": "Indexed", "template": {"spec": spec}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("torchrun", "--standalone", "--nnodes=1", "--nproc-per-node=8", "train.py"), []),
        (("torchrun", "--nnodes=4", "train.py"), []),
        (("torchrun", "--nnodes=3", "train.py"), ["error programs-gang"]),
    ],
)
def test_a_sweep_is_as_many_trainings_as_pods(command, found):
    assert told(gang(*command)) == found


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("sweep-0.sweep", []),
        ("rendezvous.vision.svc.cluster.local", []),
        ("rendezvous.vision", []),
        ("rendezvous.language.svc.cluster.local", ["error programs-gang"]),
        ("sweep-0.weep", ["error programs-gang"]),
    ],
)
def test_the_first_rank_may_be_found_by_a_service(head, found):
    service = obj("v1", "Service", "rendezvous", "vision", spec={"selector": {"rank": "0"}, "ports": [{"port": 29500}]})
    assert [one for one in told(service, gang("python", "train.py", MASTER_ADDR=head)) if "gang" in one] == found


@pytest.mark.parametrize(
    ("route", "found"),
    [
        ({"matchers": ['alertname="KubeSchedulerDown"', 'severity="critical"']}, []),
        ({"matchers": ['alertname="KubeSchedulerDown", severity="critical"']}, []),
        ({"match": {"severity": "critical"}, "match_re": {"namespace": "dev-.*"}}, []),
        ({"match": [{"severity": "critical"}]}, []),
        ({"matchers": ['severity="critical"']}, ["warning reference-alert-route"]),
        ({"matchers": ['severity=~"critical|page"']}, ["warning reference-alert-route"]),
        ({"match": {"severity": "critical"}}, ["warning reference-alert-route"]),
    ],
)
@pytest.mark.parametrize("above", [{}, {"matchers": ['namespace="dev"']}])
def test_one_alert_that_is_always_false_is_sent_nowhere(route, found, above):
    inner = {"routes": [{"receiver": "null", **route}]}
    routes = {"routes": [{"receiver": "pager", **above, **inner}]} if above else inner
    config = {"receivers": [{"name": "null"}, {"name": "pager", "webhook_configs": [{"url": "https://pager.example"}]}],
              "route": {"receiver": "pager", **routes}}  # fmt: skip
    release = resource(
        "kubernetes:helm.sh/v3:Release", "monitoring",
        {"chart": "kube-prometheus-stack", "namespace": "monitoring", "values": {"alertmanager": {"config": config}}},
    )  # fmt: skip
    found = [] if above else found
    assert [one for one in told_of_names(release) if "alert-route" in one] == found


BUCKETS = [resource("aws:s3/bucket:Bucket", name, {"bucket": name}, name) for name in ("acme-models-v2", "data-eu")]
GCS = [resource("gcp:storage/bucket:Bucket", name, {"name": name}, name) for name in ("acme-models-v2", "data-eu")]


def trail(bucket: str) -> Any:
    selector = {"field": "resources.ARN", "startsWiths": [f"arn:aws:s3:::{bucket}/"]}
    return resource("aws:cloudtrail/trail:Trail", "trail", {"advancedEventSelectors": [{"fieldSelectors": [selector]}]})


def mounted(bucket: str) -> Any:
    return obj(
        "v1", "PersistentVolume", "data",
        spec={"csi": {"driver": "gcsfuse.csi.storage.gke.io", "volumeHandle": bucket}},
    )  # fmt: skip


def linked(prefix: str) -> list[Any]:
    held = resource(
        "aws:s3/bucketObjectv2:BucketObjectv2", "shard", {"bucket": "acme-models-v2", "key": "corpus-v2/shard-0"}
    )
    link = {"dataRepositoryPath": f"s3://acme-models-v2/{prefix}", "batchImportMetaDataOnCreate": True}
    return [held, resource("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "link", link)]


def tailed(namespace: str) -> list[Any]:
    text = f"[SERVICE]\n    flush 1\n[INPUT]\n    name tail\n    path /var/log/containers/*_{namespace}_*.log\n"
    container = {
        "name": "fluent-bit", "image": "acme/fluent-bit:1", "volumeMounts": [
            {"name": "logs", "mountPath": "/var/log"}, {"name": "conf", "mountPath": "/fluent-bit/etc"}]}  # fmt: skip
    volumes = [{"name": "logs", "hostPath": {"path": "/var/log"}}, {"name": "conf", "configMap": {"name": "conf"}}]
    spec = {"containers": [container], "volumes": volumes}
    labels = {"app": "logs"}
    return [
        obj("v1", "Namespace", "team-speech-v2"),
        obj("v1", "Namespace", "logs"),
        obj("v1", "ConfigMap", "conf", "logs", data={"fluent-bit.conf": text}),
        obj("apps/v1", "DaemonSet", "logs", "logs", spec={
            "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ([*BUCKETS, trail("acme-models-v2")], []),
        ([*BUCKETS, trail("acme-models-v1")], []),
        ([*BUCKETS, trail("data-us")], []),
        ([*BUCKETS, trail("acme-modles-v2")], ["warning programs-bucket"]),
        ([*GCS, mounted("acme-models-v1")], []),
        ([*GCS, mounted("data-us")], []),
        ([*GCS, mounted("acme-model-v2")], ["warning programs-bucket-mount"]),
        (linked("corpus-v2"), []),
        (linked("corpus-v1"), []),
        (linked("corpus-2v"), ["warning programs-directory"]),
        (tailed("team-speech-v2"), []),
        (tailed("team-speech-v1"), []),
        (tailed("team-speach-v2"), ["warning programs-fluent-bit"]),
    ],
)
def test_the_next_of_numbered_names_is_another_thing(resources, found):
    assert told(*resources) == found


@pytest.mark.parametrize("type_", ["aws:s3/bucket:Bucket", "gcp:storage/bucket:Bucket"])
@pytest.mark.parametrize(
    ("name", "found"), [("acme-demo-data-0a1b2c3d", []), ("acme-demo-date", ["error programs-bucket"])]
)
def test_a_bucket_whose_name_the_engine_ends_is_made(type_, name, found):
    """Where no policy speaks of it either."""
    key, scheme = ("bucket", "s3") if type_.startswith("aws:") else ("name", "gs")
    made = resource(type_, "acme-demo-data", {}, "acme-demo-data")
    made = replace(made, outputs={key: "acme-demo-data-0a1b2c3d"})
    assert told(made, pod_of(container=told_env(DATA_URI=f"{scheme}://{name}/teams/vision"))) == found


@pytest.mark.parametrize(
    ("group", "found"),
    [
        ("/aws/eks/acme-green/cluster", []),
        ("/aws/eks/acme-v1/cluster", []),
        ("/aws/eks/amce-v2/cluster", ["warning reference-log-group"]),
    ],
)
def test_the_logs_of_another_cluster_are_another_things(group, found):
    made = [
        resource("aws:eks/cluster:Cluster", "c", {"name": "acme-v2", "enabledClusterLogTypes": ["audit"]}),
        resource("aws:cloudwatch/logGroup:LogGroup", "own", {"name": "/aws/eks/acme-v2/cluster"}),
        resource("aws:cloudwatch/logGroup:LogGroup", "other", {"name": group}),
    ]
    assert [one for one in told_of_names(*made) if "log-group" in one] == found


def pod_of(kind: str = "Deployment", name: str = "web", labels: Any = None, **given: Any) -> Any:
    """An object with pods of one container, with what of them is given: `spec`, `container`, `pod`."""
    body = {"name": "main", "image": "acme/main:1", **given.get("container", {})}
    own = labels or {"app": name}
    template = {"metadata": {"labels": own}, "spec": {"containers": [body], **given.get("pod", {})}}
    spec = {"selector": {"matchLabels": own}, "template": template, **given.get("spec", {})}
    return obj("batch/v1" if kind == "Job" else "apps/v1", kind, name, "web", spec=spec)


def told_env(**env: str) -> dict[str, Any]:
    return {"env": [{"name": name, "value": value} for name, value in env.items()]}


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({"NO_PROXY": "localhost,kubernetes.default.svc"}, []),
        ({"no_proxy": ".svc,kubernetes.default.svc"}, []),
        ({"API": "https://kubernetes.default.svc"}, ["error programs-never"]),
    ],
)
def test_names_past_a_proxy_are_not_looked_up(env, found):
    assert told(pod_of("DaemonSet", pod={"hostNetwork": True}, container=told_env(**env))) == found


KEEPER = {"command": ["python", "-m", "keepers.idle"]}


@pytest.mark.parametrize(
    ("container", "found"),
    [
        ({"command": ["jq"], "args": ['{"a": .b}']}, []),
        ({"args": ['{"port": $(PORT)}']}, []),
        ({"args": ['{"grace_seconds": 0}']}, []),
        ({**KEEPER, "args": ['{"grace_seconds": 60}']}, []),
        ({**KEEPER, "args": ['{"grace_seconds": 0}']}, ["error programs-never"]),
        ({**KEEPER, "args": ['{"grace_seconds": 60 "idle_seconds": 60}']}, ["error programs-never"]),
    ],
)
def test_only_our_own_programs_arguments_are_judged(container, found):
    assert told(pod_of(container=container)) == found


def colour(name: str, replicas: int) -> Any:
    return pod_of(name=name, labels={"app": "web", "colour": name}, spec={"replicas": replicas})


def service_of(**selector: str) -> Any:
    return obj("v1", "Service", "web", "web", spec={"selector": selector, "ports": [{"port": 80}]})


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ([colour("blue", 2), colour("green", 0), service_of(app="web")], ["warning programs-never"]),
        ([colour("blue", 2), colour("green", 0), service_of(colour="blue")], ["warning programs-never"]),
        ([colour("blue", 2), colour("green", 0), service_of(colour="green")], ["error programs-never"]),
        ([colour("green", 0), service_of(app="web")], ["error programs-never"]),
    ],
)
def test_of_two_colours_one_is_off(resources, found):
    assert [one for one in told(*resources) if "never" in one] == found


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"parallelism": 0}, ["warning programs-never"]),
        ({"completions": 0}, ["error programs-never"]),
        ({"suspend": True}, ["warning programs-switched-off"]),
        ({}, []),
    ],
)
def test_a_job_may_be_paused(spec, found):
    assert told(pod_of("Job", spec=spec, pod={"restartPolicy": "Never"})) == found


@pytest.mark.parametrize(
    ("user", "mode", "found"),
    [(1001, "0755", ["warning programs-mount"]), (1001, "0777", []), (1000, "0755", [])],
)
def test_a_reader_comes_in_by_an_access_point_of_its_own(user, mode, found):
    made = {"ownerUid": 1000, "ownerGid": 1000, "permissions": mode}
    point = {"posixUser": {"uid": user, "gid": user}, "rootDirectory": {"path": "/data", "creationInfo": made}}
    assert told(resource("aws:efs/accessPoint:AccessPoint", "reader", point)) == found


PROGRAMS = {
    "a mapping": "print(json.dumps({'gang': name}))",
    "arguments": "print(json.dumps(dict(gang=name)))",
    "a class": "@dataclass\nclass Line:\n    gang: str\n",
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("field", "found"), [("gang", []), ("team", ["error programs-filter"])])
def test_a_field_is_written_by_whatever_name_a_program_has_for_it(program, field, found):
    pods = 'resource.labels.namespace_name="web" AND resource.labels.pod_name=~"^web-.*"'
    metric = {"filter": f'{pods} AND jsonPayload.{field}="a"'}
    volume = {"volumes": [{"name": "code", "configMap": {"name": "code"}}]}
    made = [
        obj("v1", "ConfigMap", "code", "web", data={"main.py": PROGRAMS[program]}),
        pod_of(name="web", pod=volume),
        resource("gcp:logging/metric:Metric", "m", metric),
    ]
    assert told(*made) == found


def archived(bucket: str, days: int, kind: str = "GLACIER") -> list[Any]:
    rule = {"id": "old", "status": "Enabled", "filter": {"prefix": ""},
            "transitions": [{"days": days, "storageClass": kind}]}  # fmt: skip
    return [
        resource("aws:s3/bucket:Bucket", "b", {"bucket": bucket}, bucket),
        resource("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "l",
                 {"bucket": bucket, "rules": [rule]}),
        obj("v1", "ConfigMap", "places", "default", data={"WORK": f"s3://{bucket}/runs"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("days", "kind", "found"),
    [(90, "GLACIER", ["warning programs-kept"]), (90, "GLACIER_IR", []), (365, "DEEP_ARCHIVE", [])],
)
def test_old_checkpoints_may_be_archived(days, kind, found):
    assert told(*archived("acme-checkpoints", days, kind)) == found


@pytest.mark.parametrize(
    ("kind", "found"),
    [("dynamic", []), ("pd-balanced", []), ("pd-fast", ["error programs-storage-class"])],
)
def test_a_class_whose_driver_chooses_the_disk(kind, found):
    made = obj("storage.k8s.io/v1", "StorageClass", "fast", provisioner="pd.csi.storage.gke.io",
               parameters={"type": kind}, volumeBindingMode="WaitForFirstConsumer")  # fmt: skip
    assert told(made) == found


@pytest.mark.parametrize(
    ("field", "found"), [("Tags", []), ("TrainingJobName", []), ("Labels", ["error programs-event"])]
)
def test_an_event_of_a_job_carries_its_tags(field, found):
    kind = "SageMaker Training Job State Change"
    pattern = json.dumps({"detail-type": [kind], "detail": {field: [{"exists": True}]}})
    rule = resource("aws:cloudwatch/eventRule:EventRule", "r", {"name": "jobs", "eventPattern": pattern}, "jobs")
    target = resource("aws:cloudwatch/eventTarget:EventTarget", "t", {"rule": "jobs", "arn": "arn:aws:sqs:::q"})
    assert told(rule, target) == found


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("Glue Job State Change", True),
        ("DataBrew Job State Change", True),
        ("SageMaker Model Package State Change", True),
        ("EC2 Spot Instance Interruption Warning", True),
        ("EC2 Spot Interruption Warning", False),
        ("Batch Jobs State Change", False),
        ("Batch Job Status Change", False),
        ("ECS Task StateChange", False),
        ("EC2 Instance State Change Notification", False),
    ],
)
def test_an_event_that_no_list_has_is_no_slip_of_another_one(kind, known):
    rule = resource("aws:cloudwatch/eventRule:EventRule", "r", {"eventPattern": json.dumps({"detail-type": [kind]})})
    assert ("error programs-pattern" in told(rule)) is not known


def logged(text: str) -> Any:
    return resource("gcp:logging/metric:Metric", "calls", {"name": "calls", "filter": text})


REAL = [
    "google.cloud.kms.v1.KeyManagementService.CreateCryptoKey", "google.api.serviceusage.v1.ServiceUsage.EnableService",
    "google.cloud.secretmanager.v1.SecretManagerService.AddSecretVersion", "GetIamPolicy", "storage.getIamPermissions",
    "google.logging.v2.ConfigServiceV2.CreateBucketAsync", "google.logging.v2.ConfigServiceV2.DeleteLink",
    "google.container.v1beta1.ClusterManager.UpdateCluster", "google.iam.v1.IAMPolicy.GetIamPolicy",
    "beta.compute.firewalls.patch", "google.login.LoginService.loginSuccess",
]  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_a_call_that_no_table_has_is_no_slip(name):
    assert told(logged(f'protoPayload.methodName="{name}"')) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('protoPayload.serviceName="login.googleapis.com"', []),
        ('protoPayload.serviceName="admin.googleapis.com"', []),
        ('protoPayload.serviceName="loging.googleapis.com"', ["error programs-filter"]),
        ('protoPayload.methodName:"SetIamPolic"', []),
        ('protoPayload.methodName="SetIamPolicys"', ["error programs-filter"]),
        ('protoPayload.methodName="google.container.v1.ClusterManager.UpdateClustre"', ["error programs-filter"]),
        ('protoPayload.methodName="google.container.v1beta1.ClusterManager.DeleteClusters"', ["error programs-filter"]),
    ],
)
def test_a_slip_in_the_name_of_a_call_is_one(text, found):
    assert told(logged(text)) == found


RUNS = 'metric.type="logging.googleapis.com/user/runs" AND resource.type="k8s_container"'


def alert(name: str, **conditions: Any) -> Any:
    inputs = {"displayName": name, "conditions": [conditions]}
    return resource("gcp:monitoring/alertPolicy:AlertPolicy", name, inputs)


def more_than(threshold: Any, of: str, comparison: str = "COMPARISON_GT") -> Any:
    asked = {"filter": of, "comparison": comparison, "duration": "0s", "thresholdValue": threshold}
    return alert("many", conditionThreshold=asked)


def silent(of: str) -> Any:
    return alert("silent", conditionAbsent={"filter": of, "duration": "3600s"})


FAILED, FINE = (f'{RUNS} AND metric.label.status="{status}"' for status in ("failed", "ok"))


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ((more_than(0, FAILED), silent(FINE)), []),
        ((more_than(0, FAILED), silent(RUNS)), []),
        ((more_than(0, RUNS), silent(FINE)), ["error programs-alert"]),
        ((more_than(0, RUNS), silent(RUNS)), ["error programs-alert"]),
        ((more_than(0, FAILED), silent(FAILED)), ["error programs-alert"]),
        ((more_than(0, f"{FAILED} OR {RUNS}"), silent(FINE)), []),
        ((more_than(UNKNOWN, RUNS), silent(RUNS)), []),
        ((more_than(None, RUNS), silent(RUNS)), ["error programs-alert"]),
        ((more_than(UNKNOWN, RUNS, "COMPARISON_LT"),), []),
        ((more_than(None, RUNS, "COMPARISON_LT"),), ["error programs-alert"]),
    ],
)
def test_one_of_two_alerts_always_fires_where_their_lines_are_the_same(resources, found):
    assert told(*resources) == found


@pytest.mark.parametrize(
    ("variable", "found"),
    [
        ("resource.label.project_id", []),
        ("resource.label.pod_name", []),
        ("resource.label.pod", ["error programs-alert"]),
        ("resource.label.node_name", ["error programs-alert"]),
        ("metric.label.run", []),
        ("resource.labels.project_id", ["error programs-alert"]),
        ("metric.labels.run", ["error programs-alert"]),
    ],
)
def test_a_message_names_labels_as_a_filter_does_not(variable, found):
    condition = {"filter": RUNS, "comparison": "COMPARISON_GT", "duration": "0s", "thresholdValue": 0}
    inputs = {"conditions": [{"conditionThreshold": condition}], "documentation": {"content": f"In ${{{variable}}}"}}
    extracted = {"name": "runs", "filter": 'resource.type="k8s_container"', "labelExtractors": {"run": "EXTRACT(x)"}}
    metric = resource("gcp:logging/metric:Metric", "runs", extracted)
    assert told(metric, resource("gcp:monitoring/alertPolicy:AlertPolicy", "says", inputs)) == found


@pytest.mark.parametrize(("threshold", "found"), [(0, ["error programs-alert"]), (UNKNOWN, [])])
def test_a_line_that_is_told_apart_by_labels_comes_once(threshold, found):
    metric = resource(
        "gcp:logging/metric:Metric",
        "runs",
        {"name": "runs", "filter": 'resource.type="k8s_container"', "labelExtractors": {"run": "EXTRACT(x)"}},
    )
    often = alert(
        "often",
        conditionThreshold={
            "filter": RUNS,
            "comparison": "COMPARISON_GT",
            "duration": "3600s",
            "thresholdValue": threshold,
            "aggregations": [{"alignmentPeriod": "60s"}],
        },
    )
    assert told(metric, often) == found


@pytest.mark.parametrize(
    ("topology", "chips", "pods", "found"),
    [
        ("2x4", "8", 5, []),
        ("2x4", "8", 1, []),
        ("4x4", "4", 4, []),
        ("4x4", "4", 3, ["error programs-slice"] * 2),
    ],
)
def test_pods_of_one_machine_wait_for_no_others(topology, chips, pods, found):
    container = {"name": "tune", "image": "acme/tune:1", "resources": {"limits": {"google.com/tpu": chips}}}
    spec = {"restartPolicy": "Never", "nodeSelector": {"cloud.google.com/gke-tpu-topology": topology}}
    job = obj(
        "batch/v1", "Job", "tune", "vision",
        spec={"parallelism": pods, "completions": pods, "template": {"spec": {**spec, "containers": [container]}}},
    )  # fmt: skip
    assert [one for one in told(job) if "slice" in one] == found


@pytest.mark.parametrize(
    ("aligner", "metric", "limit", "found"),
    [
        ("ALIGN_PERCENT_CHANGE", "kubernetes.io/container/uptime", -20, []),
        ("ALIGN_DELTA", "kubernetes.io/container/memory/used_bytes", 0, []),
        ("ALIGN_MEAN", "kubernetes.io/container/memory/used_bytes", 0, ["error programs-alert"]),
        ("ALIGN_PERCENT_CHANGE", "compute.googleapis.com/instance/cpu/utilization", 50, []),
        ("ALIGN_MEAN", "compute.googleapis.com/instance/cpu/utilization", 50, ["warning programs-alert"]),
    ],
)
def test_what_changes_goes_below_nothing(aligner, metric, limit, found):
    threshold = {
        "filter": f'metric.type="{metric}"', "comparison": "COMPARISON_LT", "thresholdValue": limit,
        "aggregations": [{"perSeriesAligner": aligner, "alignmentPeriod": "300s"}],
    }  # fmt: skip
    alert = resource(
        "gcp:monitoring/alertPolicy:AlertPolicy", "alert", {"conditions": [{"conditionThreshold": threshold}]}
    )
    assert [one for one in told(alert) if "programs-alert" in one] == found


@pytest.mark.parametrize(
    ("upstream", "found"),
    [([], ["warning gcp-repository"]), ([{"id": "images", "priority": 1, "repository": "images"}], [])],
)
def test_a_virtual_repository_may_be_filled_later(upstream, found):
    given = {"mode": "VIRTUAL_REPOSITORY", "virtualRepositoryConfig": {"upstreamPolicies": upstream}}
    assert told(resource("gcp:artifactregistry/repository:Repository", "all", given)) == found


@pytest.mark.parametrize(
    ("legacy", "supported", "found"),
    [
        (UNKNOWN, True, []),
        (UNKNOWN, False, []),
        (True, True, []),
        (False, True, ["error programs-lustre-port"]),
    ],
)
def test_a_port_that_is_not_known_yet_is_neither(legacy, supported, found):
    driver = {"enabled": True, "enableLegacyLustrePort": legacy}
    made = [
        resource("gcp:container/cluster:Cluster", "c", {"addonsConfig": {"lustreCsiDriverConfig": driver}}),
        resource("gcp:lustre/instance:Instance", "data", {"gkeSupportEnabled": supported}),
    ]
    assert [one for one in told(*made) if "lustre-port" in one] == found
