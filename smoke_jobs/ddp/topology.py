"""Where this node stands, from what each platform tells its containers.

Explicit options win. Otherwise, the first platform that is recognised:
torchrun's own variables (Kubeflow Trainer sets PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR), SageMaker
(SM_HOSTS/SM_CURRENT_HOST or /opt/ml/input/config/resourceconfig.json), Vertex AI (CLUSTER_SPEC), Slurm (SLURM_NNODES,
SLURM_NODEID; the head's name comes from the batch script), a Kubernetes Indexed Job (JOB_COMPLETION_INDEX; nodes and
head come from the launcher).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .options import Options, UsageError

SAGEMAKER_RESOURCES = Path("/opt/ml/input/config/resourceconfig.json")


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes of the job, the index of this one, and the head's host name ("" on one node)."""

    nodes: int
    node_rank: int
    head: str
    hosts: tuple[str, ...]  # in rank order where the platform names them
    interface: str = ""  # of the network between the nodes, where the platform says
    named: bool = False  # the platform's names need not be the hosts' own: SageMaker's algo-1 runs on ip-10-0-1-2


def detect(options: Options, environ: Mapping[str, str], sagemaker: Path = SAGEMAKER_RESOURCES) -> Topology:
    """The topology; raises UsageError where several nodes are asked for and the rank or the head is not known."""
    found = _platform(environ, sagemaker)
    nodes = options.nodes or found.nodes or 1
    node_rank = options.node_rank if options.node_rank >= 0 else found.node_rank
    if nodes == 1:
        hosts = options.expected_hosts or found.hosts
        return Topology(1, 0, "", hosts, found.interface, found.named and not options.expected_hosts)
    problems = []
    if not 0 <= node_rank < nodes:
        problems.append(f"node_rank is {node_rank} of {nodes} nodes; set node_rank (0 to {nodes - 1})")
    head = options.head or found.head
    if not head:
        problems.append(f"{nodes} nodes need a rendezvous: set head to the host name of node 0")
    hosts = options.expected_hosts or found.hosts
    if hosts and len(hosts) != nodes:
        problems.append(f"expected_hosts names {len(hosts)} hosts, the job has {nodes} nodes")
    if problems:
        raise UsageError(problems)
    return Topology(nodes, node_rank, head, hosts, found.interface, found.named and not options.expected_hosts)


def _platform(environ: Mapping[str, str], sagemaker: Path) -> Topology:
    if environ.get("PET_NNODES"):
        nodes = int(environ["PET_NNODES"].split(":")[-1])  # MIN:MAX where elastic
        head = environ.get("PET_MASTER_ADDR") or environ.get("PET_RDZV_ENDPOINT", "").rsplit(":", 1)[0]
        return Topology(nodes, int(environ.get("PET_NODE_RANK", "-1")), head, ())
    if environ.get("SM_HOSTS") or sagemaker.exists():
        document = json.loads(sagemaker.read_text()) if sagemaker.exists() else {}
        hosts = json.loads(environ["SM_HOSTS"]) if environ.get("SM_HOSTS") else document["hosts"]
        current = environ.get("SM_CURRENT_HOST") or document["current_host"]
        interface = environ.get("SM_NETWORK_INTERFACE_NAME") or document.get("network_interface_name", "")
        hosts = sorted(hosts, key=_natural)  # algo-2 before algo-10
        return Topology(len(hosts), hosts.index(current), hosts[0], tuple(hosts), interface, named=True)
    if environ.get("CLUSTER_SPEC"):
        document = json.loads(environ["CLUSTER_SPEC"])
        cluster = document["cluster"]
        hosts = [host.rsplit(":", 1)[0] for pool in sorted(cluster) for host in cluster[pool]]
        task = document["task"]
        before = sum(len(cluster[pool]) for pool in sorted(cluster) if pool < task["type"])
        # That a container's own host name is the one in the specification is documented nowhere.
        return Topology(len(hosts), before + int(task["index"]), hosts[0], tuple(hosts), named=True)
    if environ.get("SLURM_NNODES"):
        return Topology(int(environ["SLURM_NNODES"]), int(environ.get("SLURM_NODEID", "-1")), "", ())
    return Topology(0, int(environ.get("JOB_COMPLETION_INDEX", "-1")), "", ())


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
