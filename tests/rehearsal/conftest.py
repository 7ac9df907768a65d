"""Small projects for the rehearsal's own tests."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainyard.rehearsal.rehearse import Rehearsal, rehearse

GOOD = Path(__file__).parent / "projects" / "good"

PREAMBLE = """
import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.eks as eks
import pulumi_aws.iam as iam
import pulumi_aws.s3 as s3
import pulumi_kubernetes as kubernetes
import pulumi_kubernetes.core.v1 as core
from pulumi_aws import Provider

aws = Provider("aws", region="us-east-1", default_tags={"tags": {"client": "acme"}})
on_aws = pulumi.ResourceOptions(provider=aws)


class Nodes(pulumi.ComponentResource):
    def __init__(self, name, make, opts=None):
        super().__init__("mini:index:Nodes", name, None, opts)
        self.made = make(name, pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


def group(name, opts, **changes):
    arguments = {
        "cluster_name": "cluster",
        "node_role_arn": "arn:aws:iam::123456789012:role/nodes",
        "subnet_ids": ["subnet-0123456789abcdef0"],
        "scaling_config": {"min_size": 0, "max_size": 1, "desired_size": 0},
    }
    return eks.NodeGroup(f"{name}-train", **{**arguments, **changes}, opts=opts)


def ignoring(opts, *paths):
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=list(paths)))
"""

Run = Callable[..., Rehearsal]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Writes a program (after `PREAMBLE`) into a project of its own and rehearses it, without the checks of values."""
    monkeypatch.setattr("trainyard.rehearsal.judged.check_values", lambda resources, context: [])

    def rehearsed(program: str, *, config: str = "", declared: str = "", **options: Any) -> Rehearsal:
        stacks = tmp_path / "stacks"
        stacks.mkdir(exist_ok=True)
        (tmp_path / "Pulumi.yaml").write_text(
            f"name: mini\nruntime: python\nmain: stacks\nstackConfigDir: stacks\n{textwrap.dedent(declared)}"
        )
        (stacks / "Pulumi.test.yaml").write_text(textwrap.dedent(config))
        (stacks / "__main__.py").write_text(PREAMBLE + textwrap.dedent(program))
        return rehearse(tmp_path, "test", **options)

    return rehearsed
