from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest

from components.k8s import conventions, mlflow
from components.k8s.smoke import QUEUE_SECONDS, SmokeJob, SmokeJobArgs, smoke_spec
from smoke_jobs.launch import pod
from smoke_jobs.launch.kubernetes import render
from tests.components.k8s.checkers import check_plain_objects, depends_on, whole_numbers
from tests.pulumi_harness import record

IMAGE = "pytorch/pytorch:2.13.0@sha256:" + "0" * 64

ARGS: SmokeJobArgs = {
    "pool": {
        "name": "train",
        "instance_type": "p4d.24xlarge",
        "gpu": "A100",
        "gpus_per_node": 8,
        "gpu_memory_gib": 40.0,
        "nodes": 2,
        "cpu": 68,
        "memory_gib": 208,
        "shared_memory_gib": 52,
        "efa_interfaces": 4,
        "hugepages_mib": 5120,
    },
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
    rendering = render(smoke_spec(ARGS))
    wire = whole_numbers(_job(recording).inputs)
    assert wire["spec"] == rendering.job["spec"]
    assert wire["metadata"] == {**rendering.job["metadata"], "namespace": "team-vision"}
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
    bigger: Any = {**ARGS["pool"], "instance_type": "p4de.24xlarge"}
    changes = ({"pool": bigger}, {"image": IMAGE.replace("0" * 64, "1" * 64)}, {"rerun_on": {"ami": "20260714"}})
    names = {_job(_recording(**change)).inputs["metadata"]["name"] for change in changes}
    assert len(names | {name}) == 4


def test_the_name_is_known_at_the_first_preview():
    assert _job(_recording(preview=True)).inputs["metadata"]["name"].startswith("smoke-train-")


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
    job = _job(_recording(start_timeout_minutes=40))
    create = next(int(value.removesuffix("s")) for value in seen if value and value.endswith("s"))
    assert create == job.inputs["spec"]["activeDeadlineSeconds"] + QUEUE_SECONDS
    assert create > 40 * 60


def test_an_image_without_a_digest_is_refused():
    with pytest.raises(ValueError, match=r"pinned by its digest, got pytorch/pytorch:2\.13\.0"):
        _recording(image="pytorch/pytorch:2.13.0")


def test_arguments_that_the_worker_refuses_are_refused_at_once():
    with pytest.raises(ValueError, match="smoke-train: unknown option 'kils'"):
        _recording(options={"kils": 2})


def test_it_speaks_of_the_same_things_as_the_platform():
    assert pod.POOL_LABEL == conventions.POOL_LABEL
    assert pod.GPU_RESOURCE == conventions.GPU_RESOURCE
    spec = smoke_spec(ARGS)
    assert (spec.user, spec.service_account) == (conventions.TRAINER_UID, conventions.TRAINER_SERVICE_ACCOUNT)
    assert ARGS["tracking_secret"] == mlflow.CREDENTIALS_SECRET
