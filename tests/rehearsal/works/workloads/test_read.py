"""The one reader of pods: of objects, of charts with their values, of the jobs that runtimes make."""

from tests.rehearsal.refusals.builders import obj, resource
from trainyard.catalog.versions import add_on_pins, kubernetes_versions, pins
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ADD_ON, HELM_RELEASE
from trainyard.rehearsal.works.workloads import read as reader
from trainyard.rehearsal.works.workloads.charts import merged, table
from trainyard.rehearsal.works.workloads.read import workloads


def read(*resources):
    return workloads(Resources(resources))


def test_the_workloads_of_a_recording_are_read_once(monkeypatch):
    asked = []
    monkeypatch.setattr(reader, "of_charts", lambda resources: asked.append(resources) or [])
    resources = Resources([obj("apps/v1", "Deployment", "a", "x", spec={"replicas": 1, "template": {"spec": pod()}})])
    assert workloads(resources) == workloads(resources) != []
    assert asked == [resources]


def pod(**more):
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}], **more}


def test_each_kind_of_object_has_its_pods():
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod()}
    found = read(
        obj("apps/v1", "Deployment", "a", "x", spec={"replicas": 3, "template": template}),
        obj("apps/v1", "DaemonSet", "b", "x", spec={"template": template}),
        obj("batch/v1", "Job", "c", "x", spec={"parallelism": 4, "template": template}),
        obj("batch/v1", "CronJob", "d", "x", spec={"jobTemplate": {"spec": {"parallelism": 2, "template": template}}}),
        obj("v1", "Pod", "e", "x", metadata={"labels": {"app": "a"}}, spec=pod()),
    )
    assert [(one.kind, one.replicas) for one in found] == [
        ("Deployment", 3),
        ("DaemonSet", None),
        ("Job", 4),
        ("CronJob", 2),
        ("Pod", 1),
    ]
    assert {tuple((one.labels or {}).items()) for one in found} == {(("app", "a"),)}
    assert found[0].at("nodeSelector") == "spec.template.spec.nodeSelector"
    assert found[4].at("containers[0].image") == "spec.containers[0].image"


def runtime(name="torch", **spec):
    job = {"name": "node", "template": {"spec": {"template": {"spec": spec or pod(nodeSelector={"pool": "a"})}}}}
    return obj(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        name,
        spec={"mlPolicy": {"numNodes": 2}, "template": {"spec": {"replicatedJobs": [job]}}},
    )


def train_job(of="torch", **spec):
    return obj(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        "run",
        "team",
        metadata={"labels": {"kueue.x-k8s.io/queue-name": "default"}},
        spec={"runtimeRef": {"name": of}, **spec},
    )


def test_a_train_job_fills_its_runtime_in():
    container = {"name": "node", "image": "base", "resources": {"requests": {"cpu": "1"}}}
    wanted = {"limits": {"nvidia.com/gpu": "8"}}
    patch = {"nodeSelector": {"zone": "b"}, "tolerations": [{"key": "gpu"}]}
    job = {"name": "node", "template": {"spec": {"template": {"spec": patch}}}}
    template, run = read(
        runtime(containers=[container], nodeSelector={"pool": "a"}),
        train_job(
            trainer={"numNodes": 4, "resourcesPerNode": wanted, "image": "mine"},
            runtimePatches=[{"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}}}],
        ),
    )
    assert template.is_template
    assert template.namespace == ""
    assert (run.kind, run.replicas, run.queue, run.place) == ("TrainJob", 4, "default", "team/run")
    merged = {"requests": {"cpu": "1"}, **wanted}
    assert run.spec["containers"] == [{"name": "node", "image": "mine", "resources": merged}]
    assert run.spec["nodeSelector"] == {"pool": "a", "zone": "b"}
    assert run.spec["tolerations"] == [{"key": "gpu"}]


def test_a_train_job_has_its_runtime_s_nodes_and_none_without_a_recorded_runtime():
    assert [one.replicas for one in read(runtime(), train_job())] == [1, 2]
    assert [one.kind for one in read(runtime(), train_job(of="other"))] == ["ClusterTrainingRuntime"]


def release(chart, **values):
    return resource(HELM_RELEASE, "r", {"chart": chart, "name": "r", "namespace": "sys", "values": values})


def test_a_chart_s_values_place_its_pods():
    (found,) = read(
        release(
            "oci://registry.k8s.io/kueue/charts/kueue",
            controllerManager={"replicas": 2, "nodeSelector": {"pool": "system"}},
        )
    )
    assert (found.place, found.replicas) == ("sys/kueue-controller-manager", 2)
    assert found.spec["nodeSelector"] == {"pool": "system"}
    assert found.spec["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "512Mi"}
    assert found.at("nodeSelector") == "values.controllerManager.nodeSelector"


def test_a_chart_s_own_tolerations_are_replaced_and_its_switch_for_all_goes_first():
    (plugin,) = read(release("nvidia-device-plugin", tolerations=[{"key": "mine", "operator": "Exists"}]))
    assert plugin.spec["tolerations"] == [{"key": "mine", "operator": "Exists"}]
    assert plugin.offers == ("nvidia.com/gpu",)
    nodes = {one.name: one for one in read(release("aws-fsx-csi-driver", node={"tolerations": [{"key": "mine"}]}))}
    assert nodes["fsx-csi-node"].spec["tolerations"] == [{"operator": "Exists"}]
    off = release("aws-fsx-csi-driver", node={"tolerateAllTaints": False, "tolerations": [{"key": "mine"}]})
    nodes = {one.name: one for one in read(off)}
    assert nodes["fsx-csi-node"].spec["tolerations"] == [{"key": "mine"}]


def test_values_that_are_not_known_leave_the_place_unknown():
    unknown = resource(HELM_RELEASE, "r", {"chart": "kueue", "values": UNKNOWN})
    (found,) = read(unknown)
    assert found.spec["nodeSelector"] is UNKNOWN
    assert found.replicas is None


def test_an_add_on_reads_its_configuration():
    given = '{"nodeSelector": {"pool": "system"}, "replicaCount": 3}'
    (dns,) = read(resource(ADD_ON, "dns", {"addonName": "coredns", "configurationValues": given}))
    assert (dns.place, dns.replicas, dns.spec["nodeSelector"]) == ("kube-system/coredns", 3, {"pool": "system"})
    assert dns.at("nodeSelector") == "configurationValues"


def test_helm_merges_mappings_and_replaces_lists():
    assert merged({"a": 1, "b": {"c": [1]}}, {"b": {"c": [2], "d": 3}}) == {"a": 1, "b": {"c": [2], "d": 3}}
    assert merged({"a": 1, "b": 2}, {"a": None}) == {"b": 2}


def test_every_pinned_chart_and_add_on_says_where_its_pods_go():
    """But for pods that a driver makes at run time, beside pods of teams."""
    for kind in ("charts", "add-ons"):
        for name, entry in table()[kind].items():
            for one in entry["pods"]:
                assert "under" in one or one["kind"] == "Pod", (name, one["name"])
                assert one.get("kind") in ("DaemonSet", "Pod") or "replicas" in one, (name, one["name"])
    assert {pin.chart.rpartition("/")[2] for _, pin in pins().charts} <= set(table()["charts"])
    for version in kubernetes_versions():
        assert {add_on.name for add_on in add_on_pins(version)[0]} <= set(table()["add-ons"])


def test_the_example_stacks_have_pods_of_all_origins(rehearsed):
    found = read(*rehearsed("demo").resources)
    assert {one.origin for one in found} == {"object", "chart", "add-on"}
    assert {"DaemonSet", "Deployment", "Job", "ClusterTrainingRuntime"} <= {one.kind for one in found}
