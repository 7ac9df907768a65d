from __future__ import annotations

import json
from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest

from tests.components.k8s.checkers import check_plain_objects, depends_on, whole_numbers
from tests.pulumi_harness import record
from trainyard import conventions
from trainyard.components.k8s.runtimes import training_pod
from trainyard.components.k8s.smoke import QUEUE_SECONDS, SmokeJob, SmokeJobArgs, smoke_args, smoke_spec
from trainyard.smoke_jobs.launch.kubernetes import Deferred, render

IMAGE = "pytorch/pytorch:2.13.0@sha256:" + "0" * 64

ARGS: SmokeJobArgs = {
    "pool": "train",
    "instance": "p4d.24xlarge",
    "gpu": "A100",
    "gpus_per_node": 8,
    "gpu_memory_gib": 40.0,
    "nodes": 2,
    "cpu": 68,
    "memory_gib": 208,
    "shared_memory_gib": 52,
    "transport": "efa",
    "fabric_resource": "vpc.amazonaws.com/efa",
    "fabric_interfaces": 4,
    "hugepages_mib": 5120,
    "stack": "acme",
    "namespace": "team-vision",
    "queue": "vision",
    "priority": "standard",
    "image": IMAGE,
    "mounts": {"data": "/data"},
    "tracking_secret": "mlflow-credentials",
}


def _recording(preview: bool = False, **changes: Any):
    def program() -> None:
        namespace = core.Namespace("namespace", metadata={"name": "team-vision"})
        made = {key: value() if callable(value) else value for key, value in changes.items()}
        args: Any = {**ARGS, "namespace": namespace.urn.apply(lambda _: "team-vision"), **made}
        SmokeJob("smoke-train", args, pulumi.ResourceOptions(depends_on=[namespace]))

    return record(program, preview=preview)


def _job(recording):
    return recording.one("kubernetes:batch/v1:Job")


@pytest.mark.parametrize("preview", [True, False])
def test_objects_keep_their_schemas(preview):
    assert check_plain_objects(_recording(preview)) == 4  # with the test's namespace


def test_it_is_the_launchers_rendering():
    recording = _recording()
    rendering = render(smoke_spec(ARGS), Deferred("team-vision"))
    wire = whole_numbers(_job(recording).inputs)
    one_start = {"activeDeadlineSeconds": wire["spec"]["activeDeadlineSeconds"]}  # a launched one may start twice
    assert wire["spec"] == rendering.job["spec"] | one_start
    assert wire["metadata"] == rendering.job["metadata"]
    assert recording.one("kubernetes:core/v1:ConfigMap").inputs["data"] == rendering.config_map["data"]


def test_all_is_below_the_component():
    recording = _recording()
    component = recording.one("trainyard:index:SmokeJob")
    children = [resource for resource in recording.resources if resource.name.startswith("smoke-train-")]
    assert {child.parent for child in children} == {component.urn}
    assert {child.name for child in children} == {"smoke-train-code", "smoke-train-ranks", "smoke-train-job"}


def test_the_job_waits_for_its_parts_and_the_callers():
    recording = _recording()
    assert {"smoke-train-code", "smoke-train-ranks", "namespace"} <= depends_on(recording, _job(recording))


def test_what_kueue_writes_is_ignored_and_everything_else_makes_a_new_job():
    job = _job(_recording())
    assert set(job.ignore_changes) == {
        "spec.suspend",
        "spec.template.spec.nodeSelector",
        "spec.template.spec.tolerations",
    }
    assert job.replace_on_changes == ("*",), "so that the engine replaces a Job that failed"
    assert job.delete_before_replace


def test_the_name_changes_with_the_pool_and_not_with_the_run():
    name = _job(_recording()).inputs["metadata"]["name"]
    assert _job(_recording()).inputs["metadata"]["name"] == name
    changes = (
        {"instance": "p4de.24xlarge"},
        {"image": IMAGE.replace("0" * 64, "1" * 64)},
        {"rerun_on": {"ami": "20260714"}},
    )
    names = {_job(_recording(**change)).inputs["metadata"]["name"] for change in changes}
    assert len(names | {name}) == 4


def test_the_name_is_known_at_the_first_preview():
    job = _job(_recording(preview=True, node_image=lambda: core.Namespace("later").id))
    assert job.inputs["metadata"]["name"].startswith("smoke-train-")


def _wanted_nodes(job):
    affinity = job.inputs["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return {wanted["key"]: wanted["values"] for wanted in term["matchExpressions"]}


def test_a_job_of_one_capacity_runs_nowhere_else():
    job = _job(_recording(capacity="spot"))
    assert job.inputs["metadata"]["name"].startswith("smoke-train-spot-")
    assert _wanted_nodes(job) == {"ml.platform/pool": ["train"], "ml.platform/capacity": ["spot"]}
    assert _wanted_nodes(_job(_recording())) == {"ml.platform/pool": ["train"]}, "whichever the queue picks"
    environment = {item["name"]: item["value"] for item in _container(job)["env"]}
    assert json.loads(environment["SMOKE_OPTIONS"])["capacity"] == "spot", "the result says so"


def _container(job):
    return job.inputs["spec"]["template"]["spec"]["containers"][0]


def test_long_names_of_pools_still_make_jobs():
    names = set()
    for pool in ("a" * 45, "a" * 44 + "b"):
        job = _job(_recording(pool=pool, capacity="on-demand"))
        assert len(f"{job.inputs['metadata']['name']}-999-abcde") <= 63
        assert job.inputs["metadata"]["labels"]["ml.platform/smoke-pool"] == pool
        names.add(job.inputs["metadata"]["name"])
    assert len(names) == 2


def test_another_node_image_makes_the_job_again_under_its_name():
    def made(release: str) -> Any:
        return _job(_recording(node_image=lambda: pulumi.Output.from_input(f"1.35.2-{release}, template 3")))

    before, after = made("20260714"), made("20260802")
    annotation = "ml.platform/node-image"
    assert after.inputs["metadata"]["annotations"][annotation] == "1.35.2-20260802, template 3"
    assert before.inputs["metadata"]["name"] == after.inputs["metadata"]["name"]
    assert after.replace_on_changes == ("*",) and after.delete_before_replace
    assert not any("annotations" in path for path in after.ignore_changes)
    assert annotation not in _job(_recording()).inputs["metadata"].get("annotations", {})


def test_facts_of_the_pool_and_the_node_image_are_both_kept():
    job = _job(_recording(node_image="1.35.2-20260714", rerun_on={"kubernetes": "1.35"}))
    assert set(job.inputs["metadata"]["annotations"]) == {"ml.platform/rerun-on", "ml.platform/node-image"}


def test_the_checkpoint_tier_may_be_known_to_the_engine_only():
    recording = _recording(checkpoint_uri=lambda: pulumi.Output.from_input("s3://bucket/teams/vision/smoke"))
    container = _job(recording).inputs["spec"]["template"]["spec"]["containers"][0]
    assert container["args"] == ["--checkpoint-uri", "s3://bucket/teams/vision/smoke"]
    assert "args" not in _job(_recording()).inputs["spec"]["template"]["spec"]["containers"][0]


def test_the_service_is_not_waited_for():
    service = _recording().one("kubernetes:core/v1:Service")
    assert service.inputs["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_the_wait_is_longer_than_start_and_run(monkeypatch):
    seen: list[Any] = []
    original = pulumi.CustomTimeouts.__init__

    def remember(self: Any, create: Any = None, update: Any = None, delete: Any = None) -> None:
        seen.append(create)
        original(self, create=create, update=update, delete=delete)

    monkeypatch.setattr(pulumi.CustomTimeouts, "__init__", remember)
    job = _job(_recording(start_timeout_s=2400))
    create = next(int(value.removesuffix("s")) for value in seen if value and value.endswith("s"))
    assert create == job.inputs["spec"]["activeDeadlineSeconds"] + QUEUE_SECONDS
    assert create > 40 * 60


@pytest.mark.parametrize("pod_of", ["job", "runtime"])
def test_a_fabric_needs_no_capability(pod_of):
    """Restricted pod security refuses IPC_LOCK, and a user that is not root would start without it. The nodes of a
    pool with a fabric let every container lock memory instead (components/aws/gpu_launch.py)."""
    assert ARGS.get("fabric_interfaces", 0) > 0
    if pod_of == "job":
        spec = _job(_recording()).inputs["spec"]["template"]["spec"]
    else:
        spec = training_pod(IMAGE, {}, {})
    (container,) = spec["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert not container["securityContext"].get("privileged")
    assert spec["securityContext"]["runAsNonRoot"]
    assert not {"hostNetwork", "hostIPC", "hostPID"} & spec.keys()
    assert not any("hostPath" in volume for volume in spec["volumes"])


def test_an_image_without_a_digest_is_refused():
    with pytest.raises(ValueError, match=r"pinned by its digest, got pytorch/pytorch:2\.13\.0"):
        _recording(image="pytorch/pytorch:2.13.0")


def test_arguments_that_the_worker_refuses_are_refused_at_once():
    with pytest.raises(ValueError, match="smoke-train: unknown option 'kils'"):
        _recording(options={"kils": 2})


def test_arguments_and_job_are_the_same_thing_twice():
    spec = smoke_spec(ARGS)
    assert smoke_spec({**smoke_args(spec), "namespace": "team-vision"}) == spec
    assert set(smoke_args(spec)) - set(ARGS) <= {"level", "timeout_s", "start_timeout_s"}


def test_it_runs_as_every_training_pod_of_the_platform():
    pod = _job(_recording()).inputs["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == conventions.TRAINER_SERVICE_ACCOUNT
    assert pod["securityContext"]["runAsUser"] == conventions.TRAINER_UID
    assert pod["securityContext"]["fsGroup"] == conventions.TRAINER_GID
    assert ARGS["tracking_secret"] == conventions.MLFLOW_CREDENTIALS_SECRET
