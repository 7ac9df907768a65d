"""What the tests of the launchers share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from trainyard.smoke_jobs.launch.follow import CheckDone
from trainyard.smoke_jobs.launch.job import SmokeSpec
from trainyard.smoke_jobs.launch.kubernetes import render

DIGEST = "@sha256:" + "0" * 64
IMAGE = f"pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime{DIGEST}"

GPU_POOL = SmokeSpec(
    name="smoke-train",
    stack="acme",
    pool="train",
    nodes=2,
    gpus_per_node=8,
    instance="p5.48xlarge",
    gpu="H100",
    gpu_memory_gib=80.0,
    transport="efa",
    usd_per_node_hour=55.04,
    image=IMAGE,
    environment=(("AWS_REGION", "us-east-1"),),
    cpu=68,
    memory_gib=208,
    shared_memory_gib=52,
    fabric_resource="vpc.amazonaws.com/efa",
    fabric_interfaces=32,
    hugepages_mib=5120,
    namespace="team-vision",
    queue="vision",
    priority="standard",
    mounts=(("data", "/data"), ("checkpoints", "/checkpoints")),
    checkpoint_uri="/checkpoints/smoke",
    tracking_secret="mlflow-credentials",
)

QUICK = {"checks": ["rendezvous", "devices"]}
"""Checks that end in seconds."""

CPU = SmokeSpec(processes_per_node=2, image=IMAGE, namespace="team-vision", queue="vision", options=QUICK)


class RecordedView:
    def __init__(self) -> None:
        self.statuses: list[str] = []
        self.done: list[CheckDone] = []

    def status(self, text: str) -> None:
        if not self.statuses or self.statuses[-1] != text:
            self.statuses.append(text)

    def still_wanted(self) -> None:
        pass

    def check_done(self, done: CheckDone) -> None:
        self.done.append(done)


def unpack(files: dict[str, str], folder: Path) -> Path:
    """As a ConfigMap's mount shows them; the path of start.py."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / "start.py"


def run_start(start: Path, variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(start), *arguments],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def job_policy(spec: SmokeSpec) -> dict[str, Any]:
    """The spec of the Job that the Kubernetes launcher renders."""
    found: dict[str, Any] = render(spec).job["spec"]
    return found
