"""Programs that `pulumi up` and what follows it need on the caller's own machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from trainyard.account import gcp
from trainyard.plan.parts import Plan
from trainyard.preflight.model import Answer, Line, Lines, Subject, lines_of

NAME: Final = "tools"
_line = lines_of(NAME)

ASK_SECONDS: Final = 20


@dataclass(frozen=True, slots=True)
class Tool:
    """A program, what it is for, and where it is installed from."""

    program: str
    why: str
    where: str
    needed: bool = True  # whether the first `up` fails without it


PULUMI: Final = Tool("pulumi", "it deploys the stack", "https://www.pulumi.com/docs/install/")
AWS: Final = Tool(
    "aws",
    "the cluster's objects are made with a token of `aws eks get-token`",
    "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
)
SESSIONS: Final = Tool(
    "session-manager-plugin",
    "the tunnel to the cluster's API is a session of it",
    "https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html",
)
GCLOUD: Final = Tool("gcloud", "the project is asked with it", gcp.WHERE, needed=False)
GKE_PLUGIN: Final = Tool(
    "gke-gcloud-auth-plugin",
    "the cluster's objects are made with its token",
    "https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl",
)
KUBECTL: Final = Tool(
    "kubectl",
    "`trainyard open` and `destroy` ask the cluster with it",
    "https://kubernetes.io/docs/tasks/tools/",
    needed=False,
)

_VERSION: Final = re.compile(r"(\d+)\.(\d+)")


def check(subject: Subject) -> Lines:
    """Each program on the path, and Pulumi's release beside that of the SDK that the program runs with."""
    for tool in tools_of(subject.plan):
        path = shutil.which(tool.program)
        if path is not None:
            if tool is PULUMI:
                yield _pulumi(path)
            else:
                yield _line(tool.program, Answer.FINE, f"{path}")
        else:
            answer = Answer.FAILS if tool.needed else Answer.UNKNOWN
            yield _line(tool.program, answer, f"it is not on the path: {tool.why}", f"install it: {tool.where}")
    if shutil.which(PULUMI.program) is not None:
        yield from _plugins(subject)


def tools_of(plan: Plan) -> list[Tool]:
    """The programs that a stack takes on the path of who brings it up, and of who works with it."""
    found = [PULUMI]
    ground = plan.ground
    if ground.kind == "aws" and plan.clusters:
        found.append(AWS)
        if any(each.access.bastion for each in ground.control_planes):
            found.append(SESSIONS)
    if ground.kind == "gcp":
        found += [GCLOUD, GKE_PLUGIN] if plan.clusters else [GCLOUD]
    return [*found, KUBECTL] if plan.clusters else found


def _pulumi(path: str) -> Line:
    said = _said([path, "version"])
    found, wanted = _VERSION.search(said or ""), _VERSION.search(version("pulumi"))
    if found is None or wanted is None:
        return _line(
            "pulumi", Answer.UNKNOWN, f"{path} does not say which release it is", f"install it: {PULUMI.where}"
        )
    there, sdk = (tuple(map(int, each.groups())) for each in (found, wanted))
    told = f"{path}, release {found[0]}; the SDK is {wanted[0]}"
    if there < sdk:
        return _line(
            "pulumi",
            Answer.UNKNOWN,
            f"{told}: what the SDK asks of it may be missing",
            f"install a newer one: {PULUMI.where}",
        )
    return _line("pulumi", Answer.FINE, told)


def _plugins(subject: Subject) -> Lines:
    """The providers that the program uses: Pulumi fetches what is missing, which takes a network that lets it."""
    said = _said(["pulumi", "plugin", "ls", "--json"])
    try:
        there = {(each["name"], each.get("version", "")) for each in json.loads(said or "")}
    except (ValueError, KeyError, TypeError):
        yield _line(
            "plugins", Answer.UNKNOWN, "`pulumi plugin ls` does not say which are there", "run `pulumi install`"
        )
        return
    used = sorted({resource.package for resource in subject.resources.all if resource.is_made})
    for name in used:
        wanted = _installed(f"pulumi_{name}")
        if wanted is None:
            continue
        if (name, wanted) in there:
            yield _line(f"plugin {name}", Answer.FINE, f"{wanted} is there")
        else:
            told = (
                f"{wanted} is not there; the first `up` fetches it, some hundred MB, from where get.pulumi.com sends it"
            )
            yield _line(
                f"plugin {name}",
                Answer.UNKNOWN,
                told,
                "fetch it now",
                f"pulumi plugin install resource {name} {wanted}",
            )


def _installed(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _said(command: Sequence[str]) -> str | None:
    """What a program writes; None where it fails or does not end."""
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", check=False, timeout=ASK_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
