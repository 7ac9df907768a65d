"""The request against Amazon's own model of the API, the submission against moto."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import replace

import boto3
import botocore.session
import pytest
from botocore.validate import ParamValidator
from moto import mock_aws

from tests.smoke_jobs.launch.support import GPU_POOL, RecordedView
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import Options, parse
from trainyard.smoke_jobs.ddp.result import empty_document
from trainyard.smoke_jobs.ddp.topology import detect
from trainyard.smoke_jobs.launch import sagemaker
from trainyard.smoke_jobs.launch.job import BASELINE, LaunchError
from trainyard.smoke_jobs.launch.sagemaker import SagemakerSettings, files, render

SPEC = replace(
    GPU_POOL,
    instance="ml.p4d.24xlarge",
    gpu="A100",
    image="123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.13",
    checkpoint_uri="",
    mounts=(),
    tracking_secret="",
)
SETTINGS = SagemakerSettings(role_arn="arn:aws:iam::123456789012:role/sagemaker", bucket="s3://ml-artifacts/smoke")


def _model_errors(request: dict) -> str:
    model = botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob")
    return ParamValidator().validate(request, model.input_shape).generate_report()


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        replace(SETTINGS, spot=False, bucket="s3://ml-artifacts"),
        replace(SETTINGS, subnets=("subnet-1",), security_groups=("sg-1",), kms_key="alias/ml"),
    ],
)
def test_the_request_is_what_the_api_takes(settings):
    request = render(SPEC, settings, "smoke-train-1")
    assert _model_errors(request) == ""
    shapes = botocore.session.get_session().get_service_model("sagemaker")
    assert SPEC.instance in shapes.shape_for("TrainingInstanceType").enum
    assert _model_errors(request | {"Nonsense": 1}) != "", "the validator would say so"


def test_spot_with_checkpoints_and_a_wait():
    request = render(SPEC, SETTINGS, "job")
    stop = request["StoppingCondition"]
    assert request["EnableManagedSpotTraining"] is True
    assert stop["MaxWaitTimeInSeconds"] >= stop["MaxRuntimeInSeconds"] > SPEC.run_timeout_s
    assert request["CheckpointConfig"]["S3Uri"] == "s3://ml-artifacts/smoke/job/checkpoints"
    on_demand = render(SPEC, replace(SETTINGS, spot=False), "job")
    assert "MaxWaitTimeInSeconds" not in on_demand["StoppingCondition"]


def test_variables_are_short_enough_and_the_options_come_as_a_file(tmp_path):
    request = render(SPEC, SETTINGS, "job")
    assert all(len(value) <= 512 for value in request["Environment"].values())
    found = files(replace(SPEC, files={BASELINE: "{}"}), SETTINGS, "job")
    assert "ddp/start.py" in found
    assert request["AlgorithmSpecification"]["ContainerEntrypoint"][1] == f"{sagemaker.CODE_PATH}/ddp/start.py"
    path = tmp_path / "options.json"
    path.write_text(found["options.json"])
    options = parse([], {"SMOKE_OPTIONS": str(path)})
    assert options.checkpoint_uri == "s3://ml-artifacts/smoke/job/checkpoints/smoke", "what both instances reach"
    alone = json.loads(files(replace(SPEC, nodes=1), SETTINGS, "job")["options.json"])
    assert alone["checkpoint_uri"] == "/opt/ml/checkpoints/smoke"
    assert options.result_dir == "/opt/ml/output/data"
    assert options.baseline == "/opt/ml/input/data/code/ddp/baseline.json"
    place = detect(options, {"SM_HOSTS": '["algo-1","algo-2"]', "SM_CURRENT_HOST": "algo-2"})
    assert (place.nodes, place.node_rank, place.head) == (2, 1, "algo-1")


@pytest.mark.parametrize(("instance", "has_volume"), [("ml.g4dn.12xlarge", False), ("ml.p4d.24xlarge", False),
                                                     ("ml.p3.8xlarge", True)])  # fmt: skip
def test_a_key_is_of_a_volume_where_there_is_one(instance, has_volume):
    """The service refuses a key of the volume for types with local disks."""
    request = render(replace(SPEC, instance=instance), replace(SETTINGS, kms_key="alias/ml"), "job")
    assert ("VolumeKmsKeyId" in request["ResourceConfig"]) is has_volume
    assert request["OutputDataConfig"]["KmsKeyId"] == "alias/ml"


def test_mistakes_are_named_at_once():
    with pytest.raises(LaunchError) as caught:
        render(
            replace(SPEC, instance="p4d.24xlarge", environment=(("LONG", "x" * 513),)),
            SagemakerSettings(role_arn="sagemaker", bucket="ml", subnets=("subnet-1",)),
            "job",
        )
    for part in ("start with ml.", "--role-arn", "s3://bucket/prefix, --bucket", "--security-group", "LONG has 513"):
        assert part in str(caught.value)


@pytest.fixture
def clients(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        sm, s3 = sagemaker.connect("us-east-1")
        s3.create_bucket(Bucket="ml-artifacts")
        yield sm, s3


def _output(s3, name: str, verdict: str) -> None:
    """As SageMaker leaves the output folder of a job."""
    document = empty_document(Options(), 0.0) | {"verdict": verdict, "exit_code": result.EXIT[verdict]}
    data = json.dumps(document).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        entry = tarfile.TarInfo("result.json")
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    s3.put_object(Bucket="ml-artifacts", Key=f"smoke/{name}/output/output.tar.gz", Body=buffer.getvalue())


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("below", 20)])
def test_a_submission_from_upload_to_result(clients, monkeypatch, verdict, code):
    sm, s3 = clients
    monkeypatch.setattr(sagemaker, "submission_name", lambda *_: "smoke-train-now")
    _output(s3, "smoke-train-now", verdict)
    ended = sagemaker.run(SPEC, SETTINGS, RecordedView(), clients)
    assert ended.exit_code == code
    assert sm.describe_training_job(TrainingJobName="smoke-train-now")["EnableManagedSpotTraining"] is True
    keys = {item["Key"] for item in s3.list_objects_v2(Bucket="ml-artifacts")["Contents"]}
    assert {"smoke/smoke-train-now/code/ddp/__main__.py", "smoke/smoke-train-now/code/options.json"} <= keys


def test_no_output_is_no_pass(clients):
    ended = sagemaker.run(SPEC, SETTINGS, RecordedView(), clients)
    assert ended.exit_code == 1
    assert "left no result" in ended.reason


def test_a_refusal_is_told(clients):
    with pytest.raises(LaunchError, match=r"AWS refused: .*NoSuchBucket"):
        sagemaker.run(SPEC, replace(SETTINGS, bucket="s3://nosuch"), RecordedView(), clients)


class _Scripted:
    """A client whose job goes through the given states."""

    def __init__(self, *states: dict) -> None:
        self.states, self.stopped = list(states), False

    def create_training_job(self, **_) -> None: ...

    def describe_training_job(self, **_) -> dict:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def stop_training_job(self, **_) -> None:
        self.stopped = True


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ({"TrainingJobStatus": "Stopped", "SecondaryStatus": "MaxRuntimeExceeded"}, 124),
        ({"TrainingJobStatus": "Stopped", "SecondaryStatus": "MaxWaitTimeExceeded"}, 124),
        ({"TrainingJobStatus": "Stopped", "SecondaryStatus": "Interrupted"}, 75),
        ({"TrainingJobStatus": "Failed", "SecondaryStatus": "Failed", "FailureReason": "no capacity"}, 1),
    ],
)
def test_ends_without_a_result(clients, end, code):
    starting = {
        "TrainingJobStatus": "InProgress",
        "SecondaryStatus": "Starting",
        "SecondaryStatusTransitions": [{"StatusMessage": "Insufficient capacity error, retrying"}],
    }
    view = RecordedView()
    ended = sagemaker.run(SPEC, SETTINGS, view, (_Scripted(starting, end), clients[1]), pause=lambda _: None)
    assert ended.exit_code == code
    assert "Starting: Insufficient capacity error, retrying" in view.statuses[-1]


def test_ctrl_c_stops_the_job(clients):
    scripted = _Scripted({"TrainingJobStatus": "InProgress", "SecondaryStatus": "Training"})

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sagemaker.run(SPEC, SETTINGS, RecordedView(), (scripted, clients[1]), pause=interrupt)
    assert scripted.stopped


def test_without_a_region_it_says_so(monkeypatch):
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    boto3.DEFAULT_SESSION = None
    with pytest.raises(LaunchError, match="--region"):
        sagemaker.connect(None)
