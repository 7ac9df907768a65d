"""What a rehearsal costs: cold and warm time, memory, and whether the cost of a resource grows with their number.

Run by `make bench`: `python -m stacks.rehearsal.bench [PROJECT] [STACK]`. Cold figures are of fresh processes, warm
ones of the same process again; medians of several runs. Linearity is measured on a synthetic program.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stacks.rehearsal.rehearse import Rehearsal, rehearse

SIZES = (1_000, 5_000)

_PROGRAM = """
    import pulumi
    import pulumi_aws.ec2 as ec2
    import pulumi_aws.iam as iam
    from pulumi_aws import Provider

    aws = Provider("aws", region="us-east-1", default_tags={"tags": {"client": "bench"}})


    class Room(pulumi.ComponentResource):
        def __init__(self, name, opts):
            super().__init__("bench:index:Room", name, None, opts)
            child = pulumi.ResourceOptions(parent=self)
            group = ec2.SecurityGroup(f"{name}-group", description="bench", opts=child)
            role = iam.Role(f"{name}-role", assume_role_policy=POLICY, opts=child)
            policy = iam.RolePolicyAttachment(
                f"{name}-attached", role=role.name, policy_arn="arn:aws:iam::aws:policy/ReadOnlyAccess", opts=child
            )
            ec2.LaunchTemplate(
                f"{name}-template",
                metadata_options={"http_tokens": "required"},
                vpc_security_group_ids=[group.id],
                tags={"role": role.arn},
                opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
            )
            self.register_outputs({})


    POLICY = (
        '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole",'
        ' "Principal": {"Service": "ec2.amazonaws.com"}}]}'
    )
    for index in range(pulumi.Config().require_int("rooms")):
        Room(f"room-{index}", pulumi.ResourceOptions(providers=[aws]))
"""


def synthetic(folder: Path, resources: int) -> None:
    """Writes a project `bench` whose stack `bench` makes about so many resources, in components of five."""
    (folder / "stacks").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: bench\nruntime: python\nmain: stacks\nstackConfigDir: stacks\n")
    (folder / "stacks" / "Pulumi.bench.yaml").write_text(f"config:\n  bench:rooms: {resources // 5}\n")
    (folder / "stacks" / "__main__.py").write_text(textwrap.dedent(_PROGRAM))


def once(project: Path, stack: str) -> dict[str, Any]:
    """One cold rehearsal in this process: seconds by phase and in all, resources, peak memory in MiB."""
    found = rehearse(project, stack)
    return {
        "seconds": dict(found.seconds),
        "resources": len(found.resources),
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "errors": len(found.errors),
    }


def cold(project: Path, stack: str, repeats: int) -> dict[str, float]:
    """Medians over fresh processes; the wall time includes the interpreter's start."""
    walls: list[float] = []
    memory: list[float] = []
    command = [sys.executable, "-m", "stacks.rehearsal.bench", "--once", str(project), stack]
    for _ in range(repeats):
        started = time.perf_counter()
        finished = subprocess.run(command, check=True, capture_output=True, text=True)
        walls.append(time.perf_counter() - started)
        memory.append(float(json.loads(finished.stdout.splitlines()[-1])["mib"]))
    return {"seconds": statistics.median(walls), "mib": statistics.median(memory)}


def warm(project: Path, stack: str, repeats: int) -> tuple[float, Rehearsal]:
    """Median seconds of one more rehearsal in a process that has made one, and the last of them."""
    found = rehearse(project, stack)
    times: list[float] = []
    for _ in range(repeats):
        started = time.perf_counter()
        found = rehearse(project, stack)
        times.append(time.perf_counter() - started)
    return statistics.median(times), found


def linearity(sizes: Sequence[int] = SIZES) -> list[tuple[int, float]]:
    """(resources, seconds) of synthetic programs; imports are paid before."""
    measured: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        for size in (10, *sizes):
            folder = Path(name) / str(size)
            synthetic(folder, size)
            started = time.perf_counter()
            found = rehearse(folder, "bench", timeout_seconds=600)
            if found.errors:
                raise RuntimeError(f"the synthetic program is wrong: {found.errors[0]}")
            measured.append((len(found.resources), time.perf_counter() - started))
    return measured[1:]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures; exit 0. With `--once` one line of JSON, for the cold measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", nargs="?", default=".", type=Path, help="folder of Pulumi.yaml")
    parser.add_argument("stack", nargs="?", default="demo")
    parser.add_argument("--once", action="store_true", help="one rehearsal in this process, as JSON")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES), help="resources of the synthetic program")
    options = parser.parse_args(arguments)
    if options.once:
        print(json.dumps(once(options.project, options.stack)))
        return 0
    fresh = cold(options.project, options.stack, options.repeats)
    again, found = warm(options.project, options.stack, options.repeats)
    count = len(found.resources)
    print(f"cold rehearsal   {fresh['seconds']:6.2f} s   {fresh['mib']:.0f} MiB   ({count} resources, fresh process)")
    print(f"one more stack   {again:6.2f} s   {count / again:.0f} resources a second, both runs")
    for resources, seconds in linearity(options.sizes):
        print(f"{resources:6d} resources {seconds:6.2f} s   {1000 * seconds / resources:.2f} ms a resource")
    return 0


if __name__ == "__main__":
    sys.exit(main())
