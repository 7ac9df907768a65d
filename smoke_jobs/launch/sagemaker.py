"""The smoke job as a SageMaker training job: managed spot with checkpoints, the worker from S3.

The worker and its options are objects below `<bucket>/<prefix>/<job>/code`, which SageMaker puts on every instance: an
environment variable may have 512 characters only. The result comes back in output.tar.gz, from failed jobs too.
"""

from __future__ import annotations

import io
import json
import tarfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlparse

from trainyard.catalog import instances
from trainyard.smoke_jobs.ddp.result import EXIT
from trainyard.smoke_jobs.launch import payload
from trainyard.smoke_jobs.launch.extras import SMOKE, imported
from trainyard.smoke_jobs.launch.follow import Ended, View, ended
from trainyard.smoke_jobs.launch.job import (
    ENVIRONMENT,
    MANAGED_MARGIN_S,
    OPTIONS,
    LaunchError,
    SmokeSpec,
    check,
    document,
    submission_name,
    worker_options,
)

CODE_PATH = "/opt/ml/input/data/code"
OUTPUT_PATH = "/opt/ml/output/data"
CHECKPOINTS_PATH = "/opt/ml/checkpoints"

INTERVAL_S = 10.0

OWN_TAGS = {"managed-by": "trainyard"}

NO_QUOTA = "ResourceLimitExceeded"
"""What SageMaker answers where the account has no quota for the machines; its text names the quota."""


@dataclass(frozen=True, slots=True)
class SagemakerSettings:
    """What only SageMaker has to be told."""

    role_arn: str  # execution role: reads and writes the bucket, pulls the image
    bucket: str  # s3://bucket/prefix for code, checkpoints and output
    spot: bool = True
    volume_gib: int = 100
    wait_s: int = 3600  # for spot capacity, besides the run
    subnets: tuple[str, ...] = ()
    security_groups: tuple[str, ...] = ()  # must let their own members in on every port
    kms_key: str = ""  # of volume and output
    tags: tuple[tuple[str, str], ...] = ()  # further tags of the job: what a role or a bill asks for


def files(spec: SmokeSpec, settings: SagemakerSettings, name: str) -> dict[str, str]:
    """Objects below the code prefix, by key; the worker's folder keeps its name.

    The checkpoint tier of several instances is the bucket itself: each has its own /opt/ml/checkpoints.
    """
    shared = f"{settings.bucket.rstrip('/')}/{name}/checkpoints" if spec.nodes > 1 else CHECKPOINTS_PATH
    options = worker_options(
        spec,
        "sagemaker",
        f"{CODE_PATH}/{payload.FOLDER}",
        result_dir=OUTPUT_PATH,
        checkpoint_uri=spec.checkpoint_uri or f"{shared}/smoke",
    )
    return payload.in_folder(spec.files) | {OPTIONS: document(options)}


def render(spec: SmokeSpec, settings: SagemakerSettings, name: str) -> dict[str, Any]:
    """The request of CreateTrainingJob. Raises LaunchError."""
    check(
        spec,
        "sagemaker",
        {
            "image": "an image in Amazon ECR that the role may pull, --image",
            "instance": "an instance type such as ml.g5.12xlarge, --instance",
        },
    )
    _check(spec, settings)
    root = f"{settings.bucket.rstrip('/')}/{name}"
    run = spec.run_timeout_s + MANAGED_MARGIN_S
    request: dict[str, Any] = {
        "TrainingJobName": name,
        "RoleArn": settings.role_arn,
        "AlgorithmSpecification": {
            "TrainingImage": spec.image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["python3", f"{CODE_PATH}/{payload.FOLDER}/start.py"],
        },
        "Environment": {
            "SMOKE_OPTIONS": f"{CODE_PATH}/{OPTIONS}",
            "SMOKE_RESULT_DIR": OUTPUT_PATH,
        }
        | ENVIRONMENT
        | dict(spec.environment),
        "InputDataConfig": [
            {
                "ChannelName": "code",
                "DataSource": {
                    "S3DataSource": {
                        "S3DataType": "S3Prefix",
                        "S3Uri": f"{root}/code/",
                        "S3DataDistributionType": "FullyReplicated",
                    }
                },
            }
        ],
        "OutputDataConfig": {"S3OutputPath": settings.bucket.rstrip("/")},
        "CheckpointConfig": {"S3Uri": f"{root}/checkpoints", "LocalPath": CHECKPOINTS_PATH},
        "ResourceConfig": {
            "InstanceType": spec.instance,
            "InstanceCount": spec.nodes,
            "VolumeSizeInGB": settings.volume_gib,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": run},
        "EnableManagedSpotTraining": settings.spot,
        "Tags": [
            {"Key": key, "Value": value}
            for key, value in (OWN_TAGS | {"smoke-job": spec.name} | dict(settings.tags)).items()
        ],
    }
    if settings.spot:
        request["StoppingCondition"]["MaxWaitTimeInSeconds"] = run + settings.wait_s
    if settings.subnets:
        request["VpcConfig"] = {"Subnets": list(settings.subnets), "SecurityGroupIds": list(settings.security_groups)}
    if settings.kms_key:
        request["OutputDataConfig"]["KmsKeyId"] = settings.kms_key
        if not _has_local_disk(spec.instance):  # such a type has no volume, and its disks have a key of their own
            request["ResourceConfig"]["VolumeKmsKeyId"] = settings.kms_key
    return request


def _has_local_disk(instance: str) -> bool:
    return any(item.type == instance.removeprefix("ml.") and item.nvme_gb for item in instances())


def _check(spec: SmokeSpec, settings: SagemakerSettings) -> None:
    problems = []
    if not spec.instance.startswith("ml."):
        problems.append(f"instance is {spec.instance!r}: SageMaker's types start with ml., such as ml.g5.12xlarge")
    if not settings.role_arn.startswith("arn:"):
        problems.append(f"role is {settings.role_arn!r}: the ARN of the execution role, --role-arn")
    if not settings.bucket.startswith("s3://"):
        problems.append(f"bucket is {settings.bucket!r}: s3://bucket/prefix, --bucket")
    if bool(settings.subnets) != bool(settings.security_groups):
        problems.append("subnets and security groups go together: --subnet and --security-group")
    problems += [
        f"variable {name} has {len(value)} characters: SageMaker takes 512"
        for name, value in spec.environment
        if len(value) > 512
    ]
    if problems:
        raise LaunchError("; ".join(problems))


def connect(region: str | None) -> tuple[Any, Any]:
    """Clients of SageMaker and S3. Raises LaunchError without boto3."""
    boto3 = imported("boto3", SMOKE, "submitting to SageMaker")
    session = boto3.session.Session(region_name=region)
    if session.region_name is None:
        raise LaunchError("no AWS region: give --region, or set AWS_REGION")
    return session.client("sagemaker"), session.client("s3")


def run(
    spec: SmokeSpec,
    settings: SagemakerSettings,
    view: View,
    clients: tuple[Any, Any],
    pause: Callable[[float], None] = time.sleep,
) -> Ended:
    """Uploads the worker, submits the job and follows it; Ctrl-C stops the job. Raises LaunchError."""
    from botocore.exceptions import BotoCoreError, ClientError

    sagemaker, s3 = clients
    name = submission_name(spec, time.time())
    request = render(spec, settings, name)
    bucket, prefix = _split(settings.bucket)
    try:
        view.status("uploading the worker")
        for key, text in files(spec, settings, name).items():
            s3.put_object(Bucket=bucket, Key=f"{prefix}{name}/code/{key}", Body=text.encode())
        sagemaker.create_training_job(**request)
        try:
            state = _wait(sagemaker, name, view, pause)
        except KeyboardInterrupt:
            sagemaker.stop_training_job(TrainingJobName=name)
            raise
        found = _result(s3, bucket, f"{prefix}{name}/output/output.tar.gz")
    except ClientError as error:
        raise LaunchError(_refusal(error.response.get("Error", {}))) from None
    except BotoCoreError as error:
        raise LaunchError(f"AWS refused: {error}") from None
    reason, status = str(state.get("FailureReason", "")), state.get("SecondaryStatus")
    if found is not None:
        return ended(found, None, reason)
    if status in ("MaxRuntimeExceeded", "MaxWaitTimeExceeded"):
        return ended(None, EXIT["timeout"], f"{name}: {status}")
    if status == "Interrupted":
        return ended(None, EXIT["preempted"], f"{name}: spot capacity was taken away")
    told = f"{state['TrainingJobStatus']} and left no result: {reason or 'see its log in CloudWatch'}"
    return ended(None, None, f"{name} is {told}")


def _refusal(error: Mapping[str, str]) -> str:
    """What AWS said, and what to do where it is a quota."""
    code, said = error.get("Code", ""), error.get("Message", "")
    if code == NO_QUOTA:
        how = "ask for more under Service Quotas, Amazon SageMaker; `trainyard preflight STACK` writes the request"
        return f"the account has no quota for the job: {said} ({how})"
    return f"AWS refused: {code}: {said}"


def _split(uri: str) -> tuple[str, str]:
    parts = urlparse(uri)
    path = parts.path.strip("/")
    return parts.netloc, f"{path}/" if path else ""


def _wait(sagemaker: Any, name: str, view: View, pause: Callable[[float], None]) -> dict[str, Any]:
    while True:
        state: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=name)
        if state["TrainingJobStatus"] in ("Completed", "Failed", "Stopped"):
            return state
        steps = state.get("SecondaryStatusTransitions") or [{}]
        view.status(f"{name} is {state.get('SecondaryStatus', '')}: {steps[-1].get('StatusMessage', '')}".rstrip(": "))
        pause(INTERVAL_S)


def _result(s3: Any, bucket: str, key: str) -> dict[str, Any] | None:
    from botocore.exceptions import ClientError

    try:
        data = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
            return None
        raise
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        for member in tar.getmembers():
            stream = tar.extractfile(member) if member.name.rsplit("/", 1)[-1] == "result.json" else None
            if stream is not None:
                return dict(json.load(stream))
    return None
