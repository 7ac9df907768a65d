"""Kueue: who may use which GPUs, in what order, and who goes first.

A flavor for every group of nodes with GPUs or TPU chips, a ClusterQueue for every team in one cohort, LocalQueues in
the teams' namespaces and the workload priorities. Jobs, JobSets and TrainJobs in team namespaces start only when their
queue has GPUs for all of their pods; admission policies keep out GPU pods that came another way, and jobs that no node
takes. Chips of TPUs are counted as GPUs are, beside them.

What a team owns it gets back at once, for any job that fits its quota of one flavor, and for no larger one: where jobs
take nodes whole, quotas are whole nodes. What the owners leave idle is evened out by weight: one team's borrowed GPUs
are taken for another only where that leaves the other with no larger a share.

Pods with GPUs have no Kubernetes PriorityClass. The scheduler would use it to evict single ranks of a running job for a
pod of another; Kueue's own priorities evict and restart a job as a whole.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import yaml

from trainyard.components.k8s import custom_resources as cr
from trainyard.components.k8s.budgets import BudgetKeeperArgs, HeldTeam, budget_keeper
from trainyard.components.k8s.charts import ChartArgs, over_nodes, release
from trainyard.components.k8s.flavors import FlavorKeeperArgs, flavor_keeper
from trainyard.components.k8s.flows import fence
from trainyard.components.k8s.gpu_guard import gpu_guard
from trainyard.components.k8s.idle_jobs import IdleJobsArgs, idle_keeper
from trainyard.components.k8s.job_guard import PoolNodeArgs, claimable, job_guard
from trainyard.components.k8s.kueue_manager import NAMESPACE, manager_configuration
from trainyard.components.k8s.monitoring_flows import but_of_keepers_that_are_not
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.node_daemon import NodeDaemonArgs
from trainyard.components.k8s.objects import add_on_namespace, named
from trainyard.components.k8s.off_peak import WEIGHT as OFF_PEAK_WEIGHT
from trainyard.components.k8s.off_peak import OffPeakArgs, OffPeakQueueArgs, off_peak_keeper
from trainyard.components.k8s.platform_flows import PLATFORM_FLOWS
from trainyard.components.k8s.proofs import ProofKeeperArgs, proof_keeper
from trainyard.components.k8s.sleep import SleepArgs, sleep_keeper
from trainyard.components.k8s.slice_guard import slice_guard
from trainyard.components.k8s.template_guard import template_guard
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import (
    ACCELERATORS,
    GPU_RESOURCE,
    SYSTEM_NODES,
    SYSTEM_TOLERATION,
    TEAM_LABEL,
    TPU_RESOURCE,
    gpu_node_tolerations,
    tpu_node_tolerations,
)
from trainyard.conventions.monitoring import BUDGET_KEEPER, FIGURES_READER_URL, IDLE_KEEPER

RELEASE = "kueue"
DEFAULT_LOCAL_QUEUE = "default"
"""Kueue puts a job that names no queue into the LocalQueue of this name, where the namespace has one."""

WHEN_CAN_BORROW = ("TryNextFlavor", "MayStopSearch")


class QueuedNodesArgs(TypedDict):
    """Nodes that the cloud gives all at once, to a job that waits for them."""

    provisioning_class: str
    """Name of the class of provisioning requests that the ground's autoscaler answers."""
    max_run_seconds: int
    """Seconds after which the nodes are taken away, unless a job asks for less."""
    tolerations: Sequence[Mapping[str, str]]
    """For the taints that the ground puts on such nodes besides."""


class FlavorArgs(TypedDict):
    """The nodes of one GPU node group."""

    name: str
    """Name of the ResourceFlavor, which is that of the node group."""
    capacity: str
    """`reserved`, `spot`, `on-demand` or `flex-start`: decides which taints the nodes have."""
    node_labels: Mapping[str, str]
    """Labels that exactly these nodes have: pool and capacity."""
    resource: NotRequired[str]
    """What jobs on these nodes are counted by: GPUs (the default) or TPU chips, by the name of the resource."""
    queued: NotRequired[QueuedNodesArgs]
    """How a job asks the cloud for such nodes before it starts. Default: it starts, and its pods bring them."""


class QuotaArgs(TypedDict):
    """What a team owns of one flavor."""

    flavor: str
    """Name of one of the flavors."""
    gpus: int
    """Nominal quota in GPUs, of a flavor of TPUs in chips; 0: the team may borrow there, and owns nothing."""


class TeamQueueArgs(TypedDict):
    """The queue of one team."""

    team: str
    """Value of the label `ml.platform/team` on the team's namespace."""
    namespace: pulumi.Input[str]
    """Namespace of the team, which its LocalQueues are in."""
    cluster_queue: str
    """Name of the team's ClusterQueue."""
    local_queue: str
    """Name of the team's LocalQueue; one called `default` is made besides."""
    proof_queue: NotRequired[str]
    """Name of a LocalQueue for jobs that prove the team's nodes: it may stay open while the others are held, so that
    nodes are proven before people's jobs run on them. Default: there is none."""
    off_peak: NotRequired[OffPeakQueueArgs]
    """Its queue of work that can wait, which owns nothing and borrows what is idle. Default: there is none."""
    quotas: Sequence[QuotaArgs]
    """What the team owns of each flavor, in the order in which flavors are tried. Empty: the team has no GPUs."""
    weight: int
    """Its part of what others leave idle, in proportion to the other teams' weights; at least 1."""


class PriorityArgs(TypedDict):
    """A workload priority."""

    name: str
    """Value of the label `kueue.x-k8s.io/priority-class` of a job."""
    value: int
    """The priority as a number (int32): of two waiting jobs the one with the higher goes first."""
    description: str
    """When a job should have this priority, in words."""


class KueueArgs(TypedDict):
    """Arguments of `Kueue`."""

    chart: ChartArgs
    """The Kueue chart; its version is that of the manager's image too."""
    cohort: str
    """Name of the cohort in which the teams lend each other GPUs."""
    flavors: Sequence[FlavorArgs]
    """The ResourceFlavors, one for each GPU node group."""
    queues: Sequence[TeamQueueArgs]
    """The queues, one for each team."""
    priorities: Sequence[PriorityArgs]
    """The workload priorities that jobs may have."""
    nodes: Sequence[PoolNodeArgs]
    """What a node of each GPU pool has: a job that no node takes is refused when it is made."""
    pods_ready_timeout_minutes: int
    """How long all pods of an admitted job may take to be ready; above node start and image pull from zero nodes."""
    requeue_limit: int
    """How often a job whose pods were not ready in time is queued again before it is given up."""
    node_daemon: NotRequired[NodeDaemonArgs]
    """A daemon of the node's network beside the training, with folders of the node that no other container has; the
    teams' namespaces hold it to that. Default: there is none."""
    unrationed_resources: NotRequired[Sequence[str]]
    """Prefixes of the ground's own resources that pods ask for and queues do not count, such as the fabric's. Default:
    none."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that the manager runs on. Default: the system nodes', `ml.platform/pool: system`."""
    keeper: NotRequired[FlavorKeeperArgs]
    """What takes flavors without nodes out of the queues for a while. Default: nothing does."""
    budgets: NotRequired[BudgetKeeperArgs]
    """What holds the queues of a team whose month's money is gone; needs the monitoring's ledger. Default: nothing."""
    idle_jobs: NotRequired[IdleJobsArgs]
    """What gives back the GPUs of jobs that do nothing with them; needs the monitoring's figures. Default: nothing."""
    off_peak: NotRequired[OffPeakArgs]
    """When the queues of work that can wait are open; needed where a team has one. Default: there is none."""
    proofs: NotRequired[ProofKeeperArgs]
    """What ends smoke jobs that can get no nodes. Default: nothing, and they wait out their time."""
    sleep: NotRequired[SleepArgs]
    """Whose jobs are switched off by night. Default: nobody's."""
    addresses: NotRequired[AddressesArgs]
    """Where the ground has what network policies name by address. Default: unknown, and the namespace gets no network
    policies."""
    when_can_borrow: NotRequired[str]
    """`TryNextFlavor` (default): a team uses its own quota of every flavor before it borrows, so what it owns runs
    undisturbed. `MayStopSearch`: it borrows idle reserved GPUs before it starts its own spot and on-demand nodes, which
    costs less, and loses them when their owner comes."""


def _asks_the_service(args: KueueArgs) -> bool:
    """Whether a keeper asks the program that signs for the cloud's service, where that keeps the figures."""
    asked = (args.get("budgets", {}).get("prometheus_url"), args.get("idle_jobs", {}).get("prometheus_url"))
    return FIGURES_READER_URL in asked


class Kueue(pulumi.ComponentResource):
    """Kueue with the queues of all teams.

    Every object depends on the release: its finalizers are served by the manager, and the chart's own uninstall would
    hang on what is left. So a destroy takes LocalQueues, then the teams' namespaces where these wait for their
    `cluster_queues` (Workloads in them have a finalizer too), then ClusterQueues, then flavors, then the chart.
    `ready` is what a job in a queue waits for.

    Raises ValueError for two queues or flavors of one name, a quota of a flavor that is not given, a weight below 1, an
    unknown capacity and an unknown `when_can_borrow`.
    """

    namespace: pulumi.Output[str]
    """Namespace that Kueue's manager runs in."""
    local_queues: dict[str, pulumi.Output[str]]
    """Name of each team's LocalQueue, by team; carries the dependency on it."""
    cluster_queues: dict[str, pulumi.Output[str]]
    """Name of each team's ClusterQueue, by team."""

    def __init__(self, name: str, args: KueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:Kueue", name, {}, opts)
        _check(args)
        system = add_on_namespace(f"{name}-namespace", NAMESPACE, self, depends_on=prerequisites(opts))
        self.namespace = named(system, NAMESPACE)
        before = prerequisites(opts)
        walls: list[pulumi.Resource] = []
        if "addresses" in args:
            child = pulumi.ResourceOptions(parent=self, depends_on=before)
            flows = but_of_keepers_that_are_not(PLATFORM_FLOWS, _keepers(args), remote=_asks_the_service(args))
            walls = fence(name, NAMESPACE, flows, args["addresses"], inside=self.namespace, opts=child)
        self._release = release(
            f"{name}-release",
            args["chart"],
            release_name=RELEASE,
            namespace=self.namespace,
            values=_values(args),
            parent=self,
            # The manager is ready once it reaches the API server, and must until the last of its objects is gone.
            depends_on=[*before, *walls],
        )
        cohort = self._object(f"{name}-cohort", cr.cohort(args["cohort"]))
        flavors = {
            flavor["name"]: self._object(
                f"{name}-flavor-{flavor['name']}",
                cr.resource_flavor(flavor["name"], flavor["node_labels"], _tolerations(flavor)),
            )
            for flavor in args["flavors"]
        }
        checks = {flavor["name"]: self._check(name, flavor) for flavor in args["flavors"] if "queued" in flavor}
        priorities = [
            self._object(
                f"{name}-priority-{priority['name']}",
                cr.workload_priority_class(priority["name"], priority["value"], priority["description"]),
            )
            for priority in args["priorities"]
        ]
        self.cluster_queues, self.local_queues, local_queues = {}, {}, []
        for queue in args["queues"]:
            cluster_queue = self._object(
                f"{name}-cluster-queue-{queue['team']}",
                cr.cluster_queue(
                    queue["cluster_queue"],
                    cohort_name=args["cohort"],
                    namespace_labels={TEAM_LABEL: queue["team"]},
                    quotas=_by_resource(queue["quotas"], args["flavors"]),
                    when_can_borrow=args.get("when_can_borrow", WHEN_CAN_BORROW[0]),
                    weight=queue["weight"],
                    checked=[quota["flavor"] for quota in queue["quotas"] if quota["flavor"] in checks],
                ),
                cohort,
                *(flavors[quota["flavor"]] for quota in queue["quotas"]),
                *(checks[quota["flavor"]] for quota in queue["quotas"] if quota["flavor"] in checks),
            )
            self.cluster_queues[queue["team"]] = named(cluster_queue, queue["cluster_queue"])
            for local in _local_queues(queue):
                local_queue = self._object(
                    f"{name}-local-queue-{queue['team']}-{local}",
                    cr.local_queue(local, queue["namespace"], queue["cluster_queue"]),
                    cluster_queue,
                    *(flavors[quota["flavor"]] for quota in queue["quotas"]),
                )
                local_queues.append(local_queue)
                self.local_queues.setdefault(queue["team"], named(local_queue, local))
            if "off_peak" in queue:
                local_queues.append(self._off_peak(name, queue, queue["off_peak"], args["cohort"], cohort, flavors))
        if "keeper" in args and flavors:
            flavor_keeper(
                name,
                args["keeper"],
                self.namespace,
                args.get("node_selector", SYSTEM_NODES),
                self,
                [*before, *walls, *flavors.values()],
            )
        if "budgets" in args:
            held = _held(args["queues"], args["budgets"])
            budget_keeper(
                name,
                args["budgets"],
                held,
                self.namespace,
                args.get("node_selector", SYSTEM_NODES),
                self,
                [*before, *walls],
            )
        if "idle_jobs" in args:
            idle_keeper(
                name,
                args["idle_jobs"],
                {queue["team"]: queue["namespace"] for queue in args["queues"]},
                self.namespace,
                args.get("node_selector", SYSTEM_NODES),
                self,
                [*before, *walls],
            )
        if "off_peak" in args:
            off_peak_keeper(
                name,
                args["off_peak"],
                {
                    queue["team"]: (queue["namespace"], queue["off_peak"]["local_queue"])
                    for queue in args["queues"]
                    if "off_peak" in queue
                },
                self.namespace,
                args.get("node_selector", SYSTEM_NODES),
                self,
                [*before, *walls],
            )
        if "proofs" in args:
            proof_keeper(
                name,
                args["proofs"],
                {flavor["name"]: flavor["node_labels"] for flavor in args["flavors"]},
                {queue["team"]: queue["namespace"] for queue in args["queues"]},
                self.namespace,
                args.get("node_selector", SYSTEM_NODES),
                self,
                [*before, *walls, *flavors.values()],
            )
        if "sleep" in args:
            sleep_keeper(
                name,
                args["sleep"],
                {queue["team"]: queue["namespace"] for queue in args["queues"]},
                self.namespace,
                args.get("node_selector", SYSTEM_NODES),
                self,
                [*before, *walls],
            )
        claims = claimable(args["nodes"])
        gpu_guard(name, claims, self, args.get("node_daemon"))
        template_guard(
            name,
            [node["runtime"] for node in args["nodes"] if "runtime" in node],
            claims,
            self,
            {
                node["runtime"]: node["slice_nodes"]
                for node in args["nodes"]
                if "runtime" in node and "slice_nodes" in node
            },
            args.get("node_daemon"),
        )
        job_guard(name, args["nodes"], self)
        slice_guard(name, args["nodes"], self)
        # Annotated here: a resource list at class level would be taken for an output of the component.
        self.ready: list[pulumi.Resource] = [self._release, *priorities, *local_queues]
        register(self)

    def _off_peak(
        self,
        name: str,
        queue: TeamQueueArgs,
        own: OffPeakQueueArgs,
        cohort_name: str,
        cohort: cr.CustomResource,
        flavors: Mapping[str, cr.CustomResource],
    ) -> cr.CustomResource:
        """A team's queue of work that can wait: it borrows what is idle, takes nothing, and gives back first."""
        cluster_queue = self._object(
            f"{name}-cluster-queue-{queue['team']}-off-peak",
            cr.cluster_queue(
                own["cluster_queue"],
                cohort_name=cohort_name,
                namespace_labels={TEAM_LABEL: queue["team"]},
                quotas={GPU_RESOURCE: [(flavor, 0) for flavor in own["flavors"]]},
                when_can_borrow="MayStopSearch",  # it owns nothing that it could use before
                weight=OFF_PEAK_WEIGHT,
                reclaims=False,
            ),
            cohort,
            *(flavors[flavor] for flavor in own["flavors"]),
        )
        return self._object(
            f"{name}-local-queue-{queue['team']}-off-peak",
            cr.local_queue(own["local_queue"], queue["namespace"], own["cluster_queue"]),
            cluster_queue,
            *(flavors[flavor] for flavor in own["flavors"]),
        )

    def _check(self, name: str, flavor: FlavorArgs) -> cr.CustomResource:
        """What a job of a flavor waits for: that the cloud has all of its nodes."""
        queued, own = flavor["queued"], flavor["name"]
        config = self._object(
            f"{name}-provisioning-{own}",
            cr.provisioning_config(own, queued["provisioning_class"], GPU_RESOURCE, queued["max_run_seconds"]),
        )
        return self._object(f"{name}-check-{own}", cr.provisioning_check(own, own), config)

    def _object(
        self,
        name: str,
        manifest: cr.Manifest,
        *depends_on: pulumi.Resource,
    ) -> cr.CustomResource:
        """A Kueue object, made after the manager runs (its webhooks check it) and removed before the manager goes."""
        return cr.CustomResource(
            name,
            manifest,
            pulumi.ResourceOptions(
                parent=self,
                depends_on=[self._release, *depends_on],
                delete_before_replace=True,
            ),
        )


def _keepers(args: KueueArgs) -> list[str]:
    """The keepers that ask Prometheus."""
    return [name for name, key in ((BUDGET_KEEPER, "budgets"), (IDLE_KEEPER, "idle_jobs")) if key in args]


def _local_queues(queue: TeamQueueArgs) -> list[str]:
    """The names of a team's LocalQueues: that of its jobs first."""
    names = [queue["local_queue"], DEFAULT_LOCAL_QUEUE]
    return list(dict.fromkeys([*names, *([queue["proof_queue"]] if "proof_queue" in queue else ())]))


def _held_queues(queue: TeamQueueArgs) -> list[str]:
    """The names of the LocalQueues that are held when a team's money is gone: all that it has."""
    return [*_local_queues(queue), *([queue["off_peak"]["local_queue"]] if "off_peak" in queue else ())]


def _held(queues: Sequence[TeamQueueArgs], args: BudgetKeeperArgs) -> dict[str, HeldTeam]:
    """The teams that have a budget, each with every LocalQueue that is made for it."""
    return {
        queue["team"]: {
            "namespace": queue["namespace"],
            "queues": _held_queues(queue),
            "budget_usd": args["budgets_usd"][queue["team"]],
        }
        for queue in queues
        if queue["team"] in args["budgets_usd"]
    }


def _tolerations(flavor: FlavorArgs) -> list[Mapping[str, str]]:
    more = flavor["queued"]["tolerations"] if "queued" in flavor else ()
    tolerated = tpu_node_tolerations if _is_of_tpus(flavor) else gpu_node_tolerations
    return [*tolerated(flavor["capacity"]), *more]


def _is_of_tpus(flavor: FlavorArgs) -> bool:
    return flavor.get("resource", GPU_RESOURCE) == TPU_RESOURCE


def _by_resource(quotas: Sequence[QuotaArgs], flavors: Sequence[FlavorArgs]) -> dict[str, list[tuple[str, int]]]:
    """Flavor and quota by what the flavor's jobs are counted by: GPUs first."""
    counted = {flavor["name"]: flavor.get("resource", GPU_RESOURCE) for flavor in flavors}
    found: dict[str, list[tuple[str, int]]] = {GPU_RESOURCE: []}
    for quota in quotas:
        found.setdefault(counted[quota["flavor"]], []).append((quota["flavor"], quota["gpus"]))
    return found


def _check(args: KueueArgs) -> None:
    flavors = [flavor["name"] for flavor in args["flavors"]]
    for what, names in (
        ("flavor", flavors),
        (
            "queue",
            [
                name
                for queue in args["queues"]
                for name in (
                    queue["cluster_queue"],
                    *([queue["off_peak"]["cluster_queue"]] if "off_peak" in queue else ()),
                )
            ],
        ),
        ("team", [queue["team"] for queue in args["queues"]]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two {what}s are called {', '.join(twice)}")
    borrow = args.get("when_can_borrow", WHEN_CAN_BORROW[0])
    if borrow not in WHEN_CAN_BORROW:
        raise ValueError(f"when_can_borrow is {' or '.join(WHEN_CAN_BORROW)}, got {borrow}")
    for flavor in args["flavors"]:
        if (counted := flavor.get("resource", GPU_RESOURCE)) not in ACCELERATORS:
            raise ValueError(f"flavor {flavor['name']} is counted by {' or '.join(ACCELERATORS)}, got {counted}")
        if _is_of_tpus(flavor) and "queued" in flavor:
            raise ValueError(f"flavor {flavor['name']}: a job asks for all nodes at once of GPUs alone")
    for queue in args["queues"]:
        if ("off_peak" in queue) and "off_peak" not in args:
            raise ValueError(f"team {queue['team']} has a queue for off-peak hours, and nothing says when these are")
        if queue["weight"] < 1:
            raise ValueError(
                f"queue {queue['cluster_queue']} has weight {queue['weight']}: 0 is behind everybody for ever"
            )
        borrowed = queue["off_peak"]["flavors"] if "off_peak" in queue else ()
        for named_flavor in (*(quota["flavor"] for quota in queue["quotas"]), *borrowed):
            if named_flavor not in flavors:
                # One missing flavor closes the whole queue.
                raise ValueError(
                    f"queue {queue['cluster_queue']} has a quota of flavor {named_flavor}, "
                    f"which is none of {', '.join(flavors) or '(no flavors)'}"
                )


def _values(args: KueueArgs) -> dict[str, Any]:
    configuration = manager_configuration(
        args["pods_ready_timeout_minutes"],
        args["requeue_limit"],
        args.get("unrationed_resources", ()),
        claims=any("claim" in node for node in args["nodes"]),
    )
    return {
        "controllerManager": {
            "replicas": 2,
            "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
            "nodeSelector": dict(args.get("node_selector", SYSTEM_NODES)),
            "tolerations": [dict(SYSTEM_TOLERATION)],
            "topologySpreadConstraints": over_nodes({"app.kubernetes.io/instance": RELEASE}),
            "manager": {
                # The chart in git points to a staging registry and `Always`.
                "image": {
                    "repository": "registry.k8s.io/kueue/kueue",
                    "tag": f"v{args['chart']['version'].removeprefix('v')}",
                    "pullPolicy": "IfNotPresent",
                },
                "resources": {
                    "requests": {"cpu": "500m", "memory": "512Mi"},
                    "limits": {"cpu": "2", "memory": "1Gi"},
                },
            },
        },
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(configuration, sort_keys=False)},
    }
