"""Mistakes with queues that a cluster engineer makes, one at a time, in the recorded demo stack."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import yaml

from tests.rehearsal.refusals.builders import obj
from tests.rehearsal.works.mistakes import Mistake
from trainyard.recorded.model import RecordedResource

Resources = Sequence[RecordedResource]
Made = list[RecordedResource]


JOB, FLAVOR = "smoke-train-spot-job", "kueue-flavor-train-spot"
VISION, LANGUAGE, TABULAR = (f"kueue-cluster-queue-{team}" for team in ("vision", "language", "tabular"))
ALL_QUEUES = (VISION, LANGUAGE, TABULAR)
LOCAL = "kueue-local-queue-language-default"
SMOKE_QUEUE = "kueue-local-queue-vision-smoke"
RELEASE = "kueue-release"
QUEUE_LABEL, PRIORITY_LABEL = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"


def on(names: str | Sequence[str], into: Callable[[dict[str, Any]], Any]) -> Callable[[Resources], Made]:
    """Changes the inputs of resources by name."""
    wanted = (names,) if isinstance(names, str) else tuple(names)

    def change(resources: Resources) -> Made:
        assert set(wanted) <= {resource.name for resource in resources}, wanted
        found = []
        for resource in resources:
            if resource.name in wanted:
                inputs = copy.deepcopy(dict(resource.inputs))
                into(inputs)
                resource = replace(resource, inputs=inputs)
            found.append(resource)
        return found

    return change


def told(into: Callable[[dict[str, Any]], Any]) -> Callable[[Resources], Made]:
    """Changes the manager's configuration file."""

    def change(inputs: dict[str, Any]) -> None:
        place = inputs["values"]["managerConfig"]
        configuration = yaml.safe_load(place["controllerManagerConfigYaml"])
        into(configuration)
        place["controllerManagerConfigYaml"] = yaml.safe_dump(configuration)

    return on(RELEASE, change)


def without(*names: str) -> Callable[[Resources], Made]:
    return lambda resources: [resource for resource in resources if resource.name not in names]


def also(*more: RecordedResource) -> Callable[[Resources], Made]:
    return lambda resources: [*resources, *more]


def each(*changes: Callable[[Resources], Made]) -> Callable[[Resources], Made]:
    def change(resources: Resources) -> Made:
        found = list(resources)
        for one in changes:
            found = one(found)
        return found

    return change


def labels(inputs: dict[str, Any]) -> dict[str, str]:
    return inputs["metadata"]["labels"]


def pods(inputs: dict[str, Any]) -> dict[str, Any]:
    return inputs["spec"]["template"]["spec"]


def flavors(inputs: dict[str, Any]) -> list[dict[str, Any]]:
    return inputs["spec"]["resourceGroups"][0]["flavors"]


def quota(inputs: dict[str, Any], flavor: str) -> dict[str, Any]:
    return next(one["resources"][0] for one in flavors(inputs) if one["name"] == flavor)


def requests(inputs: dict[str, Any], **more: Any) -> None:
    for container in pods(inputs)["containers"]:
        for kind in ("requests", "limits"):
            container["resources"].setdefault(kind, {}).update(more)


def rename(mapping: dict[str, Any], old: str, new: str) -> None:
    mapping[new] = mapping.pop(old)


def kueue(kind: str, name: str, **body: Any) -> RecordedResource:
    return obj("kueue.x-k8s.io/v1beta2", kind, name, **body)


def cpu_queue(node_labels: dict[str, str], cores: str) -> tuple[RecordedResource, ...]:
    """A queue for work without GPUs."""
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "cores", "resources": [{"name": "cpu", "nominalQuota": cores}]}],
    }
    return (
        kueue("ResourceFlavor", "cores", spec={"nodeLabels": node_labels}),
        kueue("ClusterQueue", "cores", spec={"resourceGroups": [group], "namespaceSelector": {}}),
    )


def checked(name: str) -> Callable[[Resources], Made]:
    """A queue that waits for an admission check."""
    strategy = {"admissionChecks": [{"name": name}]}
    return on(LANGUAGE, lambda i: i["spec"].update(admissionChecksStrategy=strategy))


PROVISIONING = {
    "controllerName": "kueue.x-k8s.io/provisioning-request",
    "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "gpu-nodes"},
}


def train_job(nodes: int, *, queue: str = "default") -> RecordedResource:
    """A TrainJob of whole nodes of the training pool."""
    gpus = {"requests": {"nvidia.com/gpu": "8"}, "limits": {"nvidia.com/gpu": "8"}}
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": nodes, "resourcesPerNode": gpus}}
    made = {"labels": {QUEUE_LABEL: queue}}
    return obj("trainer.kubeflow.org/v1alpha1", "TrainJob", "pretrain", "team-language", metadata=made, spec=spec)


def job_set(replicas: int, made: dict[str, Any]) -> RecordedResource:
    """A JobSet of so many jobs of two pods, each a whole node."""
    container = {"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {"spec": {"parallelism": 2, "completions": 2, "template": template}}
    jobs = [{"name": "workers", "replicas": replicas, "template": job}]
    spec = {"replicatedJobs": jobs}
    return obj("jobset.x-k8s.io/v1alpha2", "JobSet", "sweep", "team-language", metadata=made, spec=spec)


MISTAKES: list[Mistake] = [
    Mistake(
        "jobs-alone",
        "integrations.frameworks has only plain Jobs, and the stack has runtimes for TrainJobs",
        told(lambda c: c["integrations"].update(frameworks=["batch/job"])),
        "queues-framework",
    ),
    Mistake(
        "train-job-of-too-many-nodes",
        "a TrainJob of three nodes, where the largest flavor has two",
        also(train_job(3)),
        "queues-never-admitted",
    ),
    Mistake(
        "train-job-of-another-queue",
        "a TrainJob names the ClusterQueue instead of the LocalQueue",
        also(train_job(1, queue="language")),
        "queues-no-local-queue",
    ),
    Mistake(
        "job-set-of-too-many-jobs",
        "a JobSet of two jobs of two nodes each, where the largest flavor has two",
        also(job_set(2, {"labels": {QUEUE_LABEL: "default"}})),
        "queues-never-admitted",
    ),
    Mistake(
        "queue-of-job-misspelt",
        "the job's queue has one letter too many",
        on(JOB, lambda i: labels(i).update({QUEUE_LABEL: "defaults"})),
        "queues-no-local-queue",
    ),
    Mistake(
        "queue-of-another-namespace",
        "the job runs in a namespace that has no queue of that name",
        each(
            on(SMOKE_QUEUE, lambda i: i["metadata"].update(name="language")),
        ),
        "queues-no-local-queue",
    ),
    Mistake(
        "local-queue-in-the-platforms-namespace",
        "the LocalQueue stands in kueue-system instead of the team's namespace",
        on(SMOKE_QUEUE, lambda i: i["metadata"].update(namespace="kueue-system")),
        "queues-no-local-queue",
    ),
    Mistake("local-queue-forgotten", "a team has no LocalQueue", without(SMOKE_QUEUE), "queues-no-local-queue"),
    Mistake(
        "label-key-misspelt",
        "the label is kueue.x-k8s.io/queue_name",
        on(JOB, lambda i: rename(labels(i), QUEUE_LABEL, "kueue.x-k8s.io/queue_name")),
        "queues-label",
    ),
    Mistake(
        "label-of-another-domain",
        "the label is kueue.k8s.io/queue-name",
        on(JOB, lambda i: rename(labels(i), QUEUE_LABEL, "kueue.k8s.io/queue-name")),
        "queues-label",
    ),
    Mistake(
        "label-on-the-pods",
        "the queue's label stands on the pod template",
        on(
            JOB,
            lambda i: (i["spec"]["template"]["metadata"]["labels"].update({QUEUE_LABEL: labels(i).pop(QUEUE_LABEL)}),),
        ),
        "queues-label-place",
    ),
    Mistake(
        "queue-as-an-annotation",
        "the queue is named by an annotation",
        on(
            JOB, lambda i: i["metadata"].setdefault("annotations", {}).update({QUEUE_LABEL: labels(i).pop(QUEUE_LABEL)})
        ),
        "queues-label-place",
    ),
    Mistake(
        "hours-instead-of-seconds",
        "max-exec-time-seconds is 12h",
        on(JOB, lambda i: labels(i).update({"kueue.x-k8s.io/max-exec-time-seconds": "12h"})),
        "queues-label",
    ),
    Mistake(
        "least-pods-beyond-all",
        "job-min-parallelism is 5 of 2 pods",
        on(
            JOB,
            lambda i: i["metadata"].setdefault("annotations", {}).update({"kueue.x-k8s.io/job-min-parallelism": "5"}),
        ),
        "queues-label",
    ),
    Mistake(
        "job-beside-the-quotas",
        "the job names no queue, the default one is gone, and the manager lets such jobs run",
        each(
            told(lambda c: c.update(manageJobsWithoutQueueName=False)),
            on(LOCAL, lambda i: i["metadata"].update(name="language")),
            on(JOB, lambda i: labels(i).pop(QUEUE_LABEL)),
        ),
        "queues-outside",
    ),
    Mistake(
        "cohort-object-misspelt",
        "the Cohort is called trainyards, and the queues' cohort is not",
        on("kueue-cohort", lambda i: i["metadata"].update(name="trainyards")),
        "queues-cohort",
    ),
    Mistake(
        "quota-of-what-is-excluded",
        "queues count memory, which the manager leaves out",
        on(
            LANGUAGE,
            lambda i: (
                i["spec"]["resourceGroups"][0]["coveredResources"].append("memory"),
                [one["resources"].append({"name": "memory", "nominalQuota": "64Gi"}) for one in flavors(i)],
            ),
        ),
        "queues-excluded",
    ),
    Mistake(
        "a-number-for-a-duration",
        "waitForPodsReady.timeout is 1800",
        told(lambda c: c["waitForPodsReady"].update(timeout=1800)),
        "kueue-configuration",
    ),
    Mistake(
        "a-strategy-that-is-none",
        "quotaCheckStrategy is Ignore",
        told(lambda c: c["resources"].update(quotaCheckStrategy="Ignore")),
        "kueue-configuration",
    ),
    Mistake(
        "priority-misspelt",
        "the job asks for priority prod",
        on(JOB, lambda i: labels(i).update({PRIORITY_LABEL: "prod"})),
        "queues-no-priority",
    ),
    Mistake(
        "priority-forgotten",
        "the class standard is not made, though jobs have it",
        without("kueue-priority-standard"),
        "queues-no-priority",
    ),
    Mistake(
        "priority-key-misspelt",
        "the label is kueue.x-k8s.io/priorityclass",
        on(JOB, lambda i: rename(labels(i), PRIORITY_LABEL, "kueue.x-k8s.io/priorityclass")),
        "queues-label",
    ),
    Mistake(
        "selector-of-a-label-nobody-has",
        "the queue selects by team instead of ml.platform/team",
        on(LANGUAGE, lambda i: i["spec"].update(namespaceSelector={"matchLabels": {"team": "language"}})),
        "queues-namespace",
    ),
    Mistake(
        "selector-of-a-misspelt-team",
        "the queue selects the team languages",
        on(LANGUAGE, lambda i: i["spec"]["namespaceSelector"]["matchLabels"].update({"ml.platform/team": "languages"})),
        "queues-namespace",
    ),
    Mistake(
        "selector-by-name",
        "the queue selects the namespace by the team's name",
        on(
            LANGUAGE,
            lambda i: i["spec"].update(
                namespaceSelector={
                    "matchExpressions": [
                        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["language"]}
                    ]
                }
            ),
        ),
        "queues-namespace",
    ),
    Mistake(
        "local-queue-leads-to-another-team",
        "the LocalQueue of one team names another's ClusterQueue",
        on(LOCAL, lambda i: i["spec"].update(clusterQueue="vision")),
        "queues-namespace",
    ),
    Mistake(
        "namespace-lost-its-label",
        "the namespace has no team label any more",
        on("teams-language-namespace", lambda i: labels(i).pop("ml.platform/team")),
        "queues-unmanaged",
    ),
    Mistake(
        "manager-selects-a-label-nobody-has",
        "managedJobsNamespaceSelector asks for kueue-managed",
        told(lambda c: c.update(managedJobsNamespaceSelector={"matchLabels": {"kueue-managed": "true"}})),
        "queues-unmanaged",
    ),
    Mistake(
        "jobs-are-not-integrated",
        "integrations.frameworks has only TrainJobs",
        told(lambda c: c["integrations"].update(frameworks=["trainer.kubeflow.org/trainjob"])),
        "queues-unmanaged",
    ),
    Mistake(
        "fabric-is-not-excluded",
        "excludeResourcePrefixes has no vpc.amazonaws.com/",
        told(lambda c: c["resources"]["excludeResourcePrefixes"].remove("vpc.amazonaws.com/")),
        "queues-uncovered",
    ),
    Mistake(
        "memory-is-not-excluded",
        "excludeResourcePrefixes has no memory",
        told(lambda c: c["resources"]["excludeResourcePrefixes"].remove("memory")),
        "queues-uncovered",
    ),
    Mistake(
        "scratch-is-not-excluded",
        "excludeResourcePrefixes has no ephemeral-storage, which the teams' LimitRange gives every container",
        each(
            told(lambda c: c["resources"]["excludeResourcePrefixes"].remove("ephemeral-storage")),
            also(
                obj(
                    "v1",
                    "LimitRange",
                    "scratch",
                    "team-language",
                    spec={"limits": [{"type": "Container", "defaultRequest": {"ephemeral-storage": "1Gi"}}]},
                )
            ),
        ),
        "queues-uncovered",
    ),
    Mistake(
        "nothing-is-excluded",
        "the section resources is left out",
        told(lambda c: c.pop("resources")),
        "queues-uncovered",
    ),
    Mistake(
        "huge-pages-are-not-excluded",
        "excludeResourcePrefixes has hugepage instead of hugepages- beside others",
        told(lambda c: c["resources"].update(excludeResourcePrefixes=["cpu", "memory", "vpc.amazonaws.com/", "huge_"])),
        "queues-never-admitted",
    ),
    Mistake(
        "mig-slice-without-quota",
        "the job asks for a MIG slice, which no queue counts",
        on(JOB, lambda i: requests(i, **{"nvidia.com/mig-1g.5gb": "1"})),
        "queues-never-admitted",
    ),
    Mistake(
        "more-pods-than-quota",
        "the gang has a node more than the largest flavor",
        on(JOB, lambda i: i["spec"].update(parallelism=3, completions=3)),
        "queues-never-admitted",
    ),
    Mistake(
        "more-gpus-than-a-flavor",
        "the job asks for 16 GPUs a pod",
        on(JOB, lambda i: requests(i, **{"nvidia.com/gpu": "16"})),
        "queues-never-admitted",
    ),
    Mistake(
        "selector-that-no-flavor-allows",
        "the job's node selector names a pool that the flavors contradict",
        on(JOB, lambda i: pods(i).update(affinity={}, nodeSelector={"ml.platform/pool": "training"})),
        "queues-never-admitted",
    ),
    Mistake(
        "lent-to-nobody",
        "all others keep the flavor that the job has to borrow",
        on((VISION, TABULAR), lambda i: quota(i, "train-spot").update(lendingLimit="0")),
        "queues-never-admitted",
    ),
    Mistake(
        "borrowing-forbidden",
        "the team may not borrow what its job needs",
        on(LANGUAGE, lambda i: quota(i, "train-spot").update(borrowingLimit="0")),
        "queues-never-admitted",
    ),
    Mistake(
        "quota-in-nodes",
        "quotas count nodes instead of GPUs",
        on(
            ALL_QUEUES,
            lambda i: [
                one["resources"][0].update(nominalQuota=str(int(one["resources"][0]["nominalQuota"]) // 8))
                for one in flavors(i)
            ],
        ),
        "queues-part-of-a-node",
    ),
    Mistake(
        "node-that-nobody-owns",
        "the quota of the reserved node was set to 0 and given to nobody",
        on(VISION, lambda i: quota(i, "train-reserved").update(nominalQuota="0")),
        "queues-part-of-a-node",
    ),
    Mistake(
        "cohort-misspelt",
        "one queue is in the cohort trainyrad",
        on(TABULAR, lambda i: i["spec"].update(cohortName="trainyrad")),
        "queues-cohort",
    ),
    Mistake(
        "cohort-forgotten",
        "one queue has no cohort, and its job would have to borrow",
        on(LANGUAGE, lambda i: i["spec"].pop("cohortName")),
        "queues-never-admitted",
    ),
    Mistake(
        "cohorts-in-a-circle",
        "the cohort's parent is below it",
        each(
            on("kueue-cohort", lambda i: i["spec"].update(parentName="company")),
            also(kueue("Cohort", "company", spec={"parentName": "trainyard"})),
        ),
        "queues-cohort-circle",
    ),
    Mistake(
        "flavor-used-by-nobody",
        "the spot flavor is out of every queue",
        on(ALL_QUEUES, lambda i: flavors(i).remove(next(one for one in flavors(i) if one["name"] == "train-spot"))),
        "queues-flavor-unused",
    ),
    Mistake(
        "flavor-of-cpu-nodes",
        "the flavor of the GPU quota selects the CPU pool",
        on("kueue-flavor-dev-on-demand", lambda i: i["spec"].update(nodeLabels={"ml.platform/pool": "cpu"})),
        "queues-nodes",
    ),
    Mistake(
        "flavor-of-a-misspelt-pool",
        "the flavor's label says trian",
        on(FLAVOR, lambda i: i["spec"]["nodeLabels"].update({"ml.platform/pool": "trian"})),
        "kueue-flavor-labels",
    ),
    Mistake(
        "flavor-of-the-wrong-market",
        "the spot flavor selects nodes by eks.amazonaws.com/capacityType RESERVED",
        on(FLAVOR, lambda i: i["spec"]["nodeLabels"].update({"eks.amazonaws.com/capacityType": "RESERVED"})),
        "kueue-flavor-labels",
    ),
    Mistake(
        "spot-is-not-tolerated",
        "the spot flavor tolerates GPUs alone",
        on(FLAVOR, lambda i: i["spec"].update(tolerations=i["spec"]["tolerations"][:1])),
        "kueue-flavor-tolerations",
    ),
    Mistake(
        "taint-that-no-job-tolerates",
        "the flavor has nodeTaints of maintenance, which no job tolerates",
        on(
            ["kueue-flavor-train-spot"],
            lambda i: i["spec"].update(nodeTaints=[{"key": "maintenance", "value": "true", "effect": "NoSchedule"}]),
        ),
        "queues-never-admitted",
    ),
    Mistake(
        "cores-that-no-node-has",
        "a queue of 400 cores, on a pool of 48",
        also(*cpu_queue({"ml.platform/pool": "cpu"}, "400")),
        "queues-nodes",
    ),
    Mistake(
        "cores-on-tainted-nodes",
        "a queue of cores whose flavor is the GPU pool, without a toleration",
        also(*cpu_queue({"ml.platform/pool": "dev"}, "4")),
        "queues-nodes",
    ),
    Mistake(
        "quota-beyond-the-nodes",
        "a quota of 64 GPUs on two nodes",
        on(LANGUAGE, lambda i: quota(i, "train-spot").update(nominalQuota="64")),
        "kueue-quota-nodes",
    ),
    Mistake(
        "check-forgotten",
        "the queue waits for an admission check that is not made",
        checked("budget"),
        "queues-admission-check",
    ),
    Mistake(
        "check-answered-by-nobody",
        "the controller is called kueue.x-k8s.io/provisioning-requests",
        each(
            also(
                kueue("AdmissionCheck", "nodes", spec={"controllerName": "kueue.x-k8s.io/provisioning-requests"}),
            ),
            checked("nodes"),
        ),
        "queues-admission-check",
    ),
    Mistake(
        "check-without-its-configuration",
        "the check names a ProvisioningRequestConfig of another name",
        each(
            also(
                kueue("AdmissionCheck", "nodes", spec=PROVISIONING),
                kueue("ProvisioningRequestConfig", "gpu", spec={"provisioningClassName": "x"}),
            ),
            checked("nodes"),
        ),
        "queues-admission-check",
    ),
    Mistake(
        "autoscaler-does-not-answer",
        "a ProvisioningRequest check, while the autoscaler is not told to take such",
        each(
            also(
                kueue("AdmissionCheck", "nodes", spec=PROVISIONING),
                kueue("ProvisioningRequestConfig", "gpu-nodes", spec={"provisioningClassName": "x"}),
            ),
            checked("nodes"),
        ),
        "queues-admission-check",
    ),
    Mistake(
        "check-on-a-flavor-of-another-queue",
        "onFlavors names a flavor that the queue has no quota of",
        each(
            also(kueue("AdmissionCheck", "budget", spec={"controllerName": "acme.example/budget"})),
            on(
                LANGUAGE,
                lambda i: i["spec"].update(
                    admissionChecksStrategy={"admissionChecks": [{"name": "budget", "onFlavors": ["train-spott"]}]}
                ),
            ),
        ),
        "queues-admission-check",
    ),
    Mistake(
        "topology-from-zero",
        "a topology-aware flavor of a pool that starts at zero",
        each(
            also(kueue("Topology", "hosts", spec={"levels": [{"nodeLabel": "kubernetes.io/hostname"}]})),
            on(FLAVOR, lambda i: i["spec"].update(topologyName="hosts")),
        ),
        "queues-topology-from-zero",
    ),
    Mistake(
        "topology-that-no-flavor-has",
        "the job requires a block, and no flavor knows of topology",
        on(
            JOB,
            lambda i: i["spec"]["template"]["metadata"].update(
                annotations={"kueue.x-k8s.io/podset-required-topology": "cloud.provider.com/topology-block"}
            ),
        ),
        "queues-never-admitted",
    ),
    Mistake(
        "pods-have-a-minute",
        "waitForPodsReady.timeout is 60s, while nodes start from zero",
        told(lambda c: c["waitForPodsReady"].update(timeout="60s")),
        "queues-pods-ready",
    ),
    Mistake(
        "weight-without-fair-sharing",
        "the manager's fairSharing is left out, the queues' weights are not",
        told(lambda c: c.pop("fairSharing")),
        "queues-weight",
    ),
    Mistake(
        "queue-of-nothing",
        "a team's quotas are all 0 and it is in no cohort",
        on(
            TABULAR,
            lambda i: (
                i["spec"].pop("cohortName"),
                [one["resources"][0].update(nominalQuota="0") for one in flavors(i)],
            ),
        ),
        "queues-no-quota",
    ),
    Mistake(
        "priorities-upside-down",
        "development has a higher value than production",
        on("kueue-priority-development", lambda i: i.update(value=5000)),
        None,
        "what a class is called says nothing of who should go first",
    ),
    Mistake(
        "quota-to-the-wrong-team",
        "the reserved node is another team's",
        each(
            on(VISION, lambda i: quota(i, "train-reserved").update(nominalQuota="0")),
            on(TABULAR, lambda i: quota(i, "train-reserved").update(nominalQuota="8")),
        ),
        None,
        "who should own what stands in nobody's manifest; explain queues shows it",
    ),
]
