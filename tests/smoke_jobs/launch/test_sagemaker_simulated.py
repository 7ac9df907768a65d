"""The rendered request, run as SageMaker would run it: its files, names and variables on machines of their own.

What a container finds there is in the toolkit's documentation: `/opt/ml/input/config/resourceconfig.json` with
`algo-1`, which is no host's own name, the channel below `/opt/ml/input/data`, and an `/opt/ml/checkpoints` of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER
from tests.smoke_jobs.machines import Machine, Machines
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.launch.job import SmokeSpec
from trainyard.smoke_jobs.launch.sagemaker import CODE_PATH, SagemakerSettings, files, render

SETTINGS = SagemakerSettings(role_arn="arn:aws:iam::123456789012:role/sagemaker", bucket="s3://ml-artifacts/smoke")
SPEC = SmokeSpec(
    name="smoke-small",
    instance="ml.m5.4xlarge",
    processes_per_node=2,
    image="123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.13",
    options={"checks": ["rendezvous", "collectives", "checkpoint"], "rank_timeout_s": 30},
)
FORKED_RANKS = (("PYTHONPATH", str(WITHOUT_COMPILER)),)
"""For all but one job: the ranks of that one are started as in a container."""
OWN_NAMES = ("ip-10-0-103-7", "ip-10-0-88-2")


@pytest.fixture
def store() -> Iterator[int]:
    server = ThreadedMotoServer(ip_address="0.0.0.0", port=0)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


def prepare(machine: Machine, spec: SmokeSpec, hosts: list[str], rank: int, folder: Path) -> Path:
    """What the service lays out in a container before it starts it; the output folder."""
    for key, text in files(spec, SETTINGS, "job").items():
        path = folder / CODE_PATH.removeprefix("/opt/ml/") / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("input/config", "output/data", "checkpoints", "model"):
        (folder / name).mkdir(parents=True)
    resources = {"current_host": hosts[rank], "hosts": hosts, "network_interface_name": "eth0"}
    (folder / "input/config/resourceconfig.json").write_text(json.dumps(resources))
    machine.mount_below(folder, "/opt", "ml")
    return folder / "output"


@pytest.mark.parametrize("count", [1, 2])
def test_the_rendered_command_line_passes(
    machines: Callable[..., Machines], store: int, tmp_path: Path, count: int
) -> None:
    hosts = [f"algo-{index + 1}" for index in range(count)]
    found = machines(OWN_NAMES[:count], {OWN_NAMES[index]: [host] for index, host in enumerate(hosts)})
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"}
    endpoint = f"http://{found.here}:{store}"
    spec = replace(SPEC, nodes=count, environment=(("AWS_ENDPOINT_URL", endpoint), *keys.items()))
    if count > 1:
        spec = replace(spec, environment=(*spec.environment, *FORKED_RANKS))
    boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    ).create_bucket(Bucket="ml-artifacts")
    request = render(spec, SETTINGS, "job")
    command = request["AlgorithmSpecification"]["ContainerEntrypoint"]
    outputs = [
        prepare(machine, spec, hosts, rank, tmp_path / machine.name) for rank, machine in enumerate(found.machines)
    ]
    nodes = [machine.start(command, request["Environment"]) for machine in found.machines]
    told = [node.communicate(timeout=120)[0] for node in nodes]
    assert [node.returncode for node in nodes] == [0] * count, told
    for output in outputs:
        document = json.loads((output / "data" / "result.json").read_text())
        assert result.problems(document) == []
        assert document["verdict"] == "pass"
        assert document["topology"]["nodes"] == count
        assert not (output / "failure").exists()


def test_a_failure_is_told_where_the_service_looks(machines: Callable[..., Machines], tmp_path: Path) -> None:
    (machine,) = machines(OWN_NAMES[:1]).machines
    spec = replace(SPEC, options={**SPEC.options, "breaks": ["collectives"]}, environment=FORKED_RANKS)
    output = prepare(machine, spec, ["algo-1"], 0, tmp_path / "ml")
    request = render(spec, SETTINGS, "job")
    node = machine.start(request["AlgorithmSpecification"]["ContainerEntrypoint"], request["Environment"])
    told, _ = node.communicate(timeout=120)
    assert node.returncode == 10, told
    assert (output / "failure").read_text().startswith("smoke job, exit 10. collectives: ")
