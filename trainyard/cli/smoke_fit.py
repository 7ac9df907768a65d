"""Which options of `trainyard smoke` a target has: one that it has not is refused, not left out without a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import typer

from trainyard.cli.smoke_options import Target
from trainyard.smoke_jobs.launch.job import LaunchError

_CLUSTER: Final = (Target.kubernetes, Target.trainjob)
_AWAY: Final = tuple(target for target in Target if target is not Target.local)
_MANAGED: Final = (Target.sagemaker, Target.vertex)

TARGETS: Final[Mapping[str, tuple[Target, ...]]] = {
    "result_dir": (Target.local,),
    "pool": _AWAY,
    "image": _AWAY,
    "start_timeout": _AWAY,
    "transport": _AWAY,
    "capacity": _CLUSTER,
    "team": _CLUSTER,
    "queue_timeout": _CLUSTER,
    "keep": _CLUSTER,
    "sweep": (Target.kubernetes, Target.slurm),
    "context": _CLUSTER,
    "partition": (Target.slurm,),
    "account": (Target.slurm,),
    "python": (Target.slurm,),
    "container": (Target.slurm,),
    "bucket": _MANAGED,
    "spot": _MANAGED,
    "region": _MANAGED,
    "role_arn": (Target.sagemaker,),
    "subnets": (Target.sagemaker,),
    "security_groups": (Target.sagemaker,),
    "kms_key": _MANAGED,
    "tags": _MANAGED,
    "gcp_project": (Target.vertex,),
    "service_account": (Target.vertex,),
}
"""Option, by its parameter's name, to the targets that have it; all others are every target's."""

OF_A_STACK: Final = ("pool", "capacity", "team")
"""Options that choose among what a stack has."""

OF_A_RESULT: Final = ("json_file", "html_file", "record_baseline", "result_dir")
"""Options that say where a result goes, which a rendering has none of."""


OF_ONE_JOB: Final = ("html_file", "record_baseline", "render", "nodes")
"""Options that a sweep has no use for."""


def given_options(context: typer.Context) -> dict[str, str]:
    """What the command line holds, an option's default value included: parameter's name to how it is spelt."""
    found = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name) if parameter.name else None
        if parameter.name and source is not None and source.name != "DEFAULT":
            found[parameter.name] = parameter.opts[0]
    return found


def check_options(given: Mapping[str, str], target: Target) -> None:
    """Raises LaunchError, naming each, for options that the job would not take into account."""
    problems = []
    for name, flag in given.items():
        if target not in TARGETS.get(name, (target,)):
            problems.append(f"{flag} is for --target {_either(TARGETS[name])}, not {target}")
        elif name in OF_A_STACK and "stack" not in given:
            problems.append(f"{flag} chooses among what a stack has: name the STACK")
        elif name in OF_ONE_JOB and "sweep" in given:
            problems.append(f"{flag} is of one job, and --sweep runs many")
        elif name in OF_A_RESULT and "render" in given:
            problems.append(f"{flag} is for a result, and --render runs nothing")
    if target is Target.slurm and "image" in given and "container" not in given:
        problems.append(f"{given['image']} on Slurm needs --container (Pyxis); without it the job runs in --python")
    if problems:
        raise LaunchError("; ".join(problems))


def _either(targets: tuple[Target, ...]) -> str:
    *others, last = targets
    return f"{', '.join(others)} or {last}" if others else str(last)
