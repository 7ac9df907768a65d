"""What a rehearsal costs: cold and warm time, memory, and whether the cost of a resource grows with their number.

Run by `make bench`: `python -m trainyard.rehearsal.bench [PROJECT] [STACK]`. Cold figures are of fresh processes of the
command, policies and price included, and stand beside a first `terraform plan` of as many resources, where Terraform is
there; warm ones are of a rehearsal in the same process again. Linearity is measured on a synthetic program.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal import bench_terraform
from trainyard.rehearsal.rehearse import Rehearsal, rehearse

SIZES = (1_000, 5_000, 10_000)

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


_COMMAND = "from trainyard.cli.__main__ import main; main()"
_IMPORTS = """
import sys, types
import trainyard.stacks.environment.build
for name, module in list(sys.modules.items()):
    if name.startswith("trainyard."):
        for value in list(vars(module).values()):
            if isinstance(value, types.ModuleType):
                getattr(value, "outputs", None)  # the SDK imports a package when it is first asked for a name
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took: wall and CPU (user and system) seconds, peak memory in MiB."""

    wall: float
    cpu: float
    mib: float


def fresh(*command: str) -> Cost:
    """One Python process, with the bytecode that the first leaves. 1 says that a policy is violated: no failure."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return process_cost([sys.executable, *command], kept, accepted=(0, 1))


def process_cost(command: Sequence[str], environment: Mapping[str, str], accepted: Sequence[int] = (0,)) -> Cost:
    """One process and those that it started and waited for. `RuntimeError` where its exit code is not accepted."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in accepted:
            errors.seek(0)
            raise RuntimeError(f"exit {process.returncode}: {errors.read().decode(errors='replace')}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def cold(project: Path, stack: str, repeats: int) -> tuple[list[Cost], list[Cost]]:
    """Fresh processes by turns: `trainyard rehearse`, and nothing but the ordinary imports of Trainyard's program.

    The second is what any run of the program costs at least; the ratio of both tells more than seconds do on a machine
    that others use.
    """
    runs: list[Cost] = []
    imports: list[Cost] = []
    for _ in range(repeats):
        runs.append(fresh(*_rehearsal(project, stack)))
        imports.append(fresh("-c", _IMPORTS))
    return runs, imports


def beside_terraform(project: Path, stack: str, recorded: Sequence[RecordedResource], repeats: int) -> None:
    """Prints what a cold rehearsal and a `terraform plan` of as many resources take by turns; or why it cannot."""
    own = [found for found in recorded if found.is_made]
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            written = bench_terraform.configuration(Counter(found.type for found in own), len(own))
            terraform = bench_terraform.initialized(Path(name), written)
            plans, runs = [], []
            for _ in range(repeats):
                plans.append(process_cost(terraform.command, terraform.environment))
                runs.append(fresh(*_rehearsal(project, stack)))
    except bench_terraform.CannotCompareError as error:
        print(f"{'terraform plan':<20} not measured: {error}", flush=True)
        return
    print(_line("terraform plan", plans) + f"   {len(own)} resources, {terraform.versions}")
    print(_line("rehearse beside it", runs))
    wall = spread([run.wall / plan.wall for run, plan in zip(runs, plans, strict=True)])
    cpu = spread([run.cpu / plan.cpu for run, plan in zip(runs, plans, strict=True)])
    print(f"{'rehearse / plan':<20} wall {wall}   CPU {cpu}", flush=True)


def _rehearsal(project: Path, stack: str) -> tuple[str, ...]:
    return ("-c", _COMMAND, "rehearse", stack, "--project", str(project))


def timed(project: Path, stack: str) -> tuple[Cost, Rehearsal]:
    """One rehearsal in this process; memory is the process's peak so far. `RuntimeError` if it finds an error."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = rehearse(project, stack, timeout_seconds=600)
    cost = Cost(
        time.perf_counter() - wall,
        time.process_time() - cpu,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )
    if found.errors:
        raise RuntimeError(f"the program is wrong: {found.errors[0]}")
    return cost, found


def warm(project: Path, stack: str, repeats: int) -> tuple[list[Cost], list[Rehearsal]]:
    """One more stack in a process that has rehearsed one, again and again, with what was found each time."""
    timed(project, stack)
    costs, found = zip(*(timed(project, stack) for _ in range(repeats)), strict=True)
    return list(costs), list(found)


def shares(rehearsals: Sequence[Rehearsal]) -> str:
    """What each part of a rehearsal takes of its wall time: medians, the largest first."""
    parts = {
        part: statistics.median(found.seconds[part] / found.seconds["total"] for found in rehearsals)
        for part in rehearsals[0].seconds
        if part != "total"
    }
    largest_first = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{part.replace('_', ' ')} {share:.0%}" for part, share in largest_first)


def linearity(sizes: Sequence[int] = SIZES) -> list[tuple[int, Cost]]:
    """Resources and cost of synthetic programs of about these sizes; imports are paid before."""
    measured: list[tuple[int, Cost]] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        for size in (10, *sizes):
            folder = Path(name) / str(size)
            synthetic(folder, size)
            cost, found = timed(folder, "bench")
            measured.append((len(found.resources), cost))
    return measured[1:]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median, with the smallest and the largest."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def _line(what: str, costs: Sequence[Cost]) -> str:
    wall, cpu = spread([cost.wall for cost in costs]), spread([cost.cpu for cost in costs])
    return f"{what:<20} wall {wall} s   CPU {cpu} s   {spread([cost.mib for cost in costs], 0)} MiB"


def _cpu(costs: Sequence[Cost]) -> float:
    return statistics.median(cost.cpu for cost in costs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures as they come, medians with smallest and largest; exit 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", nargs="?", default=".", type=Path, help="folder of Pulumi.yaml")
    parser.add_argument("stack", nargs="?", default="demo")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES), help="resources of the synthetic program")
    options = parser.parse_args(arguments)
    runs, imports = cold(options.project, options.stack, options.repeats)
    print(_line("trainyard rehearse", runs), flush=True)
    print(_line("imports alone", imports), flush=True)
    ratios = spread([run.wall / alone.wall for run, alone in zip(runs, imports, strict=True)])
    print(f"{'rehearse / imports':<20} wall {ratios}")
    more, found = warm(options.project, options.stack, options.repeats)
    count = len(found[0].resources)
    print(_line("one more stack", more))
    print(f"{'':<20} {shares(found)}")
    beside_terraform(options.project, options.stack, found[0].resources, options.repeats)
    rate = count / statistics.median(cost.wall for cost in more)
    first_only = 1 - _cpu(more) / _cpu(runs)
    print(f"{'':<20} {count} resources, both runs and all checks: {rate:.0f} resources a second")
    print(f"{'imports and tables':<20} {first_only:.0%} of the CPU time of a cold run", flush=True)
    sizes = linearity(options.sizes)
    for resources, cost in sizes:
        each = f"{1000 * cost.wall / resources:.2f} ms a resource, CPU {1000 * cost.cpu / resources:.2f} ms"
        print(f"{resources:>6} resources     wall {cost.wall:.2f} s   {each}   {cost.mib:.0f} MiB", flush=True)
    if len(sizes) > 1:
        (few, least), (many, most) = sizes[0], sizes[-1]
        ratio = (most.cpu / many) / (least.cpu / few)
        print(f"{'linearity':<20} a resource among {many} takes {ratio:.2f} of one among {few} (CPU)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
