from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest
import yaml

from tests.components.k8s.checkers import (
    chart_value_problems,
    check_custom_resources,
    check_plain_objects,
    custom_resources,
    depends_on,
)
from tests.pulumi_harness import Recorded, Recording, record
from trainyard.components.k8s.kueue import Kueue, KueueArgs, _local_queues

RELEASE = "kubernetes:helm.sh/v3:Release"
QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
LOCAL = "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue"
FLAVOR = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"


def arguments(**changes: Any) -> KueueArgs:
    args: dict[str, Any] = {
        "chart": {"chart": "oci://registry.k8s.io/kueue/charts/kueue", "version": "0.19.2", "repository": ""},
        "cohort": "gpus",
        "flavors": [
            {
                "name": f"train-{capacity}",
                "capacity": capacity,
                "node_labels": {"ml.platform/pool": "train", "ml.platform/capacity": capacity},
            }
            for capacity in ("reserved", "spot", "on-demand")
        ],
        "queues": [
            {
                "team": team,
                "namespace": f"team-{team}",
                "cluster_queue": team,
                "local_queue": team,
                "quotas": [
                    {"flavor": "train-reserved", "gpus": reserved},
                    {"flavor": "train-spot", "gpus": spot},
                    {"flavor": "train-on-demand", "gpus": 0},
                ],
                "weight": reserved + spot,
            }
            for team, reserved, spot in (("vision", 16, 8), ("speech", 8, 2000))
        ],
        "priorities": [
            {"name": "production", "value": 1000, "description": "For customers."},
            {"name": "standard", "value": 500, "description": "Ordinary work."},
            {"name": "development", "value": 100, "description": "Trying things out."},
        ],
        "nodes": [
            {
                "pool": "train",
                "cpu": 96,
                "memory_gib": 1152,
                "devices": {"nvidia.com/gpu": 8},
                "largest_flavor_gpus": 2000,
            }
        ],
        "pods_ready_timeout_minutes": 30,
        "requeue_limit": 5,
    }
    return {**args, **changes}  # type: ignore[typeddict-item]


def run(*, preview: bool = False, **changes: Any) -> Recording:
    return record(lambda: Kueue("queues", arguments(**changes)), preview=preview)


def configuration(release: Recorded) -> Any:
    return yaml.safe_load(release.inputs["values"]["managerConfig"]["controllerManagerConfigYaml"])


def spec(resource: Recorded) -> Any:
    return resource.inputs["spec"]


def queue_of(recording: Recording, team: str) -> Any:
    return spec(recording.one(QUEUE, f"queues-cluster-queue-{team}"))


def test_every_object_is_valid_at_the_pinned_version() -> None:
    recording = run()
    # A cohort, 3 flavors, 3 priorities, 2 cluster queues, 2 local queues of each team.
    assert check_custom_resources(recording) == 13
    # The namespace, and nine admission policies with their bindings: of pods and their end, two of each kind of job,
    # and of jobs' owners.
    assert check_plain_objects(recording) == 1 + 9 * 2


def test_objects_are_the_same_before_anything_is_known() -> None:
    known, unknown = ({(r.type, r.name): r.inputs for r in run(preview=preview).resources} for preview in (False, True))
    assert unknown == known


def test_the_chart_knows_every_value() -> None:
    assert chart_value_problems(run().one(RELEASE), "kueue-0.19.2.json") == []


def test_release_is_awaited_in_a_namespace_of_ours() -> None:
    recording = run()
    release = recording.one(RELEASE)
    assert release.inputs["namespace"] == "kueue-system"
    assert "queues-namespace" in depends_on(recording, release)
    assert release.inputs["skipAwait"] is False
    manager = release.inputs["values"]["controllerManager"]
    assert manager["replicas"] == 2
    assert manager["podDisruptionBudget"] == {"enabled": True, "minAvailable": 1}
    assert manager["nodeSelector"] == {"ml.platform/pool": "system"}
    assert manager["manager"]["image"]["tag"] == "v0.19.2"


def test_configuration_touches_team_namespaces_only() -> None:
    config = configuration(run().one(RELEASE))
    assert config["apiVersion"] == "config.kueue.x-k8s.io/v1beta2"
    assert config["integrations"]["frameworks"] == [
        "batch/job",
        "jobset.x-k8s.io/jobset",
        "trainer.kubeflow.org/trainjob",
    ]
    assert config["managedJobsNamespaceSelector"] == {
        "matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]
    }
    assert config["manageJobsWithoutQueueName"] is True
    assert config["metrics"]["enableClusterQueueResources"] is True
    # An empty block makes the manager exit; the other strategy lets half a node evict a whole one.
    assert config["fairSharing"] == {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}


def test_configuration_gives_up_in_the_end() -> None:
    waiting = configuration(run(pods_ready_timeout_minutes=45, requeue_limit=2).one(RELEASE))["waitForPodsReady"]
    assert (waiting["timeout"], waiting["recoveryTimeout"]) == ("45m", "20m")
    assert waiting["requeuingStrategy"]["backoffLimitCount"] == 2


def test_configuration_has_one_answer_to_uncounted_resources() -> None:
    resources = configuration(run(unrationed_resources=["example.com/"]).one(RELEASE))["resources"]
    assert "quotaCheckStrategy" not in resources  # the manager exits on both
    excluded = resources["excludeResourcePrefixes"]
    for resource in ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/adapter"):
        assert any(resource.startswith(prefix) for prefix in excluded), resource
    for resource in ("nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "aws.amazon.com/neuron"):
        assert not any(resource.startswith(prefix) for prefix in excluded), resource


def test_flavors_tolerate_every_taint_of_their_nodes() -> None:
    recording = run()
    gpu = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
    spot = {"key": "ml.platform/capacity", "operator": "Equal", "value": "spot", "effect": "NoSchedule"}
    for capacity, tolerations in (("reserved", [gpu]), ("spot", [gpu, spot]), ("on-demand", [gpu])):
        flavor = spec(recording.one(FLAVOR, f"queues-flavor-train-{capacity}"))
        assert flavor["tolerations"] == tolerations
        assert flavor["nodeLabels"] == {"ml.platform/pool": "train", "ml.platform/capacity": capacity}
        assert "nodeTaints" not in flavor


def test_quotas_are_text_as_the_server_keeps_it_and_in_order() -> None:
    (group,) = queue_of(run(), "speech")["resourceGroups"]
    assert group["coveredResources"] == ["nvidia.com/gpu"]
    assert [(flavor["name"], flavor["resources"]) for flavor in group["flavors"]] == [
        ("train-reserved", [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]),
        ("train-spot", [{"name": "nvidia.com/gpu", "nominalQuota": "2k"}]),
        ("train-on-demand", [{"name": "nvidia.com/gpu", "nominalQuota": "0"}]),
    ]


def test_flavor_order_is_the_callers() -> None:
    queues = [{**arguments()["queues"][0], "quotas": list(reversed(arguments()["queues"][0]["quotas"]))}]
    (group,) = queue_of(run(queues=queues), "vision")["resourceGroups"]
    assert [flavor["name"] for flavor in group["flavors"]] == ["train-on-demand", "train-spot", "train-reserved"]


def test_queue_admits_its_team_only_and_lends_and_reclaims() -> None:
    queue = queue_of(run(), "vision")
    assert queue["namespaceSelector"] == {"matchLabels": {"ml.platform/team": "vision"}}
    assert queue["cohortName"] == "gpus"
    assert queue["queueingStrategy"] == "BestEffortFIFO"
    assert queue["preemption"] == {
        "reclaimWithinCohort": "Any",
        "borrowWithinCohort": {"policy": "Never"},
        "withinClusterQueue": "LowerPriority",
    }
    assert queue["flavorFungibility"] == {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}
    for flavor in queue["resourceGroups"][0]["flavors"]:
        assert "borrowingLimit" not in flavor["resources"][0]
    assert queue["fairSharing"] == {"weight": "24"}
    assert queue_of(run(), "speech")["fairSharing"] == {"weight": "2008"}


def test_no_manifest_says_whether_a_queue_is_held() -> None:
    """The next apply after a person's hold would fail, or lift it."""
    for resource in custom_resources(run()):
        assert "stopPolicy" not in (resource.inputs.get("spec") or {}), resource.name


def test_borrowing_before_own_spot_nodes_can_be_chosen() -> None:
    queue = queue_of(run(when_can_borrow="MayStopSearch"), "vision")
    assert queue["flavorFungibility"]["whenCanBorrow"] == "MayStopSearch"


def test_local_queues_are_the_teams_and_the_default() -> None:
    recording = run()
    found = {
        (queue.inputs["metadata"]["namespace"], queue.inputs["metadata"]["name"], spec(queue)["clusterQueue"])
        for queue in recording.of_type(LOCAL)
    }
    assert found == {
        ("team-vision", "vision", "vision"),
        ("team-vision", "default", "vision"),
        ("team-speech", "speech", "speech"),
        ("team-speech", "default", "speech"),
    }
    assert all("spec.clusterQueue" in queue.replace_on_changes for queue in recording.of_type(LOCAL))


def test_a_local_queue_called_default_is_made_once() -> None:
    queues = [{**queue, "local_queue": "default"} for queue in arguments()["queues"]]
    assert [queue.inputs["metadata"]["name"] for queue in run(queues=queues).of_type(LOCAL)] == ["default", "default"]


def test_a_queue_for_proofs_leads_to_the_same_quota_and_a_spent_budget_holds_it_too() -> None:
    queues = [{**queue, "local_queue": "default", "proof_queue": "smoke"} for queue in arguments()["queues"]]
    recording = run(queues=queues)
    found = {
        (queue.inputs["metadata"]["namespace"], queue.inputs["metadata"]["name"], spec(queue)["clusterQueue"])
        for queue in recording.of_type(LOCAL)
    }
    assert {each for each in found if each[1] == "smoke"} == {
        ("team-vision", "smoke", "vision"),
        ("team-speech", "smoke", "speech"),
    }
    assert len(found) == 4
    assert _local_queues(queues[0]) == ["default", "smoke"]


def test_everything_of_kueue_goes_before_the_release_does() -> None:
    recording = run()
    for resource in custom_resources(recording):
        assert "queues-release" in depends_on(recording, resource), resource.name
    for team in ("vision", "speech"):
        queue = recording.one(QUEUE, f"queues-cluster-queue-{team}")
        flavors = {f"queues-flavor-train-{capacity}" for capacity in ("reserved", "spot", "on-demand")}
        assert flavors | {"queues-cohort"} <= depends_on(recording, queue)
        for local in (team, "default"):
            waits = depends_on(recording, recording.one(LOCAL, f"queues-local-queue-{team}-{local}"))
            assert flavors | {f"queues-cluster-queue-{team}"} <= waits


def test_release_waits_for_what_the_component_waits_for() -> None:
    def program() -> None:
        nodes = core.ConfigMap("nodes")
        Kueue("queues", arguments(), pulumi.ResourceOptions(depends_on=[nodes]))

    recording = record(program)
    assert "nodes" in depends_on(recording, recording.one(RELEASE))
    assert all("nodes" in depends_on(recording, resource) for resource in custom_resources(recording))


def test_outputs_carry_the_queues() -> None:
    def program() -> None:
        queues = Kueue("queues", arguments())
        core.ConfigMap("job", data={"queue": queues.local_queues["vision"]})
        core.ConfigMap("view", data={"queue": queues.cluster_queues["speech"]})
        core.ConfigMap("last", opts=pulumi.ResourceOptions(depends_on=queues.ready))

    recording = record(program, preview=True)
    job, view = (
        recording.one("kubernetes:core/v1:ConfigMap", "job"),
        recording.one("kubernetes:core/v1:ConfigMap", "view"),
    )
    assert job.inputs["data"] == {"queue": "vision"}
    assert "queues-local-queue-vision-vision" in depends_on(recording, job)
    assert view.inputs["data"] == {"queue": "speech"}
    assert "queues-cluster-queue-speech" in depends_on(recording, view)
    last = depends_on(recording, recording.one("kubernetes:core/v1:ConfigMap", "last"))
    assert {"queues-release", "queues-priority-production", "queues-local-queue-speech-default"} <= last


def test_a_team_without_gpus_has_a_valid_queue_that_covers_nothing() -> None:
    recording = run(flavors=[], queues=[{**arguments()["queues"][0], "quotas": []}])
    check_custom_resources(recording)
    assert "resourceGroups" not in queue_of(recording, "vision")


def test_priorities_keep_their_value_beside_the_metadata() -> None:
    recording = run()
    values = {
        resource.inputs["metadata"]["name"]: resource.inputs["value"]
        for resource in recording.of_type("kubernetes:kueue.x-k8s.io/v1beta2:WorkloadPriorityClass")
    }
    assert values == {"production": 1000, "standard": 500, "development": 100}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flavors": arguments()["flavors"][:2]}, "quota of flavor train-on-demand, which is none of train-reserved"),
        ({"flavors": []}, r"which is none of \(no flavors\)"),
        ({"flavors": [*arguments()["flavors"], arguments()["flavors"][0]]}, "two flavors are called train-reserved"),
        ({"queues": [arguments()["queues"][0]] * 2}, "two queues are called vision"),
        ({"queues": [{**arguments()["queues"][0], "weight": 0}]}, "queue vision has weight 0: 0 is behind everybody"),
        ({"when_can_borrow": "Borrow"}, "when_can_borrow is TryNextFlavor or MayStopSearch, got Borrow"),
        (
            {"flavors": [{**flavor, "capacity": "spott"} for flavor in arguments()["flavors"]]},
            "a capacity is one of reserved, spot, on-demand, flex-start, got spott",
        ),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(**changes)


def test_jobs_of_a_flavor_that_the_cloud_gives_wait_for_its_check_and_others_do_not() -> None:
    queued = {
        "provisioning_class": "queued.example.com",
        "max_run_seconds": 259200,
        "tolerations": [{"key": "example.com/queued", "operator": "Exists", "effect": "NoSchedule"}],
    }
    flavors = [*arguments()["flavors"], {"name": "train-flex-start", "capacity": "flex-start", "queued": queued}]
    flavors[-1]["node_labels"] = {"ml.platform/pool": "train", "ml.platform/capacity": "flex-start"}
    vision, speech = arguments()["queues"]
    waits = {**vision, "quotas": [*vision["quotas"], {"flavor": "train-flex-start", "gpus": 8}]}
    recording = run(flavors=flavors, queues=[waits, speech])
    check_custom_resources(recording)
    of_check = recording.one("kubernetes:kueue.x-k8s.io/v1beta2:AdmissionCheck", "queues-check-train-flex-start")
    named = of_check.inputs["spec"]["parameters"]
    config = recording.one(
        "kubernetes:kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig", "queues-provisioning-train-flex-start"
    )
    assert (named["kind"], named["name"]) == ("ProvisioningRequestConfig", config.inputs["metadata"]["name"])
    assert config.inputs["spec"]["parameters"] == {"maxRunDurationSeconds": "259200"}
    assert config.inputs["spec"]["managedResources"] == ["nvidia.com/gpu"]
    own = recording.one(QUEUE, "queues-cluster-queue-vision")
    assert own.inputs["spec"]["admissionChecksStrategy"] == {
        "admissionChecks": [{"name": "train-flex-start", "onFlavors": ["train-flex-start"]}]
    }
    assert "admissionChecksStrategy" not in recording.one(QUEUE, "queues-cluster-queue-speech").inputs["spec"]
    assert {"queues-check-train-flex-start", "queues-provisioning-train-flex-start"} <= depends_on(recording, own)
    flavor = recording.one(FLAVOR, "queues-flavor-train-flex-start")
    assert queued["tolerations"][0] in flavor.inputs["spec"]["tolerations"]
