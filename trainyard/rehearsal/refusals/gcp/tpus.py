"""What GKE refuses of a node pool with TPU chips.

A slice of several machines is one pool of exactly as many nodes, which GKE makes whole and takes away whole; the
machine type says which chips, so that a pool has no accelerator block, nor what is of GPUs (GKE, "About TPUs in GKE",
read 2026-11; cluster-toolkit, 2026-06-25). Of a machine that the catalogue does not have little is asked.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.catalog import gcp as catalog
from trainyard.catalog import tpu_slices
from trainyard.catalog.gcp import Tpu
from trainyard.conventions.gcp import TPU_ACCELERATOR_LABEL, TPU_COUNT_LABEL, TPU_FAMILIES, TPU_TOPOLOGY_LABEL
from trainyard.problems import nearest
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_OF_GPUS: Final = ("nodeConfig.ephemeralStorageLocalSsdConfig", "nodeConfig.localNvmeSsdBlockConfig")
_PATH: Final = "placementPolicy.tpuTopology"


def slice_pool(view: View) -> None:
    """A pool of machines with TPU chips, and whatever says that it is one."""
    type_, topology = view.text("nodeConfig.machineType"), view.text(_PATH)
    if type_ is None:
        return
    if not type_.startswith(TPU_FAMILIES):
        if topology:
            view.error("gke-tpu", _PATH, f"{show(topology)} of {type_}", allowed="nothing: it has no TPU chips")
        return
    _nothing_of_gpus(view, type_)
    _compact(view, topology)
    machine = next((item for item in catalog.tpus() if item.type == type_), None)
    if machine is None:
        _form(view, type_, topology)
        return
    _labels(view, machine, topology)
    if topology is None:
        return
    if not tpu_slices.takes(machine, topology):
        allowed = tpu_slices.in_words(machine)
        view.error("gke-tpu", _PATH, f"{show(topology)} of {type_}", allowed=allowed)
        return
    _sizes(view, machine, topology)


def _nothing_of_gpus(view: View, type_: str) -> None:
    for path in _OF_GPUS:
        if view.number(f"{path}.localSsdCount"):
            view.error("gke-tpu", path, f"local SSDs of {type_}", allowed="nothing: TPU machines have none")
    if view.flag("queuedProvisioning.enabled"):
        path = "queuedProvisioning.enabled"
        view.error("gke-tpu", path, f"true of {type_}", allowed="false: provisioning requests are for GPUs")


def _compact(view: View, topology: str | None) -> None:
    """A topology is one of placement."""
    kind = view.text("placementPolicy.type")
    named = view.has("placementPolicy.policyName")
    if topology and kind != "COMPACT" and not named and not view.is_unknown("placementPolicy.type"):
        view.error("gke-tpu", "placementPolicy.type", f"{show(kind)} beside a topology", allowed="COMPACT")


def _form(view: View, type_: str, topology: str | None) -> None:
    """What is known of a machine that the catalogue does not have: how many sides its slices have."""
    if topology is None:
        return
    if not re.fullmatch(r"\d+x\d+(x\d+)?", topology):
        view.error("gke-tpu", _PATH, show(topology), allowed="like 4x4, or 2x2x2")
        return
    solid = type_.startswith(("ct4p-", "ct5p-", "tpu7x-"))
    if solid != (topology.count("x") == 2):
        allowed = "three numbers" if solid else "two numbers"
        view.error("gke-tpu", _PATH, f"{topology} of {type_}", allowed=allowed)


def _labels(view: View, machine: Tpu, topology: str | None) -> None:
    """Labels that GKE sets, where the pool says something else."""
    labels = view.mapping("nodeConfig.labels")
    right = {
        TPU_ACCELERATOR_LABEL: machine.accelerator,
        TPU_COUNT_LABEL: str(machine.chips),
        **({TPU_TOPOLOGY_LABEL: topology} if topology else {}),
    }
    for key, value in right.items():
        got = labels.get(key)
        if isinstance(got, str) and got != value:
            words = f"{show(got)}; nodes of {machine.type} are {value}"
            view.error("gke-tpu", f"nodeConfig.labels.{key}", words, allowed=value, hint=nearest(got, [value]))


def _sizes(view: View, machine: Tpu, topology: str) -> None:
    """Refuses the sizes in between: of a slice of several machines GKE makes all or none."""
    count = tpu_slices.machines(machine, topology)
    if count == 1:
        return
    words = f"a slice of {topology} has {count} machines of {machine.type}, all or none"
    for path in ("autoscaling.totalMaxNodeCount", "autoscaling.maxNodeCount", "nodeCount", "initialNodeCount"):
        number = view.number(path)
        if number is not None and number != count and not (number == 0 and "autoscaling" not in path):
            view.error("gke-tpu", path, f"{number:.0f}; {words}", allowed=str(count))
    for path in ("autoscaling.totalMinNodeCount", "autoscaling.minNodeCount"):
        number = view.number(path)
        if number not in (None, 0, count):
            view.error("gke-tpu", path, f"{number:.0f}; {words}", allowed=f"0 or {count}")


RULES: Rules = {slice_pool: (GKE_NODE_POOL,)}
