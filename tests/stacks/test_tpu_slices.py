"""The TPU slices of large-gcp: queues, runtime, guards and places for their pods, and mistakes in any of these."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tests.components.k8s.admission import JOB_CONTROLLER, refusals
from tests.documentation.documents import blocks
from tests.rehearsal.refusals.builders import obj
from tests.rehearsal.works.mistakes import DROP, edit, put
from tests.shared import ROOT
from tests.smoke_jobs.launch.failure_policy import Pod, job_failure, job_set_action
from tests.stacks.test_admission import policy
from trainyard.components.k8s.gpu_guard import POD_SET_LABEL
from trainyard.conventions import TPU_RESOURCE
from trainyard.monitoring import names
from trainyard.plan.gcp.parts import GcpPlan, TpuCapacityPlan
from trainyard.plan.resolve import resolve_stack
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL, tpu_node_groups
from trainyard.recorded.queues import CLUSTER_QUEUE
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.check import check_works
from trainyard.rehearsal.works.queues.kubernetes.jobs import queued_jobs
from trainyard.rehearsal.works.queues.kubernetes.model import Admitted, Pending, PodSet, Workload
from trainyard.rehearsal.works.queues.room import Room
from trainyard.rehearsal.works.workloads.read import workloads
from trainyard.stacks.environment.gcp import tpus

CONTEXT = ValueContext("1.35", "us-east4")
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
QUEUE, FLAVOR = (f"kubernetes:kueue.x-k8s.io/v1beta2:{kind}" for kind in ("ClusterQueue", "ResourceFlavor"))
ON_DEMAND, FLEX = "v6e-on-demand", "v6e-flex-start"
SLICE = {
    "ml.platform/pool": "v6e",
    "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
    "cloud.google.com/gke-tpu-topology": "4x4",
}


@pytest.fixture
def resources(rehearsed: Any) -> list[RecordedResource]:
    return list(rehearsed("large-gcp").resources)


def one(resources: list[RecordedResource], type_: str, name: str) -> Any:
    (found,) = [item for item in resources if item.type == type_ and item.name == name]
    return found.inputs


def rules(resources: list[RecordedResource]) -> set[str]:
    found = [*check_values(resources, CONTEXT), *check_works(resources, CONTEXT)]
    return {finding.rule for finding in found}


def train_job(**trainer: Any) -> RecordedResource:
    spec = {"runtimeRef": {"name": "tpu-v6e"}, "trainer": trainer}
    made = {"labels": {"kueue.x-k8s.io/queue-name": "default"}}
    return obj("trainer.kubeflow.org/v1alpha1", "TrainJob", "pretrain", "team-foundation", metadata=made, spec=spec)


def test_each_slice_is_a_node_pool_of_its_own(resources: list[RecordedResource]) -> None:
    groups = tpu_node_groups(Resources(resources))
    assert {group.resource.inputs["name"] for group in groups} == {
        "v6e-on-demand-1",
        "v6e-flex-start-1",
        "v6e-flex-start-2",
    }
    assert {(group.max_nodes, group.tpu_chips_per_node, group.gpus_per_node) for group in groups} == {(4, 4, 0)}


def test_queues_count_chips_in_whole_slices_beside_gpus(resources: list[RecordedResource]) -> None:
    owned: dict[str, int] = {}
    for queue in Resources(resources).of(CLUSTER_QUEUE):
        gpus, chips = queue.inputs["spec"]["resourceGroups"]
        assert gpus["coveredResources"] == ["nvidia.com/gpu"]
        assert chips["coveredResources"] == [TPU_RESOURCE]
        assert [flavor["name"] for flavor in chips["flavors"]] == [ON_DEMAND, FLEX]
        for flavor in chips["flavors"]:
            (quota,) = flavor["resources"]
            assert int(quota["nominalQuota"]) % 16 == 0
            owned[flavor["name"]] = owned.get(flavor["name"], 0) + int(quota["nominalQuota"])
    assert owned == {ON_DEMAND: 16, FLEX: 32}


def test_a_job_of_a_slice_is_admitted_and_gets_it_back_from_a_borrower(resources: list[RecordedResource]) -> None:
    room = Room.of(Resources(resources))

    def submit(name: str, team: str) -> Any:
        pods = PodSet("main", 4, {TPU_RESOURCE: 4}, selector=dict(room.configuration.flavors[ON_DEMAND].node_labels))
        return room.cluster.admit(Workload(name, f"team-{team}", "default", (pods,), "standard"))

    assert isinstance(submit("theirs", "forecasting"), Admitted)
    back = submit("own", "foundation")
    assert isinstance(back, Admitted) and [gone.workload for gone in back.preempted] == ["theirs"]
    assert isinstance(submit("another", "perception"), Pending)


def test_a_train_job_takes_every_machine_of_a_slice_and_no_other_job_stands_there(
    resources: list[RecordedResource],
) -> None:
    runtime = one(resources, RUNTIME, "runtimes-tpu-v6e")
    assert runtime["metadata"]["name"] == "tpu-v6e"
    assert runtime["spec"]["mlPolicy"] == {"numNodes": 4}
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    annotations = job["template"]["metadata"]["annotations"]
    assert annotations == {"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"}
    (made,) = [each for each in workloads(Resources([*resources, train_job()])) if each.kind == "TrainJob"]
    assert made.spec["nodeSelector"] == SLICE
    (node,) = made.spec["containers"]
    assert node["resources"]["limits"] == {TPU_RESOURCE: "4"}
    assert made.replicas == 4


def test_its_pods_find_a_place_and_all_else_works(resources: list[RecordedResource]) -> None:
    assert rules([*resources]) == set()
    assert not {rule for rule in rules([*resources, train_job()]) if rule.startswith(("placement", "queues", "kueue"))}


LABELS = "spec.nodeLabels"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (edit(GKE_NODE_POOL, "tpu-slices-v6e-on-demand-1", put("placementPolicy.tpuTopology", "2x4")), "gke-tpu"),
        (edit(GKE_NODE_POOL, "tpu-slices-v6e-on-demand-1", put("autoscaling.totalMaxNodeCount", 2)), "gke-tpu"),
        (
            edit(GKE_NODE_POOL, "tpu-slices-v6e-on-demand-1", put("nodeConfig.labels", {"ml.platform/pool": "v6"})),
            "kueue-flavor-labels",
        ),
        (
            edit(
                FLAVOR,
                f"kueue-flavor-{ON_DEMAND}",
                put(LABELS, {**SLICE, "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"}),
            ),
            "kueue-flavor-labels",
        ),
        (
            edit(QUEUE, "kueue-cluster-queue-foundation", put("spec.resourceGroups[1]", DROP)),
            "queues-uncovered",
        ),
        (
            edit(
                QUEUE,
                "kueue-cluster-queue-foundation",
                put("spec.resourceGroups[1].flavors[0].resources[0].nominalQuota", "64"),
            ),
            "kueue-quota-nodes",
        ),
    ],
    ids=["topology", "three of four machines", "labels", "generation", "no quota", "more than there is"],
)
def test_a_mistake_is_told(resources: list[RecordedResource], change: Callable[..., Any], rule: str) -> None:
    assert rule in rules(list(change(resources)))


def test_a_pod_of_another_topology_has_no_place(resources: list[RecordedResource]) -> None:
    job = {
        "parallelism": 4,
        "template": {
            "spec": {
                "nodeSelector": {**SLICE, "cloud.google.com/gke-tpu-topology": "8x8"},
                "containers": [{"name": "a", "image": "a", "resources": {"limits": {TPU_RESOURCE: "4"}}}],
            }
        },
    }
    lost = obj("batch/v1", "Job", "lost", "team-foundation", spec=job)
    assert [rule for rule in rules([*resources, lost]) if rule.startswith("placement")]


def test_a_pod_of_more_chips_than_a_machine_has_has_no_place(resources: list[RecordedResource]) -> None:
    containers = [{"name": "a", "image": "a", "resources": {"limits": {TPU_RESOURCE: "8"}}}]
    job = {"template": {"spec": {"nodeSelector": SLICE, "containers": containers}}}
    lost = obj("batch/v1", "Job", "lost", "team-foundation", spec=job)
    assert [rule for rule in rules([*resources, lost]) if rule.startswith("placement")]


CHIPS = {"resources": {"limits": {TPU_RESOURCE: "4", "cpu": "8"}}}


def test_no_pod_takes_chips_past_the_queue(resources: list[RecordedResource]) -> None:
    guard = policy(resources, "gpu-pods-need-a-queue")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}
    made = {"labels": {POD_SET_LABEL: "main"}, "ownerReferences": [owner]}
    bare = {"metadata": {"name": "p"}, "spec": {"containers": [CHIPS]}}
    counted = {"metadata": {"name": "p", **made}, "spec": {"containers": [CHIPS]}}
    assert refusals(guard, bare, "ada")
    assert refusals(guard, counted, "ada")
    assert refusals(guard, counted, JOB_CONTROLLER) == []
    stands = {"tolerations": [{"key": TPU_RESOURCE, "operator": "Exists"}], "priorityClassName": "cpu-only"}
    idle = {"metadata": {"name": "p"}, "spec": {"containers": [{"resources": {"limits": {"cpu": "1"}}}], **stands}}
    assert refusals(guard, idle, "ada")


@pytest.mark.parametrize(
    ("chips", "gpus", "selector", "fits"),
    [
        ("4", None, SLICE, True),
        ("4", None, {}, True),
        ("1", None, SLICE, False),
        ("8", None, SLICE, False),
        ("4", "8", {}, False),
        ("4", None, {"ml.platform/pool": "train"}, False),
        (None, "8", {"ml.platform/pool": "v6e"}, False),
        (None, "8", {"ml.platform/pool": "train"}, True),
    ],
)
def test_a_job_asks_for_all_chips_of_a_machine(
    resources: list[RecordedResource], chips: str | None, gpus: str | None, selector: dict[str, str], fits: bool
) -> None:
    guard = policy(resources, "jobs-fit-their-nodes")
    asked = {name: count for name, count in ((TPU_RESOURCE, chips), ("nvidia.com/gpu", gpus)) if count}
    pod = {"containers": [{"resources": {"limits": {**asked, "cpu": "8"}}}], "nodeSelector": selector}
    assert (refusals(guard, {"spec": {"template": {"spec": pod}}}) == []) is fits


@pytest.mark.parametrize(("nodes", "fits"), [(None, True), (4, True), (1, False), (8, False)])
def test_a_train_job_has_as_many_pods_as_a_slice_has_machines(
    resources: list[RecordedResource], nodes: int | None, fits: bool
) -> None:
    guard = policy(resources, "trainjobs-make-allowed-pods")
    trainer = {} if nodes is None else {"numNodes": nodes}
    item = {"spec": {"runtimeRef": {"name": "tpu-v6e"}, "trainer": trainer}}
    assert (refusals(guard, item) == []) is fits


def test_a_job_proves_the_slice_by_name_and_no_other_job_stands_there(resources: list[RecordedResource]) -> None:
    job = one(resources, "kubernetes:batch/v1:Job", "smoke-v6e-on-demand-1-job")
    assert job["metadata"]["labels"]["ml.platform/smoke-pool"] == "v6e"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "smoke"
    spec = job["spec"]
    assert (spec["completions"], spec["completionMode"]) == (4, "Indexed")
    pod = spec["template"]["spec"]
    assert pod["subdomain"] == job["metadata"]["name"]
    (node,) = pod["containers"]
    assert node["command"][3:] == ["4", "4"]
    assert node["resources"]["limits"][TPU_RESOURCE] == "4"
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    wanted = {each["key"]: each["values"] for each in term["matchExpressions"]}
    assert wanted == {
        **{key: [value] for key, value in SLICE.items()},
        "ml.platform/capacity": ["on-demand"],
        "cloud.google.com/gke-nodepool": ["v6e-on-demand-1"],
    }
    (off,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    own = spec["template"]["metadata"]["labels"]["jobset.sigs.k8s.io/job-key"]
    assert off["labelSelector"]["matchExpressions"][1]["values"] == [own]
    assert off["topologyKey"] == "cloud.google.com/gke-nodepool"
    service = one(resources, "kubernetes:core/v1:Service", "smoke-v6e-on-demand-1-machines")
    assert service["metadata"]["name"] == pod["subdomain"]


def test_it_waits_for_its_node_pool(resources: list[RecordedResource]) -> None:
    by_urn = {item.urn: item for item in resources}
    (job,) = [item for item in resources if item.name == "smoke-v6e-on-demand-1-job"]
    names, left = set(), list(job.dependencies)
    while left:
        before = by_urn[left.pop()]
        if before.name not in names:
            names.add(before.name)
            left += before.dependencies
    assert "tpu-slices-v6e-on-demand-1" in names


def test_people_are_told_of_idle_chips_after_as_long_as_of_idle_gpus(resources: list[RecordedResource]) -> None:
    alert = one(resources, "gcp:monitoring/alertPolicy:AlertPolicy", "alert-policies-idle-chips")
    (condition,) = alert["conditions"]
    assert condition["conditionThreshold"]["duration"] == "2700s"


def test_slices_of_flex_start_have_none(resources: list[RecordedResource]) -> None:
    assert not [item for item in resources if item.name.startswith("smoke-v6e-flex")]


def test_nothing_waits_for_the_proof_of_a_slice_that_another_job_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tpus, "_once_there", lambda version, node_pool: str(node_pool))
    plan = resolve_stack(ROOT, "large-gcp").plan
    assert isinstance(plan.ground, GcpPlan)
    (pool,) = plan.ground.tpu_pools
    (alone,) = [each for each in pool.capacities if each.capacity == "on-demand"]
    several = replace(alone, capacity="reserved", slices=2, node_pools=("v6e-1", "v6e-2"))
    made: Any = SimpleNamespace(node_pool_names={name: name for name in (*alone.node_pools, *several.node_pools)})

    def waited_for(each: TpuCapacityPlan) -> list[tuple[str, bool]]:
        found = tpus.jobs_of_slices(replace(pool, capacities=(each,)), made, made)
        return [(one.name, not one.advisory) for one in found.proofs]

    assert waited_for(alone) == [("v6e-on-demand-1", True)]
    assert waited_for(several) == [("v6e-1", False), ("v6e-2", False)]


# Their money


def recorded(resources: list[RecordedResource]) -> dict[str, list[dict[str, Any]]]:
    (rule,) = [item for item in resources if item.name == "monitoring-rules"]
    found: dict[str, list[dict[str, Any]]] = {}
    for group in rule.inputs["spec"]["groups"]:
        for one in group["rules"]:
            found.setdefault(str(one.get("record")), []).append(one)
    return found


def test_what_teams_hold_of_slices_is_priced_by_flavor_and_spent(resources: list[RecordedResource]) -> None:
    found = recorded(resources)
    prices = {one["labels"]["flavor"]: one["expr"] for one in found[names.CHIP_HOUR_USD]}
    assert set(prices) == {ON_DEMAND, FLEX}, "the flavors that queues count chips of"
    assert TPU_RESOURCE in found[names.CHIPS_HELD][0]["expr"]
    assert names.HELD_USD_PER_HOUR in found[names.TEAM_USD_PER_HOUR][0]["expr"]


def test_a_price_of_chips_that_no_flavor_has_is_found(resources: list[RecordedResource]) -> None:
    resources = deepcopy(resources)
    recorded(resources)[names.CHIP_HOUR_USD][0]["labels"]["flavor"] = "v6e-demand"
    assert "watching-constant" in rules(resources)


ALONE = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"}


def job_set(slices: int = 2, machines: int | None = 4, **metadata: Any) -> dict[str, Any]:
    """The JobSet of several slices that the guide shows, changed."""
    found = [yaml.safe_load(text) for _, text in blocks(ROOT / "docs" / "how-to" / "train-on-tpus.md", "yaml")]
    (item,) = [each for each in found if each.get("kind") == "JobSet"]
    (replicated,) = item["spec"]["replicatedJobs"]
    replicated["replicas"] = slices
    for key in ("parallelism", "completions"):
        if machines is None:
            del replicated["template"]["spec"][key]
        else:
            replicated["template"]["spec"][key] = machines
    item["metadata"] |= metadata
    return item


def recorded_job_set(**changed: Any) -> RecordedResource:
    item = job_set(**changed)
    return obj("jobset.x-k8s.io/v1alpha2", "JobSet", "pretrain", metadata=item["metadata"], spec=item["spec"])


def test_the_job_of_several_slices_in_the_guide_is_let_in_and_works(resources: list[RecordedResource]) -> None:
    """By every policy of the stack that judges JobSets; its pods have a place, a queue and ways to each other."""
    item = job_set()
    asked = [
        found.inputs["spec"]
        for found in resources
        if found.type == POLICY
        and "jobsets" in repr(found.inputs["spec"].get("matchConstraints", found.inputs["spec"]))
    ]
    assert len(asked) > 3
    assert [message for guard in asked for message in refusals(guard, item, "ada")] == []
    # The object of this test waits for no chart, as a user's does not; the kind is there before any user is.
    assert rules([*resources, recorded_job_set()]) == {"reference-kind-order"}
    env = item["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert [each["name"].removeprefix("MEGASCALE_") for each in env] == [
        "NUM_SLICES", "COORDINATOR_ADDRESS", "SLICE_ID",
    ]  # fmt: skip


def test_the_job_of_several_slices_in_the_guide_outlives_any_number_of_lost_slices() -> None:
    """As the Trainer's jobs do: only failures of its own count."""
    spec = job_set()["spec"]
    (replicated,) = spec["replicatedJobs"]
    for pod, action in (
        (Pod(137, disrupted=True), "RestartJobSetAndIgnoreMaxRestarts"),
        (Pod(1), "RestartJobSet"),
    ):
        failure = job_failure(replicated["template"]["spec"], [pod])
        assert failure is not None and job_set_action(spec, failure) == action


@pytest.mark.parametrize(
    ("item", "fits"),
    [
        (job_set(), True),
        (job_set(slices=1), True),
        (job_set(machines=2), False),
        (job_set(machines=8), False),
        (job_set(machines=None), False),
        (job_set(annotations={}), False),
        (job_set(annotations={next(iter(ALONE)): "kubernetes.io/hostname"}), False),
    ],
    ids=["two slices", "one", "a half", "two as one job", "a pod", "across slices", "a machine each"],
)
def test_a_job_set_takes_slices_whole_and_alone(
    resources: list[RecordedResource], item: dict[str, Any], fits: bool
) -> None:
    guard = policy(resources, "jobsets-take-slices-whole")
    assert (refusals(guard, item) == []) is fits
    assert refusals(policy(resources, "jobsets-fit-their-nodes"), item) == []
    owner = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "t", "controller": True}
    item["metadata"]["ownerReferences"] = [owner]
    assert refusals(guard, item, JOB_CONTROLLER) == []


def test_a_replicated_job_may_say_so_itself_and_one_without_chips_is_not_asked(
    resources: list[RecordedResource],
) -> None:
    guard = policy(resources, "jobsets-take-slices-whole")
    item = job_set(annotations={})
    (job,) = item["spec"]["replicatedJobs"]
    job["template"]["metadata"] = {"annotations": ALONE}
    coordinator = {"spec": {"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "1"}}}]}}}}
    item["spec"]["replicatedJobs"].append({"name": "coordinator", "template": coordinator})
    assert refusals(guard, item) == []
    of_gpus = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}
    coordinator["spec"]["template"]["spec"] = of_gpus
    assert refusals(guard, item) == []


def test_a_bare_job_has_no_part_of_a_slice_and_the_proof_passes(resources: list[RecordedResource]) -> None:
    guard = policy(resources, "jobs-take-slices-whole")
    proof = one(resources, "kubernetes:batch/v1:Job", "smoke-v6e-on-demand-1-job")
    assert refusals(guard, proof) == []
    for change in (
        lambda spec: spec.update(parallelism=2),
        lambda spec: spec.pop("completionMode"),
        lambda spec: spec["template"]["spec"]["affinity"].pop("podAntiAffinity"),
        lambda spec: spec["template"]["spec"]["affinity"].pop("nodeAffinity"),
    ):
        wrong = deepcopy(proof)
        change(wrong["spec"])
        assert refusals(guard, wrong)
        owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "s", "controller": True}
        wrong["metadata"]["ownerReferences"] = [owner]
        assert refusals(guard, wrong, JOB_CONTROLLER) == []  # JobSet places its own
        owner["kind"] = "CronJob"
        assert refusals(guard, wrong, JOB_CONTROLLER)


def test_a_job_of_two_slices_is_one_gang_of_one_capacity(resources: list[RecordedResource]) -> None:
    """32 chips: more than the one slice on demand, so both are of flex-start; a third is nowhere."""
    room = Room.of(Resources(resources))

    def submit(slices: int) -> Any:
        made = recorded_job_set(slices=slices)
        (queued,) = [each for each in queued_jobs(Resources([*resources, made])) if each.kind == "JobSet"]
        assert queued.workload is not None
        return room.cluster.fits_empty(queued.workload)

    found = submit(2)
    assert isinstance(found, Admitted)
    assert {assigned[TPU_RESOURCE] for assigned in found.flavors.values()} == {FLEX}
    assert not isinstance(submit(3), Admitted)
