"""Whether the quotas leave room for every GPU and every vCPU, each group at its most nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from trainyard.account.gcp import ask
from trainyard.catalog import gcp as catalog
from trainyard.plan.parts import NodeGroupPlan
from trainyard.preflight.gcp import limits, managed
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of

METRICS: Final = {
    "T4": "NVIDIA_T4_GPUS",
    "L4": "NVIDIA_L4_GPUS",
    "V100": "NVIDIA_V100_GPUS",
    "A100-40GB": "NVIDIA_A100_GPUS",
    "A100-80GB": "NVIDIA_A100_80GB_GPUS",
}
"""Quotas of a region by GPU (Compute Engine API, `Quota.metric`, 2026-11); spot's begin with PREEMPTIBLE_. Newer GPUs
have theirs in Cloud Quotas alone, by family."""

ALL_GPUS: Final = "GPUS_ALL_REGIONS"
EVERYWHERE: Final = "all regions"

CPU_METRICS: Final = {"e2": "CPUS", "n1": "CPUS", "n2": "N2_CPUS", "a2": "A2_CPUS"}
"""Quotas of a region in vCPUs by family (Compute Engine API, `Quota.metric`, 2026-11). E2 and N1 share one (general
knowledge). Families that are not here are bounded by their GPUs: G2, A3 and newer ask for no vCPUs of their own."""

SPOT_CPUS: Final = "PREEMPTIBLE_CPUS"
"""Spot machines take theirs from it where the project has any, else from their family's (Compute Engine documentation,
"Spot VMs", quotas)."""

ALL_CPUS: Final = "CPUS_ALL_REGIONS"
ALL_NETWORKS: Final = "NETWORKS"
"""VPC networks of the project (Compute Engine API, `Quota.metric`)."""


def check(subject: GcpSubject) -> Lines:
    """GPUs of the region by model and market, its vCPUs by family, and both of the project altogether."""
    yield from managed.check(subject)
    line, ground = lines_of("quotas"), subject.plan.ground
    if not subject.plan.clusters:
        return
    needs: dict[str, int] = defaultdict(int)
    unknown: dict[str, int] = defaultdict(int)
    for group, gpu, count in _gpus(subject):
        metric = METRICS.get(gpu)
        if group.capacity == "reserved":
            continue
        if metric is None:
            unknown[f"{group.capacity} {gpu}"] += count
        else:
            needs[f"PREEMPTIBLE_{metric}" if group.capacity == "spot" else metric] += count
    for name, count in unknown.items():
        told = f"{count} are needed at most; their quota is one of Cloud Quotas, by family"
        command = f"gcloud beta quotas info list --service=compute.googleapis.com --project={ground.project}"
        yield line(name, Answer.UNKNOWN, told, "look up GPUS-PER-GPU-FAMILY-per-project-region", command)
    yield from limits.check(subject)
    for name, count in _chips(subject).items():
        told = f"{count} chips are needed at most; their quota is one of Cloud Quotas, by family"
        command = f"gcloud beta quotas info list --service=compute.googleapis.com --project={ground.project}"
        yield line(name, Answer.UNKNOWN, told, "look up TPUS-PER-TPU-FAMILY-per-project-region", command)
    region = ask("compute", "regions", "describe", ground.region, f"--project={ground.project}")
    cpus = _cpus(subject, region)
    yield from _against(region, {**needs, **cpus}, ground.region, ground.project)
    everywhere = {
        ALL_GPUS: sum(count for name, count in needs.items() if not name.startswith("PREEMPTIBLE_")),
        ALL_CPUS: cpus.get("CPUS", 0),  # of the other families nobody says that they count there
        ALL_NETWORKS: _networks(subject),
    }
    if any(everywhere.values()):
        whole = ask("compute", "project-info", "describe", f"--project={ground.project}")
        wanted = {metric: count for metric, count in everywhere.items() if count}
        yield from _against(whole, wanted, EVERYWHERE, ground.project)


def _networks(subject: GcpSubject) -> int:
    """VPC networks, where the fast interfaces have some of their own: a new project may have fewer than these."""
    ground = subject.plan.ground
    if ground.fabric_networks is None:
        return 0
    return 1 + (len(ground.fabric_networks.tcp_cidrs) or 2)


def _cpus(subject: GcpSubject, region: Any) -> dict[str, int]:
    """By quota, the vCPUs of all nodes at their most. A reservation's count as used from its creation on."""
    limits = {each["metric"]: each["limit"] for each in region.get("quotas", ())}
    needs: dict[str, int] = defaultdict(int)
    for cluster in subject.plan.clusters:
        for group in cluster.node_groups:
            if group.capacity != "reserved":
                type_ = group.instance_types[0]
                spot = group.capacity == "spot" and limits.get(SPOT_CPUS, 0) > 0
                _add(needs, type_, catalog.instance(type_).vcpus * group.max_nodes, spot=spot)
        for nodes in (cluster.system_nodes, cluster.cpu_pool):
            if nodes is not None:
                type_ = nodes.instance_types[0]
                _add(needs, type_, catalog.cpu_instance(type_).vcpus * nodes.max_nodes, spot=False)
    return {metric: count for metric, count in needs.items() if count}


def _add(needs: dict[str, int], type_: str, vcpus: int, *, spot: bool) -> None:
    metric = CPU_METRICS.get(type_.partition("-")[0])
    if metric is not None:
        needs[SPOT_CPUS if spot else metric] += vcpus


def _against(found: Any, needs: dict[str, int], where: str, project_id: str) -> Iterator[Line]:
    line = lines_of("quotas")
    there = {each["metric"]: each for each in found.get("quotas", ())}
    for metric, count in sorted(needs.items()):
        quota = there.get(metric)
        what = f"{metric} in {where}"
        if quota is None:
            yield line(what, Answer.UNKNOWN, f"{count} are needed at most; the project lists no such quota")
            continue
        told = f"{count} are needed at most, {quota['usage']:g} are used, {quota['limit']:g} are allowed"
        if count + quota["usage"] <= quota["limit"]:
            yield line(what, Answer.FINE, told)
        else:
            request = increase(metric, count + quota["usage"], where, project_id)
            yield line(what, Answer.FAILS, told, "ask for more, which may take days", request)


def increase(metric: str, value: float, where: str, project_id: str) -> str:
    """A quota request, ready to be run. Its id is the metric's name (Cloud Quotas, "Implement common use cases")."""
    scope = "per-project" if where == EVERYWHERE else "per-project-region"
    return (
        f"gcloud beta quotas preferences create --service=compute.googleapis.com --project={project_id}"
        f" --quota-id={metric.replace('_', '-')}-{scope} --preferred-value={value:g}"
        + ("" if where == EVERYWHERE else f" --dimensions=region={where}")
    )


def _chips(subject: GcpSubject) -> dict[str, int]:
    """TPU chips of slices whose quota nobody names, at their most, by how they are had and generation; those of a
    reservation are used."""
    found: dict[str, int] = defaultdict(int)
    for pool in subject.plan.ground.tpu_pools:
        for each in pool.capacities:
            if each.capacity != "reserved" and pool.accelerator not in limits.CHIPS:
                found[f"{each.capacity} {pool.accelerator}"] += each.slices * pool.chips_of_slice
    return found


def _gpus(subject: GcpSubject) -> Iterator[tuple[NodeGroupPlan, str, int]]:
    for cluster in subject.plan.clusters:
        for pool in cluster.pools:
            for group in pool.node_groups:
                yield group, pool.node.gpu, group.max_nodes * pool.node.gpus
