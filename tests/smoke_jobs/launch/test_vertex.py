from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.smoke_jobs.launch.support import GPU_POOL, RecordedView
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import Options, parse
from trainyard.smoke_jobs.ddp.result import empty_document
from trainyard.smoke_jobs.ddp.topology import detect
from trainyard.smoke_jobs.launch import vertex
from trainyard.smoke_jobs.launch.job import LaunchError
from trainyard.smoke_jobs.launch.vertex import Clients, VertexSettings, files, render

SPEC = replace(
    GPU_POOL, instance="a2-ultragpu-8g", gpu="A100-80GB", image="us-docker.pkg.dev/p/r/torch:2.13", checkpoint_uri="",
    mounts=(), tracking_secret="", transport="",
)  # fmt: skip
SETTINGS = VertexSettings(bucket="gs://ml/smoke", project="p", region="us-central1")


def test_node_0_is_a_pool_of_its_own():
    pools = render(SPEC, SETTINGS, "job")["jobSpec"]["workerPoolSpecs"]
    assert [pool["replicaCount"] for pool in pools] == ["1", "1"]
    assert [
        pool["replicaCount"] for pool in render(replace(SPEC, nodes=5), SETTINGS, "job")["jobSpec"]["workerPoolSpecs"]
    ] == ["1", "4"]
    assert len(render(replace(SPEC, nodes=1), SETTINGS, "job")["jobSpec"]["workerPoolSpecs"]) == 1
    assert pools[0]["machineSpec"] == {
        "machineType": "a2-ultragpu-8g", "acceleratorType": "NVIDIA_A100_80GB", "acceleratorCount": 8,
    }  # fmt: skip


def test_scheduling():
    job = render(SPEC, SETTINGS, "job")["jobSpec"]
    assert job["scheduling"]["strategy"] == "SPOT"
    assert job["scheduling"]["disableRetries"] is True, "a check that failed is not tried, and paid, again"
    assert int(job["scheduling"]["timeout"].removesuffix("s")) > SPEC.run_timeout_s
    settings = replace(SETTINGS, spot=False, service_account="a@p", network="projects/1/global/networks/n")
    job = render(SPEC, settings, "job")["jobSpec"]
    assert (job["scheduling"]["strategy"], job["serviceAccount"]) == ("STANDARD", "a@p")


def test_a_t4_is_attached_to_a_machine():
    (pool, _) = render(replace(SPEC, instance="n1-standard-4+t4", gpu="T4"), SETTINGS, "job")["jobSpec"][
        "workerPoolSpecs"
    ]
    assert pool["machineSpec"]["machineType"] == "n1-standard-4"
    assert pool["machineSpec"]["acceleratorType"] == "NVIDIA_TESLA_T4"


def test_the_bill_and_the_key_are_the_environment_s():
    plain = render(SPEC, SETTINGS, "job")
    assert plain["labels"] == {"managed-by": "trainyard"} and "encryptionSpec" not in plain
    told = render(SPEC, replace(SETTINGS, kms_key="k", labels=(("project", "acme-demo"),)), "job")
    assert told["labels"] == {"managed-by": "trainyard", "project": "acme-demo"}
    assert told["encryptionSpec"] == {"kmsKeyName": "k"}


@pytest.mark.parametrize(
    ("machine", "gpu", "disk"),
    [
        ("a2-ultragpu-8g", "A100-80GB", "pd-ssd"),
        ("g2-standard-48", "L4", "pd-ssd"),
        ("a3-megagpu-8g", "H100-MEGA", "pd-ssd"),
        ("a3-ultragpu-8g", "H200", "hyperdisk-balanced"),
        ("a4-highgpu-8g", "B200", "hyperdisk-balanced"),
    ],
)
def test_a_machine_boots_from_a_disk_that_it_takes(machine, gpu, disk):
    (pool, _) = render(replace(SPEC, instance=machine, gpu=gpu), SETTINGS, "job")["jobSpec"]["workerPoolSpecs"]
    assert pool["diskSpec"]["bootDiskType"] == disk


def test_a_pair_of_a3_mega_takes_googles_variables_and_proves_the_transport(tmp_path):
    """Over sockets it falls from 340 to 4 GB/s and says nothing."""
    pair = replace(SPEC, instance="a3-megagpu-8g", gpu="H100-MEGA")
    command = render(pair, SETTINGS, "job")["jobSpec"]["workerPoolSpecs"][1]["containerSpec"]["command"]
    script = tmp_path / "nccl-env-profile.sh"
    here = [part.replace("/usr/local/nvidia/lib64", str(tmp_path)) for part in command[:4]]
    ran = [*here, "sh", "-c", "echo $NCCL_NET"]
    assert subprocess.run(ran, check=False, capture_output=True).returncode != 0, "without the script nothing trains"
    script.write_text("export NCCL_NET=FasTrak\n")
    assert subprocess.run(ran, check=True, capture_output=True, text=True).stdout == "FasTrak\n"
    assert command[4:] == ["python3", "/gcs/ml/smoke/job/code/ddp/start.py"]
    assert json.loads(files(pair, SETTINGS, "job")["code/options.json"])["expect_transport"] == "gpudirect"
    alone = replace(pair, nodes=1)
    (pool,) = render(alone, SETTINGS, "job")["jobSpec"]["workerPoolSpecs"]
    assert pool["containerSpec"]["command"][0] == "python3"
    assert json.loads(files(alone, SETTINGS, "job")["code/options.json"]).get("expect_transport", "") == ""
    with pytest.raises(LaunchError, match="transport is efa: a3-megagpu-8g has gpudirect"):
        render(replace(pair, transport="efa"), SETTINGS, "job")


def test_the_worker_finds_its_place_in_what_vertex_sets(tmp_path):
    path = tmp_path / "options.json"
    path.write_text(files(SPEC, SETTINGS, "job")["code/options.json"])
    options = parse([], {"SMOKE_OPTIONS": str(path)})
    assert options.expect_model == "A100"
    cluster = {"workerpool0": ["job-workerpool0-0:2222"], "workerpool1": ["job-workerpool1-0:2222"]}
    spec = {"cluster": cluster, "task": {"type": "workerpool1", "index": 0}}
    place = detect(options, {"CLUSTER_SPEC": json.dumps(spec)})
    assert (place.nodes, place.node_rank, place.head) == (2, 1, "job-workerpool0-0")


def test_paths_are_those_of_the_mounted_bucket():
    container = render(SPEC, SETTINGS, "job")["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]
    assert container["command"] == ["python3", "/gcs/ml/smoke/job/code/ddp/start.py"]
    assert "code/ddp/start.py" in files(SPEC, SETTINGS, "job")
    env = {item["name"]: item["value"] for item in container["env"]}
    assert env["SMOKE_OPTIONS"] == "/gcs/ml/smoke/job/code/options.json"
    assert env["SMOKE_RESULT_COPY"] == "/gcs/ml/smoke/job/result.json"


@pytest.mark.parametrize(
    ("change", "settings", "text"),
    [
        ({"image": ""}, SETTINGS, "Artifact Registry, --image"),
        ({"gpu": "A10G"}, SETTINGS, "gpu is 'A10G': one of T4, "),
        ({}, replace(SETTINGS, bucket="ml"), "gs://bucket/prefix, --bucket"),
    ],
)
def test_mistakes_are_named(change, settings, text):
    with pytest.raises(LaunchError, match=text):
        render(replace(SPEC, **change), settings, "job")


def test_without_the_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "google.cloud.aiplatform_v1", None)
    with pytest.raises(LaunchError, match=r"trainyard\[gcp\]"):
        vertex.connect(SETTINGS)


class _RefusedError(Exception):
    pass


class _Google:
    """Vertex AI and Cloud Storage as far as a submission goes."""

    def __init__(self, states: list[str], document: dict | None) -> None:
        self.states, self.document = states, document
        self.says = "permission denied"
        self.objects: dict[str, str] = {}
        self.submitted: dict = {}
        self.cancelled = False

    def clients(self) -> Clients:
        return Clients(jobs=self, storage=self, from_json=json.loads, errors=_RefusedError)

    def bucket(self, name: str):
        assert name == "ml"
        return self

    def blob(self, name: str):
        return SimpleNamespace(
            upload_from_string=lambda text: self.objects.__setitem__(name, text),
            exists=lambda: self.document is not None,
            download_as_bytes=lambda: json.dumps(self.document).encode(),
        )

    def create_custom_job(self, parent: str, custom_job: dict):
        if not self.states:
            raise _RefusedError(self.says)
        self.submitted = {"parent": parent, "job": custom_job}
        return SimpleNamespace(name="jobs/1")

    def get_custom_job(self, name: str):
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return SimpleNamespace(state=SimpleNamespace(name=state))

    def cancel_custom_job(self, name: str) -> None:
        self.cancelled = True


def _document(verdict: str) -> dict:
    return empty_document(Options(), 0.0) | {"verdict": verdict, "exit_code": result.EXIT[verdict]}


def test_a_submission_from_upload_to_result():
    google = _Google(["JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_FAILED"], _document("fail"))
    view = RecordedView()
    ended = vertex.run(SPEC, SETTINGS, view, google.clients(), pause=lambda _: None)
    assert ended.exit_code == 10
    assert view.statuses == ["uploading the worker", "job is pending", "job is running"]
    assert google.submitted["parent"] == "projects/p/locations/us-central1"
    name = google.submitted["job"]["displayName"]
    assert f"smoke/{name}/code/ddp/__main__.py" in google.objects


@pytest.mark.parametrize(("state", "code"), [("JOB_STATE_EXPIRED", 124), ("JOB_STATE_SUCCEEDED", 1)])
def test_an_end_without_a_result(state, code):
    ended = vertex.run(SPEC, SETTINGS, RecordedView(), _Google([state], None).clients())
    assert ended.exit_code == code
    assert state in ended.reason


def test_a_refusal_is_told():
    with pytest.raises(LaunchError, match="Google Cloud refused: permission denied"):
        vertex.run(SPEC, SETTINGS, RecordedView(), _Google([], None).clients())


def test_a_quota_of_nothing_is_named_with_how_to_raise_it():
    google = _Google([], None)
    metric = "aiplatform.googleapis.com/custom_model_training_nvidia_t4_gpus"
    google.says = f"429 The following quota metrics exceed quota limits: {metric}"
    with pytest.raises(LaunchError, match=r"no quota for the job: .*nvidia_t4_gpus.*Quotas, Vertex AI.*preflight"):
        vertex.run(SPEC, SETTINGS, RecordedView(), google.clients())


def test_ctrl_c_cancels_the_job():
    google = _Google(["JOB_STATE_RUNNING"], None)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vertex.run(SPEC, SETTINGS, RecordedView(), google.clients(), pause=interrupt)
    assert google.cancelled
