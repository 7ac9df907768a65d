"""A project whose cluster stands: stand-ins for Pulumi and for a kubectl that keeps queues as the API server does."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from tests.fleet.fleets import pulumi, without_bastion
from tests.shared import ROOT
from trainyard import catalog
from trainyard.cli.main import app
from trainyard.plan.lock import lock_text, read_lock

KUBECTL = """#!{python} -IS
import fcntl, json, pathlib, sys
here = pathlib.Path({folder!r})
alone = open(here / "kubectl.lock", "w")  # as the API server: one write after the other
fcntl.flock(alone, fcntl.LOCK_EX)
cluster = json.loads((here / "cluster.json").read_text())
words = [word for word in sys.argv[1:] if not word.startswith("-")]
with open(here / "asked", "a") as asked:
    asked.write(" ".join(sys.argv[4:]) + "\\n")
if cluster.get("down"):
    sys.exit("Unable to connect to the server: i/o timeout")
if "patch" in words:
    with open(here / "patched", "a") as patched:
        patch = json.loads(sys.argv[sys.argv.index("--patch") + 1])
        patched.write(json.dumps({{"name": words[words.index("patch") + 2], "patch": patch}}) + "\\n")
elif "localqueues.kueue.x-k8s.io" in words:
    items = [
        {{"metadata": {{"namespace": key.split("/")[0], "name": key.split("/")[1]}}, "spec": {{"stopPolicy": policy}}}}
        for key, (policy, _) in cluster["queues"].items()
    ]
    print(json.dumps({{"items": items}}))
elif "workloads.kueue.x-k8s.io" in words:
    listed = cluster["workloads"]
    print(json.dumps({{"items": listed.pop(0) if listed else []}}))
elif "apply" in words:
    given = json.loads(pathlib.Path(sys.argv[sys.argv.index("--filename") + 1]).read_text())
    with open(here / "applied", "a") as applied:
        applied.write(json.dumps(given) + "\\n")
    manager = next(word for word in sys.argv if word.startswith("--field-manager=")).partition("=")[2]
    key = given["metadata"]["namespace"] + "/" + given["metadata"]["name"]
    policy, owner = cluster["queues"][key]
    wanted = given["spec"].get("stopPolicy")
    if wanted and owner not in ("", manager) and wanted != policy:
        sys.exit("conflict with " + owner)
    if wanted:
        cluster["queues"][key] = [wanted, owner or manager]
    elif owner == manager:
        cluster["queues"][key] = ["None", ""]
else:
    sys.exit("no answer to " + " ".join(words))
(here / "cluster.json").write_text(json.dumps(cluster))
"""

QUEUES = {
    "team-language/default": ["None", ""],
    "team-language/smoke": ["None", ""],
    "team-vision/default": ["None", ""],
    "team-vision/smoke": ["None", ""],
}


def workload(queue: str, *true: str, name: str = "run") -> dict[str, Any]:
    """A job of a queue, `team-vision/default`, with conditions that are true."""
    namespace, _, own = queue.partition("/")
    return {
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"queueName": own},
        "status": {"conditions": [{"type": each, "status": "True"} for each in true]},
    }


ADD_ONS = "eks.DescribeAddonVersions"


def sold(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Every add-on in every build that is pinned for the version that is asked for."""
    pins, _ = catalog.add_on_pins(asked["kubernetesVersion"])
    versions = [{"addonVersion": pin.version} for pin in pins if pin.name == asked["addonName"]]
    return {"addons": [{"addonName": asked["addonName"], "addonVersions": versions}]}


class Standing:
    """A stack that stands, at a version of Kubernetes; `offered` is what EKS answers."""

    def __init__(self, folder: Path, version: str, release: str) -> None:
        self.folder, self.project = folder, folder / "project"
        (self.project / "stacks").mkdir(parents=True)
        shutil.copy(ROOT / "Pulumi.yaml", self.project)
        shutil.copy(ROOT / "stacks" / "__main__.py", self.project / "stacks")
        for file in (ROOT / "stacks").glob("Pulumi.demo.*"):
            shutil.copy(file, self.project / "stacks")
        without_bastion(self.project / "stacks" / "Pulumi.demo.yaml")
        known = read_lock(self.lock)
        assert known is not None
        there = known.model_copy(update={"kubernetes_version": version, "node_release": release})
        self.lock.write_text(lock_text(there, "demo"))
        self.offered: dict[str, Any] = {
            ADD_ONS: sold,
            "eks.DescribeClusterVersions": {
                "clusterVersions": [{"clusterVersion": each} for each in catalog.known_kubernetes_versions()]
            },
        }
        self.cluster(queues=QUEUES, workloads=[])
        (folder / "bin").mkdir()
        kubectl = folder / "bin" / "kubectl"
        kubectl.write_text(KUBECTL.format(python=sys.executable, folder=str(folder)))
        kubectl.chmod(0o755)
        pulumi(folder)

    def answer(self, operation: str, asked: Mapping[str, Any]) -> Any:
        """What EKS answers now."""
        found = self.offered[operation]
        return found(asked) if callable(found) else found

    @property
    def lock(self) -> Path:
        return self.project / "stacks" / "Pulumi.demo.lock.yaml"

    @property
    def versions(self) -> tuple[str | None, str | None]:
        found = read_lock(self.lock)
        assert found is not None
        return found.kubernetes_version, found.node_release

    def cluster(self, **parts: Any) -> None:
        """Sets parts of what the cluster has."""
        path = self.folder / "cluster.json"
        was = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**was, **parts}))

    @property
    def queues(self) -> dict[str, str]:
        """The queues and whether they are held."""
        held = json.loads((self.folder / "cluster.json").read_text())["queues"]
        return {name: policy for name, (policy, _) in held.items()}

    @property
    def applied(self) -> list[str]:
        """What was applied, a line each."""
        path = self.folder / "applied"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def patched(self) -> list[dict[str, Any]]:
        """What was patched, by name."""
        path = self.folder / "patched"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def calls(self) -> list[str]:
        """What Pulumi was called for."""
        path = self.folder / "calls"
        return [line.split()[1] for line in path.read_text().splitlines()] if path.exists() else []

    def failing(self, verb: str, *, fails: bool = True) -> None:
        """Whether `pulumi VERB` fails from now on."""
        path = self.folder / f"fail-demo-{verb}"
        path.touch() if fails else path.unlink()

    def run(self, *arguments: str) -> Result:
        return self.verb("upgrade", *arguments)

    def verb(self, name: str, *arguments: str) -> Result:
        """A verb on the stack, with the stand-in for Pulumi."""
        whole = [name, "demo", *arguments, "--pulumi", str(self.folder / "pulumi")]
        return CliRunner().invoke(app, [*whole, "--project", str(self.project)])
