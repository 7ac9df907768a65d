from __future__ import annotations

import copy
from typing import Any

import kubernetes_validate
import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest

from tests.components.k8s.checkers import (
    KUBERNETES_VERSION,
    chart_value_problems,
    check_custom_resources,
    check_plain_objects,
    custom_resource_problems,
    depends_on,
    whole_numbers,
)
from tests.pulumi_harness import Recording, record
from tests.smoke_jobs.launch.failure_policy import Pod, job_failure, job_set_action
from trainyard import conventions
from trainyard.components.k8s.runtimes import (
    PERMANENT_EXIT_CODES,
    PoolRuntimeArgs,
    TrainingRuntimes,
    TrainingRuntimesArgs,
    training_pod,
)
from trainyard.rehearsal.works.workloads.read import filled
from trainyard.smoke_jobs.ddp.result import EXIT

RELEASE = "kubernetes:helm.sh/v3:Release"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
IMAGE = "docker.io/pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime@sha256:" + "0" * 64


def arguments(**changes: Any) -> TrainingRuntimesArgs:
    args: dict[str, Any] = {
        "jobset_chart": {
            "chart": "oci://registry.k8s.io/jobset/charts/jobset",
            "version": "0.12.0",
            "repository": "",
        },
        "trainer_chart": {
            "chart": "oci://ghcr.io/kubeflow/charts/kubeflow-trainer",
            "version": "2.3.0",
            "repository": "",
        },
        "image": IMAGE,
        "mounts": {"data": "/data", "checkpoints": "/checkpoints"},
    }
    return {**args, **changes}  # type: ignore[typeddict-item]


def run(**changes: Any) -> Recording:
    return record(lambda: TrainingRuntimes("training", arguments(**changes)))


def test_every_object_is_valid_at_the_pinned_version() -> None:
    recording = run()
    assert check_custom_resources(recording) == 2
    assert check_plain_objects(recording) == 2  # namespaces


def test_the_charts_know_every_value() -> None:
    recording = run()
    assert chart_value_problems(recording.one(RELEASE, "training-jobset"), "jobset-0.12.0.json") == []
    assert chart_value_problems(recording.one(RELEASE, "training-trainer"), "kubeflow-trainer-2.3.0.json") == []


def test_the_training_pod_is_a_valid_pod() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "node"}}
    kubernetes_validate.validate(
        {**pod, "spec": training_pod(IMAGE, {"data": "/data"}, {"HTTPS_PROXY": "http://proxy:3128"})},
        KUBERNETES_VERSION,
        strict=True,
    )


def test_jobset_is_the_released_image_and_installed_once() -> None:
    recording = run()
    jobset = recording.one(RELEASE, "training-jobset").inputs["values"]
    assert jobset["image"] == {
        "repository": "registry.k8s.io/jobset/jobset",
        "tag": "v0.12.0",
        "pullPolicy": "IfNotPresent",
    }
    trainer = recording.one(RELEASE, "training-trainer").inputs["values"]
    assert trainer["jobset"] == {"install": False}
    assert trainer["dataCache"] == {"enabled": False}
    assert trainer["runtimes"] == {"defaultEnabled": False}


def test_controllers_run_twice_on_system_nodes() -> None:
    recording = run()
    controllers = (
        recording.one(RELEASE, "training-jobset").inputs["values"]["controller"],
        recording.one(RELEASE, "training-trainer").inputs["values"]["manager"],
    )
    for controller in controllers:
        assert controller["replicas"] == 2
        assert controller["nodeSelector"] == {"ml.platform/pool": "system"}


def test_order_is_jobset_then_trainer_then_runtime() -> None:
    def program() -> None:
        nodes = core.ConfigMap("nodes")
        runtimes = TrainingRuntimes("training", arguments(), pulumi.ResourceOptions(depends_on=[nodes]))
        core.ConfigMap("job", data={"runtime": runtimes.runtime})

    recording = record(program)
    trainer = depends_on(recording, recording.one(RELEASE, "training-trainer"))
    assert {"training-jobset", "training-trainer-namespace", "nodes"} <= trainer
    assert "nodes" in depends_on(recording, recording.one(RELEASE, "training-jobset"))
    assert {"training-jobset", "training-trainer"} <= depends_on(recording, recording.one(RUNTIME, "training-torch"))
    job = recording.one("kubernetes:core/v1:ConfigMap", "job")
    assert job.inputs["data"] == {"runtime": "torch-distributed"}
    assert "training-torch" in depends_on(recording, job)


def pod_of(recording: Recording) -> Any:
    spec = recording.one(RUNTIME, "training-torch").inputs["spec"]["template"]["spec"]
    return spec["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]


def test_the_runtime_without_gpus_is_the_same_and_counted_by_its_class() -> None:
    recording = run()
    found = [
        recording.one(RUNTIME, name).inputs["spec"]["template"]["spec"]["replicatedJobs"][0]
        for name in ("training-torch", "training-torch-cpu")
    ]
    pods = [copy.deepcopy(item["template"]["spec"]["template"]["spec"]) for item in found]
    assert "priorityClassName" not in pods[0]
    pool = {"ml.platform/pool": "cpu"}
    assert pods[1] == {**pods[0], "priorityClassName": "cpu-only", "nodeSelector": pool}


def test_without_nodes_for_it_there_is_no_runtime_without_gpus() -> None:
    recording = record(lambda: TrainingRuntimes("training", {**arguments(), "cpu_nodes": None}))
    assert [found.name for found in recording.of_type(RUNTIME)] == ["training-torch"]


def test_a_ground_that_keeps_no_nodes_apart_names_none() -> None:
    recording = record(lambda: TrainingRuntimes("training", {**arguments(), "cpu_nodes": {}}))
    spec = recording.one(RUNTIME, "training-torch-cpu").inputs["spec"]["template"]["spec"]
    assert "nodeSelector" not in spec["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]


def test_runtime_pod_is_hardened_and_names_no_node() -> None:
    pod = pod_of(run())
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] >= 10000
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"]
    assert pod["automountServiceAccountToken"] is False
    (container,) = pod["containers"]
    assert container["name"] == "node"
    assert container["image"] == IMAGE
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert set(container["resources"]) == {"requests"}  # a TrainJob's are merged over them
    assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert not {"nodeSelector", "tolerations", "affinity"} & set(pod)


def test_runtime_has_room_in_shared_memory_and_time_to_save() -> None:
    pod = pod_of(run())
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
    assert volumes[mounts["/dev/shm"]]["emptyDir"] == {"medium": "Memory"}
    environment = {variable["name"]: variable["value"] for variable in pod["containers"][0]["env"]}
    assert environment["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] == "1"
    assert int(environment["TORCH_ELASTIC_SHUTDOWN_TIMEOUT"]) == conventions.TRAINING_SHUTDOWN_SECONDS
    assert pod["terminationGracePeriodSeconds"] > conventions.TRAINING_SHUTDOWN_SECONDS


def test_runtime_mounts_the_claims_that_it_is_given() -> None:
    pod = pod_of(run())
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    claims = {
        volume["name"]: volume["persistentVolumeClaim"]["claimName"]
        for volume in pod["volumes"]
        if "persistentVolumeClaim" in volume
    }
    assert claims == {"data": "data", "checkpoints": "checkpoints"}
    assert {name: mounts[name] for name in claims} == {"data": "/data", "checkpoints": "/checkpoints"}
    assert all("persistentVolumeClaim" not in volume for volume in pod_of(run(mounts={}))["volumes"])


def test_restarts_are_the_callers_and_replace_the_runtime() -> None:
    runtime = run(max_restarts=0).one(RUNTIME, "training-torch")
    assert runtime.inputs["spec"]["template"]["spec"]["failurePolicy"]["maxRestarts"] == 0
    assert runtime.replace_on_changes == ("spec.template.spec.failurePolicy",)
    assert runtime.delete_before_replace


def job_set() -> dict[str, Any]:
    spec: dict[str, Any] = whole_numbers(run().one(RUNTIME, "training-torch").inputs["spec"]["template"]["spec"])
    return spec


def test_what_the_runtime_makes_is_valid_for_jobset_and_job() -> None:
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "train"}, "spec": job_set(),
    }  # fmt: skip
    assert custom_resource_problems(manifest) == []
    (replicated,) = job_set()["replicatedJobs"]
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train-node-0"}}
    kubernetes_validate.validate({**job, "spec": replicated["template"]["spec"]}, KUBERNETES_VERSION, strict=True)
    assert replicated["template"]["spec"]["template"]["spec"]["restartPolicy"] == "Never", "rules of pods need it"
    broken = copy.deepcopy(manifest)
    broken["spec"]["failurePolicy"]["rules"][0]["action"] = "FailJob"  # of a pod's rule, not of a job's
    assert custom_resource_problems(broken)


AGAIN, COUNTED, END = "RestartJobSetAndIgnoreMaxRestarts", "RestartJobSet", "FailJobSet"


@pytest.mark.parametrize(
    ("pods", "action"),
    [
        ([Pod(75, disrupted=True), Pod(143)], AGAIN),
        ([Pod(137, disrupted=True), Pod(1)], AGAIN),
        ([Pod(1)], COUNTED),  # the survivor's torchrun, where it is seen before the pod that was taken away
        ([Pod(137), Pod(1)], COUNTED),  # out of memory
        ([Pod(2)], COUNTED),
        ([Pod(10), Pod(10)], END),
        ([Pod(20), Pod(0)], END),
        ([Pod(100)], COUNTED),
        ([Pod(110)], COUNTED),
    ],
)
def test_a_lost_node_restarts_the_job_and_a_verdict_ends_it(pods: list[Pod], action: str) -> None:
    spec = job_set()
    failure = job_failure(spec["replicatedJobs"][0]["template"]["spec"], pods)
    assert failure is not None, "a pod is never made again alone"
    assert job_set_action(spec, failure) == action


def test_survivors_must_not_end_with_a_verdict() -> None:
    """The job controller takes the pods in any order, and the first that a `FailJob` rule matches names the reason. So
    a survivor that fails for want of a node may end the job set; the smoke job's wrapper says 75 in its place
    (tests/smoke_jobs/ddp/test_node_loss.py)."""
    spec = job_set()
    job = spec["replicatedJobs"][0]["template"]["spec"]

    def actions(*pods: Pod) -> set[str]:
        failures = [job_failure(job, order) for order in (pods, pods[::-1])]
        return {job_set_action(spec, failure) for failure in failures if failure is not None}

    assert actions(Pod(143, disrupted=True), Pod(10)) == {AGAIN, END}
    assert actions(Pod(143, disrupted=True), Pod(75)) == {AGAIN}


def test_the_permanent_codes_are_the_smoke_jobs_verdicts() -> None:
    assert set(PERMANENT_EXIT_CODES) == {EXIT["fail"], EXIT["below"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image": "pytorch/pytorch:2.13.0"}, "pinned by its digest, got pytorch/pytorch:2.13.0"),
        ({"mounts": {"data": "data"}}, "claim data has to be mounted at an absolute path, got data"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(**changes)


FABRIC_IMAGE = "public.ecr.aws/deep-learning-containers/pytorch-training:2.7.1@sha256:" + "1" * 64
EFA = "vpc.amazonaws.com/efa"
POOL: PoolRuntimeArgs = {
    "pool": "train",
    "image": FABRIC_IMAGE,
    "gpus": 8,
    "cpu": 68,
    "memory_gib": 208,
    "fabric_resource": EFA,
    "fabric_interfaces": 4,
    "hugepages_mib": 5120,
    "fabric_environment": {"NCCL_NET": "AWS Libfabric", "FI_PROVIDER": "efa"},
}


def of_pool() -> Any:
    recording = run(pools=[POOL])
    assert check_custom_resources(recording) == 3
    made = recording.one(RUNTIME, "training-torch-train")
    assert made.inputs["metadata"]["name"] == "torch-distributed-train"
    return made.inputs["spec"]["template"]["spec"]


def test_the_runtime_of_a_pool_with_a_fabric_takes_a_node_with_all_of_its_adapters() -> None:
    pod = of_pool()["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    (node,) = pod["containers"]
    whole = {"nvidia.com/gpu": "8", EFA: "4", "hugepages-2Mi": "5Gi"}
    assert node["resources"] == {"requests": {"cpu": "68", "memory": "208Gi"}, "limits": whole}
    assert node["image"] == FABRIC_IMAGE
    assert pod["nodeSelector"] == {"ml.platform/pool": "train"}
    kubernetes_validate.validate(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "node"}, "spec": pod}, KUBERNETES_VERSION, strict=True
    )


def test_its_pods_have_no_network_but_the_fast_one_and_are_asked_first() -> None:
    """Variables and not a command: a TrainJob has a command of its own."""
    spec = of_pool()
    job = spec["replicatedJobs"][0]["template"]["spec"]
    pod = job["template"]["spec"]
    variables = {item["name"]: item["value"] for item in pod["containers"][0]["env"]}
    assert variables["NCCL_NET"] == "AWS Libfabric"
    assert variables["FI_PROVIDER"] == "efa"
    assert "TORCH_DISABLE_SHARE_RDZV_TCP_STORE" in variables
    (check,) = pod["initContainers"]
    assert check["image"] == FABRIC_IMAGE
    assert check["command"][:2] == ["python3", "-c"]
    assert check["command"][3] == "4"
    assert check["resources"]["limits"][EFA] == "4"
    assert "nvidia.com/gpu" not in check["resources"]["limits"]
    asked = [rule["onExitCodes"] for rule in job["podFailurePolicy"]["rules"] if "onExitCodes" in rule]
    assert {rule["containerName"]: rule["values"] for rule in asked} == {"node": [10, 20], "fabric": [10, 20]}


def test_a_train_job_that_names_gpus_keeps_the_adapters() -> None:
    """As the Trainer merges them; a request of the runtime's beside another limit would make no pod."""
    pod = of_pool()["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    asked = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": "4"}, "requests": {"memory": "512Gi"}}}
    (node,) = filled(pod, asked)["containers"]
    assert node["resources"]["limits"] == {"nvidia.com/gpu": "4", EFA: "4", "hugepages-2Mi": "5Gi"}
    assert node["resources"]["requests"] == {"cpu": "68", "memory": "512Gi"}
    for name, amount in node["resources"]["limits"].items():
        assert node["resources"]["requests"].get(name, amount) == amount


def test_a_pool_without_an_image_by_digest_has_no_runtime() -> None:
    with pytest.raises(ValueError, match="pinned by its digest"):
        run(pools=[{**POOL, "image": "pytorch:latest"}])


CLAIMED: PoolRuntimeArgs = {
    "pool": "train",
    "image": FABRIC_IMAGE,
    "gpus": 8,
    "cpu": 68,
    "memory_gib": 208,
    "fabric_claim": "fabric-train",
    "fabric_interfaces": 8,
    "hugepages_mib": 0,
    "fabric_environment": {"NCCL_NET": "gIB", "LD_LIBRARY_PATH": "/usr/local/gib/lib64"},
}


def test_the_adapters_of_a_pool_may_be_a_claim_that_both_containers_share() -> None:
    """The Trainer merges claims by name, so a TrainJob that names GPUs keeps this one (`MergeResourceRequirements`)."""
    recording = run(pools=[CLAIMED])
    assert check_custom_resources(recording) == 3
    spec = recording.one(RUNTIME, "training-torch-train").inputs["spec"]["template"]["spec"]
    pod = spec["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert pod["resourceClaims"] == [{"name": "fabric", "resourceClaimTemplateName": "fabric-train"}]
    (node,), (check,) = pod["containers"], pod["initContainers"]
    assert node["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert node["resources"]["claims"] == check["resources"]["claims"] == [{"name": "fabric"}]
    assert check["command"][3] == "8"
    assert check["env"] == [{"name": "LD_LIBRARY_PATH", "value": "/usr/local/gib/lib64"}]
    asked = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": "8"}}}
    assert filled(pod, asked)["containers"][0]["resources"]["claims"] == [{"name": "fabric"}]
    kubernetes_validate.validate(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "node"}, "spec": pod}, KUBERNETES_VERSION, strict=True
    )
