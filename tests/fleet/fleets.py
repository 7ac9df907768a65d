"""Projects of an agency with a few clients, and a stand-in for the Pulumi command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import yaml

from trainyard.fleet.clients import FILE, Client, read_clients
from trainyard.rehearsal.engine.project import stack_files
from trainyard.settings.declarations import project_file

STAND_IN = """\
#!{python} -IS
import json, os, pathlib, sys, time
stack = sys.argv[sys.argv.index("--stack") + 1]
folder = pathlib.Path({folder!r})
verb = "-".join(sys.argv[1:3]) if sys.argv[1] == "stack" else sys.argv[1]
with (folder / "calls").open("a") as calls:
    calls.write(" ".join([stack, verb, os.environ.get("PULUMI_BACKEND_URL", "-")]) + "\\n")
meet = folder / "meet"
given_up = time.monotonic() + 300
while meet.exists() and len((folder / "calls").read_text().splitlines()) < int(meet.read_text()):
    if time.monotonic() > given_up:
        print("error: nobody runs beside it")
        sys.exit(9)
    time.sleep(0.02)
time.sleep({seconds} * (8 if (folder / f"slow-{{stack}}").exists() else 1))
if verb == "stack-output":
    print('{{"apiVersion": "v1"}}')
    sys.exit(0)
print("Updating", stack)
if "--event-log" in sys.argv:
    for name in (f"events-{{stack}}", "events"):
        if (folder / name).exists():
            with open(sys.argv[sys.argv.index("--event-log") + 1], "w") as stream:
                stream.write((folder / name).read_text())
            break
state = folder / f"state-{{stack}}.json"
if verb in ("stack-export", "stack-import"):
    ours, theirs = state, pathlib.Path(sys.argv[sys.argv.index("--file") + 1])
    if verb == "stack-export" and not ours.exists():
        print(f"error: no stack named '{{stack}}' found", file=sys.stderr)
        sys.exit(255)
    given, taken = (ours, theirs) if verb == "stack-export" else (theirs, ours)
    taken.write_text(given.read_text())
    sys.exit(0)
if verb == "destroy" and state.exists():
    held = json.loads(state.read_text())
    resources = held["deployment"]["resources"]
    if any(each.get("protect") for each in resources):
        print("error: resource is protected")
        sys.exit(255)
    failing = (folder / f"fail-{{stack}}").exists()
    left = resources[: len(resources) // 2] if failing else []
    gone = resources[len(left):]
    with (folder / "deleted").open("a") as deleted:
        for each in reversed(gone):
            if each.get("custom") and not each.get("retainOnDelete"):
                deleted.write(each["urn"] + "\\n")
    held["deployment"]["resources"] = left
    state.write_text(json.dumps(held))
if (folder / f"kill-{{stack}}").exists():
    os.kill(os.getpid(), 9)
if (folder / f"fail-{{stack}}").exists() or (folder / f"fail-{{stack}}-{{verb}}").exists():
    print("error: update failed: quota")
    sys.exit(255)
with (folder / "ended").open("a") as ended:
    ended.write(stack + "\\n")
"""


def pulumi(folder: Path, seconds: float = 0.0) -> Path:
    """A command that notes what it was called with, and fails where a file `fail-STACK` or `fail-STACK-VERB` says so.

    Where a file `kill-STACK` says so it is killed.

    It takes eight times as long where a file `slow-STACK` says so, and goes on only when as many calls have begun as a
    file `meet` says.

    The engine's event stream that it plays to `--event-log` is in `events-STACK`, else in `events`; none where there is
    neither.

    It keeps a state in `state-STACK.json`, where a test puts one: `destroy` empties it, half of it where it fails.
    """
    path = folder / "pulumi"
    path.write_text(STAND_IN.format(python=sys.executable, folder=str(folder), seconds=seconds))
    path.chmod(0o755)
    return path


def programs(folder: Path) -> str:
    """A path with stand-ins for what reaches a client's cluster, which nobody asks here."""
    for name in ("aws", "session-manager-plugin", "gke-gcloud-auth-plugin"):
        (folder / name).write_text("#!/bin/sh\nexit 9\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def without_bastion(file: Path) -> None:
    """Writes into a stack file that the API answers the public: `tests/fleet/test_tunnel.py` has the bastions."""
    content = yaml.safe_load(file.read_text())
    content["config"]["trainyard:apiAccess"] = {"cidrs": ["8.8.8.0/24"]}
    file.write_text(yaml.safe_dump(content))


def settings(client: str, **more: Any) -> dict[str, Any]:
    """What is a client's own, and nobody else's."""
    return {
        "client": client,
        "cloud": "aws",
        "region": "us-east-1",
        "teamSize": 8,
        "alertEmails": [f"ml@{client}.example"],
        "owner": f"ann@{client}.example",
        "costCentre": f"cc-{client}",
        "stateBackend": f"s3://agency-{client}?region=us-east-1",
        "apiAccess": {"cidrs": ["8.8.8.0/24"]},  # no bastion: `tests/fleet/test_tunnel.py` has those
        **more,
    }


def project(folder: Path, stacks: dict[str, dict[str, Any]], fleet: dict[str, Any] | None = None) -> Path:
    """A project with stacks of these settings; `secretsprovider` among them is the stack file's own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Pulumi.yaml").write_text(project_file())
    (folder / "__main__.py").write_text("from trainyard.stacks.program import main\n\nmain()\n")
    for stack, given in stacks.items():
        own = {key: value for key, value in given.items() if key != "secretsprovider"}
        provider = given.get("secretsprovider", f"awskms://alias/{stack}")
        content = {"secretsprovider": provider, "config": {f"trainyard:{key}": value for key, value in own.items()}}
        (folder / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump(content))
    if fleet is not None:
        (folder / FILE).write_text(yaml.safe_dump({"stacks": fleet}))
    return folder


def clients(folder: Path) -> list[Client]:
    return read_clients(folder, stack_files(folder))
