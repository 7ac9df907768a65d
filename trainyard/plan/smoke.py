"""The smoke jobs of a cluster, planned: what each takes of its pool, and why; and the one way from a plan to a job.

One a pool and capacity that it may be bought in: a queue would put a single job onto the first capacity that has room,
and the reservation, the spot price and the zone of the others would be proven by a user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from trainyard import catalog
from trainyard.catalog.mig import mig_profiles
from trainyard.conventions import (
    CHECKPOINTS_CLAIM,
    DATA_CLAIM,
    HOME_CLAIM,
    MLFLOW_CREDENTIALS_SECRET,
    SCRATCH_CLAIM,
    SMOKE_LOCAL_QUEUE,
    STANDING,
    Capacity,
    fabric_claim,
    gpudirect,
    pool_runtime,
)
from trainyard.plan.context import LOCKED, Context
from trainyard.plan.lock import Lock
from trainyard.plan.notebooks import kept_from_queues
from trainyard.plan.parts import (
    ClusterPlan,
    NodePlan,
    Plan,
    PoolPlan,
    RuntimePlan,
    SmokeJobPlan,
    SmokePlan,
    TeamQueuePlan,
)
from trainyard.problems import nearest, some_of
from trainyard.smoke_jobs.ddp.options import TIMEOUT_S
from trainyard.smoke_jobs.launch.job import SmokeSpec, job_name

PRIORITY = "standard"

MAX_NODES = 2
"""Two nodes prove the network between nodes; more only take quota away from people."""

RESERVED_CORES = 2
"""Left on a node to the kubelet, the network and storage drivers, the device plugin and the GPU exporter."""

CORES_PER_GPU = 8
"""One rank, its four loader processes, NCCL's and the checkpoint's threads."""

MEMORY_SHARE = 0.7
"""Share of a node's memory that a smoke job takes. The rest is the kubelet's reserve, the drivers' pods and the huge
pages."""

MEMORY_PER_GPU_GIB = 24
"""A rank with CUDA, its share of a 1 GiB checkpoint held twice, and the loaders' batches in /dev/shm."""


def training_mounts(*, scratch: bool, home: bool) -> tuple[tuple[str, str], ...]:
    """The storage tiers as every training container of the platform finds them: claim and path."""
    claims = [DATA_CLAIM, CHECKPOINTS_CLAIM, *([SCRATCH_CLAIM] if scratch else []), *([HOME_CLAIM] if home else [])]
    return tuple((claim, f"/{claim}") for claim in claims)


def cores_for(gpus: int) -> int:
    """Cores that the ranks of so many GPUs want."""
    return 4 + CORES_PER_GPU * gpus


def memory_gib_for(gpus: int) -> int:
    """Memory that the ranks of so many GPUs want, GiB."""
    return 16 + MEMORY_PER_GPU_GIB * gpus


def plan_smoke(
    pools: Sequence[PoolPlan],
    queues: Sequence[TeamQueuePlan],
    kubernetes_version: str,
    *,
    mounts: tuple[tuple[str, str], ...],
    environment: tuple[tuple[str, str], ...],
    pod_annotations: tuple[tuple[str, str], ...] = (),
    pulled_as: Callable[[str], str],
    context: Context,
) -> SmokePlan:
    """The jobs of every pool and capacity that the settings want proven, each through the queue of one who owns it.

    `pulled_as` says where the ground's nodes pull an image from.
    """
    own, ledger = context.settings.smoke, context.ledger
    names = [queue.name for queue in queues]
    if own.team is not None and own.team not in names:
        allowed = f"must be one of the teams: {some_of(names)}"
        ledger.problem("smoke.team", own.team, allowed, nearest(own.team, names))
    for pool in pools if own.enabled else ():
        has = [group.capacity for group in pool.node_groups if group.capacity in STANDING]
        if has and not set(has) & set(own.capacities):  # a pool without nodes has its own problem
            got = ", ".join(own.capacities) or "none"
            allowed = f"must name a capacity of pool {pool.name}, which has {', '.join(has)} nodes"
            ledger.problem("smoke.capacities", got, allowed, "to prove none: smoke.enabled false")
    image_source = "setting smoke.image" if own.image else "catalog/versions.yaml: it has the plugin of the fabric"
    wanted = next((queue for queue in queues if queue.name == own.team), None)
    enabled = ledger.decide("smoke.enabled", own.enabled, "setting smoke.enabled; on unless turned off")
    capacities = ledger.decide(
        "smoke.capacities", tuple(dict.fromkeys(own.capacities)), "setting smoke.capacities; all by default"
    )
    jobs, of_notebooks = [], kept_from_queues(pools, context)
    for pool, capacity in [(each, group.capacity) for each in pools for group in each.node_groups]:
        if enabled and capacity in capacities:
            team = wanted or owner_of(queues, pool, capacity)
            job, sources = _sized(pool, team, capacity, MAX_NODES, kubernetes_version, dict(mounts), of_notebooks)
            chosen = "setting smoke.team" if wanted else "it owns the most there, the first of several alike"
            kept = next((queue for queue in queues if queue.name == context.lock.proof_teams.get(job.name)), None)
            if wanted is None and kept is not None:
                team, job, chosen = kept, replace(job, team=kept.name), LOCKED
            ledger.decide(f"smoke.jobs.{job.name}.team", team.name, f"{chosen}; {_claim(job, pool, team)}")
            for field, why in sources.items():
                ledger.decide(f"smoke.jobs.{job.name}.{field}", getattr(job, field), why)
            jobs.append(job)
    return SmokePlan(
        enabled=enabled,
        level=ledger.decide(
            "smoke.level", own.level, "setting smoke.level; quick by default, minutes; full is for new hardware"
        ),
        image=ledger.decide("smoke.image", pulled_as(own.image or catalog.pins().image("smoke")), image_source),
        priority=PRIORITY,
        capacities=capacities,
        advisory=ledger.decide(
            "smoke.advisory",
            tuple(dict.fromkeys(own.advisory)),
            "setting smoke.advisory; spot by default, of which a market may have none today",
        ),
        mounts=mounts,
        environment=environment,
        pod_annotations=pod_annotations,
        jobs=tuple(jobs),
    )


def plan_runtimes(pools: Sequence[PoolPlan], smoke: SmokePlan, context: Context) -> tuple[RuntimePlan, ...]:
    """The runtimes of the pools with a fabric: of the image and the size that the smoke job proves."""
    found = []
    for pool in pools:
        if pool.node.fabric is None:
            continue
        (cpu, cpu_source), (memory, memory_source) = _cores(pool.node), _memory_gib(pool.node)
        runtime = RuntimePlan(pool_runtime(pool.name), pool.name, smoke.image, cpu, memory)
        key = f"runtimes.{runtime.name}"
        context.ledger.decide(f"{key}.image", runtime.image, "the smoke job's, which proves that it uses the fabric")
        context.ledger.decide(f"{key}.cpu", runtime.cpu, f"as the smoke job: {cpu_source}")
        context.ledger.decide(f"{key}.memory_gib", runtime.memory_gib, f"as the smoke job: {memory_source}")
        found.append(runtime)
    return tuple(found)


def _cores(node: NodePlan) -> tuple[int, str]:
    """Cores of a job that takes a node whole, and why."""
    cores, source = min(
        (node.vcpus - RESERVED_CORES, f"cores of a node less {RESERVED_CORES} for the kubelet and drivers"),
        (cores_for(node.gpus_of_a_pod), f"4 cores and {CORES_PER_GPU} a GPU"),
    )
    return max(1, cores), source


def _memory_gib(node: NodePlan) -> tuple[int, str]:
    """Memory of a job that takes a node whole, GiB, and why."""
    memory, source = min(
        (int(node.memory_gib * MEMORY_SHARE), f"{100 * MEMORY_SHARE:.0f} % of a node's memory"),
        (memory_gib_for(node.gpus_of_a_pod), f"16 GiB and {MEMORY_PER_GPU_GIB} a GPU"),
    )
    return max(4, memory), source


def owner_of(queues: Sequence[TeamQueuePlan], pool: PoolPlan, capacity: Capacity | None) -> TeamQueuePlan:
    """The team that owns the most of a pool, or of one capacity of it: a queue gives it back to this one's jobs."""
    return max(queues, key=lambda queue: sum(_owned(pool, queue, capacity)))


def proves(cluster: ClusterPlan, pool: PoolPlan, capacity: Capacity | None) -> TeamQueuePlan:
    """The team for which a pool, or one capacity of it, is proven: the planned job's, where there is one."""
    planned = next((job for job in cluster.smoke.jobs if (job.pool, job.capacity) == (pool.name, capacity)), None)
    return cluster.team(planned.team) if planned is not None else owner_of(cluster.teams, pool, capacity)


def _owned(pool: PoolPlan, team: TeamQueuePlan, capacity: Capacity | None) -> list[int]:
    """GPUs that a team owns of a pool, or of one capacity of it, a flavor each."""
    flavors = [group.name for group in pool.node_groups if capacity in (None, group.capacity)]
    return [quota.gpus for quota in team.quotas if quota.flavor in flavors]


def waiting_text(plan: Plan, lock: Lock) -> Iterator[str]:
    """Which smoke jobs the lock keeps with a team that cannot take back what they need, while another could, a line."""
    for cluster in plan.clusters:
        waiting = {}
        for job in cluster.smoke.jobs:
            pool, kept = cluster.pool(job.pool), cluster.team(job.team)
            needs, other = job.nodes * pool.node.gpus_of_a_pod, owner_of(cluster.teams, pool, job.capacity)
            if lock.proof_teams.get(job.name) == job.team and _most(kept, pool, job) < needs <= _most(other, pool, job):
                waiting[job.name] = f"{job.name} ({kept.name}, {other.name} could)"
        if waiting:
            keys = " ".join(f"--relock proofTeams.{name}" for name in waiting)
            yield (
                "smoke jobs whose team cannot take back what they need, and wait for idle nodes:"
                f" {', '.join(waiting.values())}; `trainyard plan {plan.core.stack} {keys}` lets them run for the"
                " other, once more"
            )


def _most(team: TeamQueuePlan, pool: PoolPlan, job: SmokeJobPlan) -> int:
    """GPUs that a team owns of the flavor that a job can take most of."""
    return max(_owned(pool, team, job.capacity), default=0)


def _claim(job: SmokeJobPlan, pool: PoolPlan, team: TeamQueuePlan) -> str:
    """What the job can count on."""
    needs, owned = job.nodes * pool.node.gpus_of_a_pod, _most(team, pool, job)
    if owned >= needs:
        return "it takes back what it owns, at once"
    return f"it owns {owned} of the {needs} GPUs that the job takes, and waits for what others leave idle"


def smoke_job(
    cluster: ClusterPlan, pool: PoolPlan, team: TeamQueuePlan, capacity: Capacity | None, max_nodes: int | None
) -> SmokeJobPlan:
    """A job besides the planned ones: another team's, on more nodes, or on whichever capacity the queue picks."""
    nodes, version, notebooks = max_nodes or MAX_NODES, cluster.kubernetes_version, cluster.notebooks
    kept = {profile.node_group: profile.most for profile in notebooks.profiles} if notebooks is not None else {}
    return _sized(pool, team, capacity, nodes, version, dict(cluster.smoke.mounts), kept)[0]


def _sized(
    pool: PoolPlan,
    team: TeamQueuePlan,
    capacity: Capacity | None,
    max_nodes: int,
    kubernetes_version: str,
    mounts: Mapping[str, str],
    of_notebooks: Mapping[str, int],
) -> tuple[SmokeJobPlan, dict[str, str]]:
    """What a job of a team takes of a pool, in whole nodes, and where each of its sizes comes from.

    With a `capacity` it runs on the nodes of that one, and again when they change. A job never spans two capacities, so
    it has as many nodes as the largest node group at most, without those of which notebooks keep GPUs (`of_notebooks`,
    by node group) from the queues.
    """
    node, groups = pool.node, [group for group in pool.node_groups if capacity in (None, group.capacity)]
    name = pool.name if capacity is None else groups[0].name
    of_queues = (group.max_nodes - -(-of_notebooks.get(group.name, 0) // node.gpus_offered) for group in groups)
    without = ", without those of notebooks" if any(of_notebooks.get(group.name) for group in groups) else ""
    nodes, nodes_source = min(
        (max_nodes, f"at most {max_nodes} nodes: two cross a network, and more only take quota away from people"),
        (max(of_queues, default=1), f"nodes of the largest node group{without}: no job spans two"),
    )
    if node.pods_per_gpu > 1:
        nodes, nodes_source = 1, "pods that share a GPU are no ranks of one job: two of them could be on the same GPU"
    nodes = max(1, nodes)
    (cpu, cpu_source), (memory, memory_source) = _cores(node), _memory_gib(node)
    facts = {
        "instance types": ",".join(sorted({kind for group in groups for kind in group.instance_types})),
        "capacities": ",".join(group.capacity for group in groups),
        "zones": ",".join(sorted({zone for group in groups for zone in group.zones})),
        "kubernetes": kubernetes_version,
    }
    scratch = mounts.get(SCRATCH_CLAIM)
    job = SmokeJobPlan(
        name=name,
        team=team.name,
        pool=pool.name,
        capacity=capacity,
        nodes=nodes,
        cpu=cpu,
        memory_gib=memory,
        shared_memory_gib=max(1, memory // 4),
        hugepages_mib=node.fabric.hugepages_mib if node.fabric else 0,
        data_path=f"{scratch}/smoke-{name}" if scratch else "",
        usd_per_node_hour=node.usd_per_hour if node.pods_per_gpu == 1 else node.usd_per_gpu_hour,
        rerun_on=tuple(sorted(facts.items())),
    )
    return job, {
        "nodes": nodes_source,
        "cpu": cpu_source,
        "memory_gib": memory_source,
        "shared_memory_gib": "a quarter of the memory, for the loaders' batches",
        "hugepages_mib": f"what the fabric, {node.fabric.name}, pins on a node" if node.fabric else "no fabric",
        "usd_per_node_hour": (
            f"list price of {node.instance_type} on demand{_turn(node)}; nothing where the catalogue has none"
        ),
    }


def _gpu_memory_gib(node: NodePlan) -> float:
    """What a pod's GPU has at least; of an instance of one, a driver keeps a little."""
    if not node.mig_profile:
        return node.gpu_memory_gib
    return INSTANCE_USABLE * node.gpu_memory_gib * mig_profiles(node.gpu)[node.mig_profile].memory_eighths / 8


INSTANCE_USABLE = 0.9
"""Share of an instance's memory that programs get (own choice: 1g.5gb is told as 4.75 GiB)."""


def _turn(node: NodePlan) -> str:
    return f", 1/{node.gpus_offered} of it for a part of one GPU" if node.pods_per_gpu > 1 else ""


def smoke_spec(plan: Plan, cluster: ClusterPlan, job: SmokeJobPlan) -> SmokeSpec:
    """The job as its launchers take it, without what only the engine knows: where the checkpoint tier is."""
    node, team = cluster.pool(job.pool).node, cluster.team(job.team)
    # A turn on a GPU is no measure of it: what is proved is that a pod gets one, and that it computes.
    level = cluster.smoke.level if node.pods_per_gpu == 1 else "quick"
    daemon = node.fabric.daemon if node.fabric else ""
    return SmokeSpec(
        name=job_name(job.pool, job.capacity or ""),
        stack=plan.core.stack,
        pool=job.pool,
        level=level,
        timeout_s=TIMEOUT_S[level],
        nodes=job.nodes,
        gpus_per_node=node.gpus_of_a_pod,
        instance=node.instance_type,
        gpu=node.gpu.partition("-")[0],  # "A100-40GB" calls itself "NVIDIA A100-SXM4-40GB"
        gpu_memory_gib=_gpu_memory_gib(node),
        nvlinks=node.nvlinks,
        driver=node.driver,
        capacity=job.capacity or "",
        transport=node.fabric.name if node.fabric else "",
        usd_per_node_hour=job.usd_per_node_hour or 0.0,  # the worker's word for unknown
        image=cluster.smoke.image,
        environment=(*cluster.smoke.environment, *(node.fabric.environment if node.fabric else ())),
        cpu=job.cpu,
        memory_gib=job.memory_gib,
        shared_memory_gib=job.shared_memory_gib,
        fabric_resource=node.fabric.resource if node.fabric else "",
        fabric_interfaces=node.fabric_interfaces if node.fabric and node.fabric.resource else 0,
        # Of every fabric of RDMA: by an extended resource, or by a pod's claim.
        adapters=0 if daemon else node.fabric_interfaces,
        fabric_claim=fabric_claim(job.pool) if node.fabric and node.fabric.device_class else "",
        claimed_interfaces=node.fabric_interfaces if node.fabric and not node.fabric.resource else 0,
        hugepages_mib=job.hugepages_mib,
        namespace=team.namespace,
        queue=SMOKE_LOCAL_QUEUE,
        priority=cluster.smoke.priority,
        mounts=cluster.smoke.mounts,
        pod_annotations=(*cluster.smoke.pod_annotations, *(node.fabric.pod_annotations if node.fabric else ())),
        data_path=job.data_path,
        tracking_secret=MLFLOW_CREDENTIALS_SECRET if plan.tracks(cluster) else "",
        start_timeout_s=cluster.scheduling.pods_ready_timeout_minutes * 60,
        rerun_on=job.rerun_on,
        fabric=daemon,
        fabric_daemon=plan.core.pins.image(gpudirect.TRANSPORTS[daemon].daemon) if daemon else "",
        isolated_gpus=cluster.isolated_gpus,
    )
