"""Two sets of mistakes of placement, queues, machines and charts on both clouds, and more of their classes.

The first two were written before any rule was looked at. What is refused and what does not work stand together: `rule`
is what tells it now.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, added, both, edit, in_json, put
from tests.rehearsal.works.mistakes_k8s_first import (
    CLUSTER_QUEUE,
    CRON_JOB,
    DAEMONS,
    DEPLOYMENT,
    DISRUPTION,
    FLAVOR,
    JOB,
    LIMITS,
    LOCAL_QUEUE,
    NOTEBOOKS,
    POD,
    PROVISIONING,
    QUEUES,
    QUOTA,
    RELEASE,
    RUNTIME,
    SERVER,
    STACK,
    said,
    values,
)

GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
POOL, TAG, ADD_ON = "gcp:container/nodePool:NodePool", "aws:autoscaling/tag:Tag", "aws:eks/addon:Addon"
CHECK = "kubernetes:kueue.x-k8s.io/v1beta2:AdmissionCheck"
LARGE_AWS, GOOGLE, LARGE_GOOGLE = "large-aws", "demo-gcp", "large-gcp"
AUTOSCALER, EXPORTER, PLUGIN = "autoscaler-release", "gpu-dcgm-exporter", "gpu-nvidia-device-plugin"
HUB, NOTEBOOK = "notebooks-release", "singleuser.profileList[1].kubespawner_override"
PODS_OF_RUNTIME = "spec.template.spec.replicatedJobs[0].template.spec.template.spec"
VISION, TABULAR = "kueue-cluster-queue-vision", "kueue-cluster-queue-tabular"
FLAVORS = "spec.resourceGroups[0].flavors"
QUEUED = {"kueue.x-k8s.io/queue-name": "default"}
SPREAD = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}


def configured(old: str, new: str) -> Change:
    """Changes the text of Kueue's configuration."""
    return edit(RELEASE, QUEUES, said("values.managerConfig.controllerManagerConfigYaml".replace(".", "/"), old, new))


def hosts(flavor: str, *into: Any) -> Change:
    """Has a flavor go by a topology of hosts."""
    topology = added(
        "kueue.x-k8s.io/v1beta2:Topology", "hosts", {"spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}}
    )
    return both(topology, edit(FLAVOR, flavor, put("spec.topologyName", "hosts"), *into))


def remote(*clusters: str, **made: dict[str, Any]) -> Change:
    """Sends the jobs of a team to other clusters; `made` are those that are registered, by name."""
    kueue = "kueue.x-k8s.io/v1beta2"
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "workers"}
    check = {"spec": {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}}
    return both(
        added(f"{kueue}:MultiKueueConfig", "workers", {"spec": {"clusters": list(clusters)}}),
        added(f"{kueue}:AdmissionCheck", "multikueue", check),
        *(added(f"{kueue}:MultiKueueCluster", name, {"spec": {"clusterSource": one}}) for name, one in made.items()),
        edit(
            CLUSTER_QUEUE, TABULAR, put("spec.admissionChecksStrategy", {"admissionChecks": [{"name": "multikueue"}]})
        ),
    )


def by_secret(name: str) -> dict[str, Any]:
    """A cluster that is reached by a kubeconfig."""
    return {"kubeConfig": {"locationType": "Secret", "location": name}}


def secret(namespace: str, key: str = "kubeconfig") -> Change:
    """A Secret with something in it."""
    return added("core/v1:Secret", "worker", {"stringData": {key: "apiVersion: v1"}}, namespace)


def train_job(**trainer: Any) -> Change:
    """A job of the pool's runtime."""
    runtime = {"apiGroup": "trainer.kubeflow.org", "kind": "ClusterTrainingRuntime", "name": "torch-distributed-train"}
    body = {"metadata": {"labels": QUEUED}, "spec": {"runtimeRef": runtime, "trainer": trainer}}
    return added("trainer.kubeflow.org/v1alpha1:TrainJob", "own", body, "team-vision")


def job_set(target: str) -> Change:
    """A set of two jobs that ends with one of them."""
    jobs = [
        {
            "name": name,
            "template": {"spec": {"template": {"spec": {"containers": [{"name": "own", "image": "own:1"}]}}}},
        }
        for name in ("loader", "worker")
    ]
    policy = {"operator": "All", "targetReplicatedJobs": [target]}
    body = {"metadata": {"labels": QUEUED}, "spec": {"replicatedJobs": jobs, "successPolicy": policy}}
    return added("jobset.x-k8s.io/v1alpha2:JobSet", "own", body, "team-vision")


def drill(place: str, value: Any) -> Change:
    """Changes the labels of the weekly drill."""
    return edit(CRON_JOB, "checkpoint-drill-job", put(place, value))


def add_on(key: str, value: Any) -> Change:
    """Changes the settings of the names' add-on."""
    return edit(ADD_ON, "cluster-coredns", in_json("configurationValues", lambda told: told.update({key: value})))


def apart(replicas: int) -> Change:
    """Keeps the proxy's pods off each other's nodes."""
    term = {
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "egress-proxy"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return edit(DEPLOYMENT, "egress-deployment", put("spec.replicas", replicas), put(f"{POD}.affinity", rule))


def in_container(place: str, value: Any) -> Any:
    """Changes the resources of a pod's first container."""
    return put(f"{POD}.containers[0].resources.{place}", value)


NO_GPUS_OF_NODES = edit(
    POOL,
    "gpu-nodes-tune-spot",
    put("nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "INSTALLATION_DISABLED"),
)
TOLERATION = {"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Equal", "value": "true"}
NAMED = "spec.jobTemplate.metadata.labels"
GRAFANA = {"enabled": True, "type": "pvc", "accessModes": ["ReadWriteOnce"], "size": "10Gi"}
METRICS = "values/customMetrics"


def one(name: str, what: str, rule: str, change: Change, stack: str = "demo") -> Mistake:
    return Mistake(name, what, change, rule, stack=stack)


FIRST = (
    one("both-update-limits", "a number and a share of nodes at an update", "eks-update-config",
        edit(GROUP, "gpu-nodes-dev-on-demand", put("updateConfig.maxUnavailablePercentage", 33))),
    one("block-without-market", "a capacity block's template without its market type", "capacity-block",
        edit(TEMPLATE, "gpu-nodes-pretrain-reserved-template", put("instanceMarketOptions", DROP)), LARGE_AWS),
    one("priority-value", "a priority of the system's own", "k8s-priority",
        edit("kubernetes:scheduling.k8s.io/v1:PriorityClass", "teams-cpu-only", put("value", 1500000000))),
    one("daemon-surge", "a DaemonSet that surges and goes below", "k8s-rollout",
        edit(DAEMONS, "team-logs", put("spec.updateStrategy.rollingUpdate.maxSurge", 1))),
    one("min-domains", "domains that nobody has to fill", "k8s-spread",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.topologySpreadConstraints[0].minDomains", 2))),
    one("label-key-twice", "a label's key twice in a spread", "k8s-spread",
        edit(DEPLOYMENT, SERVER,
             put(f"{POD}.topologySpreadConstraints[0].matchLabelKeys", ["app.kubernetes.io/name"]))),
    one("borrow-without-reclaim", "preempts while it borrows, and reclaims nothing", "kueue-preemption",
        edit(CLUSTER_QUEUE, VISION, put("spec.preemption.reclaimWithinCohort", "Never"),
             put("spec.preemption.borrowWithinCohort.policy", "LowerPriority"))),
    one("flavor-in-two-groups", "a flavor in two groups of resources", "kueue-flavor",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-foundation", put("spec.resourceGroups[1].flavors[2]", {
            "name": "tune-spot", "resources": [{"name": "google.com/tpu", "nominalQuota": "0"}]})), LARGE_GOOGLE),
    one("topology-without-labels", "a topology of a flavor without nodes", "kueue-topology",
        hosts("kueue-flavor-dev-on-demand", put("spec.nodeLabels", DROP))),
    one("fail-index", "fails an index that has no limit", "k8s-job",
        edit(JOB, "smoke-tune-spot-job", put("spec.podFailurePolicy.rules[2].action", "FailIndex"))),
    one("huge-pages", "fewer huge pages than their limit", "k8s-resources",
        edit(JOB, "smoke-train-spot-job", in_container("requests.hugepages-2Mi", "2Gi"))),
    one("two-policies", "a runtime of two frameworks", "reference-runtime-policy",
        edit(RUNTIME, "runtimes-torch",
             put("spec.mlPolicy.mpi", {"numProcPerNode": 1, "mpiImplementation": "OpenMPI"}))),
    one("two-maxima", "nodes at most in all and a zone", "gke-counts",
        edit(POOL, "gpu-nodes-dev-on-demand", put("autoscaling.maxNodeCount", 4)), GOOGLE),
    one("gpu-count", "four GPUs of a machine of eight", "gke-accelerator",
        edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.guestAccelerators[0].count", 4)), GOOGLE),
    one("annotation-number", "an annotation that is a number", "k8s-type",
        values(AUTOSCALER, "podAnnotations.prometheus~io/port", 8085)),
    one("requests-over-limits", "requests above their limit", "charts-limit",
        values(EXPORTER, "resources.requests.cpu", "750m")),
    one("autoscaling-tag", "another pool's name on the tag of nodes to come", "placement-scaling-tag",
        edit(TAG, "gpu-nodes-train-spot-label-ml-platform-pool", put("tag.value", "training"))),
    one("duration", "a duration without its unit", "charts-flag",
        values(AUTOSCALER, "extraArgs.max-node-provision-time", "20")),
    one("driver-off", "nodes on which nobody installs a driver", "machine-gpu-driver", NO_GPUS_OF_NODES, GOOGLE),
    one("device-variable", "GPUs by a variable that the nodes do not read", "charts-device-list",
        values(PLUGIN, "deviceListStrategy", "envvar")),
    one("other-machine", "adapters of another machine", "placement-device-plugin",
        values("gpu-aws-efa-k8s-device-plugin", "supportedInstanceLabels.values", ["p4de.24xlarge"])),
    one("exporter-without-spot", "no figures of spot nodes", "placement-exporter",
        values(EXPORTER, "tolerations", [TOLERATION])),
    one("ready-too-soon", "evicted before a node is there", "queues-pods-ready",
        configured("timeout: 30m", "timeout: 2m")),
    one("no-train-jobs", "a manager that leaves TrainJobs out", "queues-framework",
        configured("  - trainer.kubeflow.org/trainjob\n", "")),
    one("counted", "huge pages are counted, and nobody has a quota of them", "queues-uncovered",
        configured("  - hugepages-\n", "")),
    one("two-cures", "two cures for what is not counted", "kueue-configuration",
        configured("resources:\n", "resources:\n  quotaCheckStrategy: IgnoreUndeclared\n")),
    one("held", "a queue that is held", "programs-switched-off",
        edit(LOCAL_QUEUE, "kueue-local-queue-vision-smoke", put("spec.stopPolicy", "HoldAndDrain"))),
    one("drill-queue", "a CronJob's queue that is not there", "queues-no-local-queue",
        drill(f"{NAMED}.kueue~x-k8s~io/queue-name", "drills")),
    one("budget", "a budget that lets nobody go", "charts-budget",
        values(QUEUES, "controllerManager.podDisruptionBudget.minAvailable", 2)),
    one("apart", "six pods on six nodes, and one more at an update", "placement-spread", apart(6)),
    one("capacity", "all of a machine's memory", "placement-no-node",
        edit(JOB, "smoke-train-reserved-job", in_container("requests.memory", "1152Gi"),
             in_container("limits.memory", "1152Gi"))),
    one("disk", "more disk than the nodes have", "placement-no-node",
        edit(RUNTIME, "runtimes-torch-cpu",
             put(f"{PODS_OF_RUNTIME}.containers[0].resources.requests.ephemeral-storage", "150Gi"))),
    one("adapters", "one adapter less than pods ask for", "placement-no-node",
        edit(TEMPLATE, "gpu-nodes-train-spot-template", lambda i: i["networkInterfaces"].pop())),
    one("driver-tolerations", "a driver that is not on the GPUs' nodes", "placement-driver",
        values("drivers-s3", "node.tolerations", [])),
    one("queued-taint", "a taint of GKE's own that no flavor tolerates", "kueue-flavor-tolerations",
        edit(FLAVOR, "kueue-flavor-train-flex-start", lambda i: i["spec"]["tolerations"].pop()), LARGE_GOOGLE),
    one("run-too-long", "runs of ten days", "queues-provisioning",
        edit(PROVISIONING, "kueue-provisioning-train-flex-start",
             put("spec.parameters.maxRunDurationSeconds", "864000")), LARGE_GOOGLE),
    one("check-controller", "a check that nobody answers", "queues-admission-check",
        edit(CHECK, "kueue-check-train-flex-start", put("spec.controllerName", "kueue.x-k8s.io/provisioning")),
        LARGE_GOOGLE),
    one("slice", "half of a slice's machines", "programs-slice",
        edit(RUNTIME, "runtimes-tpu-v6e", put("spec.mlPolicy.numNodes", 2)), LARGE_GOOGLE),
    one("namespace-quota", "GPUs in a namespace's quota", "reference-quota",
        edit(QUOTA, "teams-vision-quota", put("spec.hard.requests~nvidia~com/gpu", "4"))),
    one("limit-range", "less memory at most than the jobs ask for", "reference-limit-range",
        edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].max", {"memory": "64Gi"}))),
    one("one-at-a-time", "ranks that never meet", "programs-gang",
        edit(JOB, "smoke-tune-spot-job", put("spec.parallelism", 1))),
    one("retention", "more figures than the disk holds", "programs-retention",
        values(STACK, "prometheus.prometheusSpec.retentionSize", "60GiB")),
    one("topology-from-zero", "a topology of nodes that are not there", "queues-topology-from-zero",
        hosts("kueue-flavor-train-on-demand")),
    one("sent-to-nobody", "clusters that nobody registers", "queues-remote", remote("worker")),
)  # fmt: skip

SECOND = (
    one("success-of-nobody", "a set ends with a job that it has not", "reference-replicated-job", job_set("workers")),
    one("reserved", "a variable that the runtime sets", "reference-runtime-policy",
        train_job(numNodes=1, env=[{"name": "PET_NNODES", "value": "1"}])),
    one("borrowing-alone", "a limit of borrowing without a cohort", "kueue-cohort",
        edit(CLUSTER_QUEUE, TABULAR, put("spec.cohortName", DROP),
             put(f"{FLAVORS}[1].resources[0].borrowingLimit", "2"))),
    one("lends-more", "lends more than it owns", "kueue-quota",
        edit(CLUSTER_QUEUE, VISION, put(f"{FLAVORS}[3].resources[0].lendingLimit", "16"))),
    one("two-repairs", "a number and a share of nodes that are repaired", "aws-inputs",
        edit(GROUP, "gpu-nodes-dev-on-demand", put("nodeRepairConfig.maxParallelNodesRepairedPercentage", 20))),
    one("no-upgrade", "an upgrade that may do nothing", "gke-upgrade",
        edit(POOL, "gpu-nodes-dev-on-demand", put("upgradeSettings.maxUnavailable", 0)), GOOGLE),
    one("budget-share", "more than all pods", "k8s-percentage",
        edit(DISRUPTION, "mlflow-disruption-budget", put("spec.maxUnavailable", DROP),
             put("spec.minAvailable", "110%"))),
    one("hub-database", "a database by another name", "charts-choice", values(HUB, "hub.db.type", "postgresql"),
        NOTEBOOKS),
    one("job-of-sixteen", "a pod of sixteen GPUs", "placement-no-node",
        train_job(numNodes=1, resourcesPerNode={"limits": {"nvidia.com/gpu": "16"}})),
    one("claim-template", "a template of claims that no team has", "reference-class",
        edit(RUNTIME, "runtimes-torch-train", put(f"{PODS_OF_RUNTIME}.resourceClaims[0].resourceClaimTemplateName",
                                                  "fabrics")), LARGE_GOOGLE),
    one("notebook", "a notebook of more GPUs than a machine", "placement-no-node",
        both(values(HUB, f"{NOTEBOOK}.extra_resource_limits", {"nvidia.com/gpu": "8"}),
             values(HUB, f"{NOTEBOOK}.extra_resource_guarantees", {"nvidia.com/gpu": "8"})), NOTEBOOKS),
    one("daemon-on-arm", "a DaemonSet of machines that are not there", "placement-daemon-nowhere",
        edit(DAEMONS, "team-logs", put(f"{POD}.nodeSelector", {"kubernetes.io/arch": "arm64"}))),
    one("pool-of-arm", "images of other machines", "placement-no-node",
        edit(GROUP, "cluster-cpu", put("amiType", "AL2023_ARM_64_STANDARD"), put("instanceTypes", ["m7g.2xlarge"]))),
    one("one-disk", "two pods on one disk", "charts-own-state",
        both(values(STACK, "grafana.replicas", 2), values(STACK, "grafana.persistence", GRAFANA))),
    one("account", "an account that has no role", "rights-program-no-role",
        values(AUTOSCALER, "rbac.serviceAccount.name", "cluster-autoscaler-aws")),
    one("small-system", "too little room for the platform", "placement-shared-room",
        edit(GROUP, "cluster-system", put("instanceTypes", ["m7i.large"]), put("scalingConfig.maxSize", 2))),
    one("eight-pods", "no room beside GKE's own pods", "gke-pods",
        edit(POOL, "cluster-system", put("maxPodsPerNode", 8)), GOOGLE),
    one("gates-twice", "gates by flags and by file", "kueue-configuration",
        both(values(QUEUES, "controllerManager.featureGates", [{"name": "LocalQueueMetrics", "enabled": True}]),
             configured("manageJobsWithout", "featureGates:\n  LocalQueueMetrics: true\nmanageJobsWithout"))),
    one("zone-without", "a zone without the machine", "gke-machine-zone",
        edit(POOL, "gpu-nodes-dev-on-demand", put("nodeLocations", ["us-central1-f"])), GOOGLE),
    one("two-zones", "one placement in two zones", "efa-one-zone",
        edit(GROUP, "gpu-nodes-train-on-demand", lambda i: i["subnetIds"].append("subnet-e5ab1e56e9f82a9c1"))),
    one("no-field", "a figure that DCGM has not", "charts-counters",
        edit(RELEASE, EXPORTER, said(METRICS, "DCGM_FI_DEV_GPU_UTIL,", "DCGM_FI_DEV_GPU_UTILIZATION,"))),
    one("managed-by-nobody", "a selector that means no namespace", "queues-unmanaged",
        configured("key: ml.platform/team\n", "key: ml.platform/teams\n")),
)  # fmt: skip

WIDER = (
    one("no-value", "a chart's toleration of a value that exists", "k8s-toleration",
        values(EXPORTER, "tolerations[0].operator", "Exists")),
    one("seconds", "seconds of a toleration that ends nothing", "k8s-toleration",
        values(EXPORTER, "tolerations[0].tolerationSeconds", 60)),
    one("chart-domains", "domains of a chart's pods", "k8s-spread",
        values(AUTOSCALER, "topologySpreadConstraints[0].minDomains", 2)),
    one("chart-topology", "a chart's spread over nothing", "k8s-required",
        values(AUTOSCALER, "topologySpreadConstraints[0].topologyKey", DROP)),
    one("chart-weight", "a weight of two hundred", "k8s-affinity",
        values("runtimes-jobset", "controller.affinity.podAntiAffinity."
               "preferredDuringSchedulingIgnoredDuringExecution[0].weight", 200)),
    one("chart-operator", "values of what has to exist alone", "k8s-selector",
        values(EXPORTER, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
               "nodeSelectorTerms[0].matchExpressions[0].operator", "Exists")),
    one("chart-privileged", "privileged without more privileges", "k8s-security",
        values(AUTOSCALER, "containerSecurityContext.privileged", True)),
    one("chart-label", "a label that is an address", "label-value",
        values(AUTOSCALER, "podLabels", {"owner": "ml-platform@acme.example"})),
    one("chart-selector", "a selector that is no text", "k8s-type",
        values(QUEUES, "controllerManager.nodeSelector.spot", True)),
    one("chart-class", "a priority class that nobody makes", "k8s-reference",
        values(AUTOSCALER, "priorityClassName", "system-critical")),
    one("half-a-gpu", "a half of a device", "k8s-resources",
        values(EXPORTER, "resources.limits.nvidia~com/gpu", "500m")),
    one("add-on-toleration", "an add-on's toleration of a value that exists", "k8s-toleration",
        add_on("tolerations", [{**TOLERATION, "operator": "Exists"}])),
    one("add-on-spread", "an add-on's spread that nothing satisfies", "k8s-spread",
        add_on("topologySpreadConstraints", [{**SPREAD, "maxSkew": 0}])),
    one("pull-policy", "a word that no kubelet knows", "k8s-enum",
        values(QUEUES, "controllerManager.manager.image.pullPolicy", "IfNotPreset")),
    one("service-type", "a service of no type", "k8s-enum", values(STACK, "prometheus.service", {"type": "Internal"})),
    one("strategy", "a strategy of no type", "k8s-enum", values(AUTOSCALER, "updateStrategy", {"type": "Rolling"})),
    one("strategy-of-nothing", "an update that may do nothing", "k8s-rollout",
        values(AUTOSCALER, "updateStrategy", {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}})),
    one("dns-policy", "a policy of names that is none", "k8s-enum", values(AUTOSCALER, "dnsPolicy", "ClusterLast")),
    one("disk-mode", "a mode of no disk", "k8s-enum",
        values(STACK, "prometheus.prometheusSpec.storageSpec.volumeClaimTemplate.spec.accessModes",
               ["ReadWriteMulti"])),
    one("disk-size", "a size in units of a shop", "k8s-quantity",
        values(STACK, "prometheus.prometheusSpec.storageSpec.volumeClaimTemplate.spec.resources.requests.storage",
               "50GB")),
    one("log-level", "a level of no log", "charts-choice",
        values(STACK, "prometheus.prometheusSpec.logLevel", "trace")),
    one("retention-words", "a duration in words", "charts-choice",
        values(STACK, "prometheus.prometheusSpec.retention", "45 days")),
    one("interval", "an interval without its unit", "charts-choice",
        values(STACK, "prometheus.prometheusSpec.scrapeInterval", "30")),
    one("node-purpose", "a word of the hub's that is none", "charts-choice",
        values(HUB, "scheduling.userPods.nodeAffinity.matchNodePurpose", "required"), NOTEBOOKS),
    one("help-with-a-comma", "a line of four values", "charts-counters",
        edit(RELEASE, EXPORTER, said(METRICS, "GPU utilization (in %).", "GPU utilization, in %."))),
    one("kind-of-figure", "a figure of no kind", "charts-counters",
        edit(RELEASE, EXPORTER, said(METRICS, "DCGM_FI_DEV_FB_FREE, gauge", "DCGM_FI_DEV_FB_FREE, guage"))),
    one("label-on-the-cron-job", "a queue's name where nobody reads it", "queues-label-place",
        both(drill(NAMED, {}), drill("metadata.labels.kueue~x-k8s~io/queue-name", "default"),
             configured("manageJobsWithoutQueueName: true", "manageJobsWithoutQueueName: false"))),
    one("priority-of-cron-job", "a priority that is not there", "queues-no-priority",
        drill(f"{NAMED}.kueue~x-k8s~io/priority-class", "urgent")),
    one("other-worker", "another cluster than the one that is registered", "queues-remote",
        remote("worker", workers=by_secret("worker"))),
    one("two-sources", "a cluster by two ways", "queues-remote",
        remote("worker", worker={**by_secret("worker"), "clusterProfileRef": {"name": "worker"}})),
    one("secret-elsewhere", "a kubeconfig in another namespace", "queues-remote",
        both(remote("worker", worker=by_secret("worker")), secret("mlflow"))),
    one("secret-key", "a kubeconfig by another key", "queues-remote",
        both(remote("worker", worker=by_secret("worker")), secret("kueue-system", "config"))),
    one("remote-field", "a field that no cluster has", "k8s-unknown-field",
        remote("worker", worker={"kubeconfig": {"location": "worker"}})),
)  # fmt: skip

SOUND: dict[str, tuple[str, Change]] = {
    "a share of nodes at an update": ("demo", edit(
        GROUP, "gpu-nodes-dev-on-demand", put("updateConfig.maxUnavailable", DROP),
        put("updateConfig.maxUnavailablePercentage", 33))),
    "a DaemonSet that surges": ("demo", edit(
        DAEMONS, "team-logs", put("spec.updateStrategy.rollingUpdate", {"maxSurge": "10%", "maxUnavailable": 0}))),
    "a duration of hours and minutes": ("demo", values(AUTOSCALER, "extraArgs.max-node-provision-time", "0h25m30s")),
    "GPUs by the runtime's own interface": ("demo", values(PLUGIN, "deviceListStrategy", "cdi-cri")),
    "GPUs by mounts or else": ("demo", values(PLUGIN, "deviceListStrategy", "envvar,volume-mounts")),
    "a share of pods": ("demo", values(QUEUES, "controllerManager.podDisruptionBudget.minAvailable", "50%")),
    "the driver that GKE proposes": (GOOGLE, edit(
        POOL, "gpu-nodes-tune-spot",
        put("nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "DEFAULT"))),
    "a flavor that tolerates everything": (LARGE_GOOGLE, edit(
        FLAVOR, "kueue-flavor-train-flex-start", put("spec.tolerations", [{"operator": "Exists"}]))),
    "a taint of GKE's by its value": (LARGE_GOOGLE, edit(
        FLAVOR, "kueue-flavor-train-flex-start", put("spec.tolerations[1]", {
            "key": "cloud.google.com/gke-queued", "operator": "Equal", "value": "true", "effect": "NoSchedule"}))),
    "a CronJob's priority": ("demo", drill(f"{NAMED}.kueue~x-k8s~io/priority-class", "development")),
    "a limit of borrowing": ("demo", edit(
        CLUSTER_QUEUE, TABULAR, put(f"{FLAVORS}[1].resources[0].borrowingLimit", "2"))),
    "a share of nodes that are repaired": ("demo", edit(
        GROUP, "gpu-nodes-dev-on-demand", put("nodeRepairConfig.maxParallelNodesRepairedCount", DROP),
        put("nodeRepairConfig.maxParallelNodesRepairedPercentage", 20))),
    "what the operator's kinds have besides": ("demo", values(
        STACK, "prometheus.prometheusSpec.topologySpreadConstraints",
        [{**SPREAD, "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
          "additionalLabelSelectors": "OnResource"}])),
    "labels of figures": ("demo", both(
        values(STACK, "commonLabels", {"team": "ml"}),
        values(STACK, "prometheus.prometheusSpec.externalLabels.owner", "ml@acme.example"))),
    "annotations that are texts": ("demo", both(
        values(AUTOSCALER, "podAnnotations.note", "runs: on 2 nodes"), values(AUTOSCALER, "podLabels", {"own": ""}))),
    "words as the API has them": ("demo", both(
        values(QUEUES, "controllerManager.manager.image.pullPolicy", "Always"),
        values(AUTOSCALER, "updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0,
                                                                                          "maxUnavailable": 1}}),
        values(STACK, "prometheus.service", {"type": "ClusterIP"}))),
    "figures by their new names, and of the exporter's own": ("demo", edit(RELEASE, EXPORTER, said(
        METRICS, "DCGM_EXP_XID_ERRORS_COUNT, gauge, XID",
        'DCGM_EXP_GPU_HEALTH_STATUS, gauge,"healthy, or not"\nDCGM_EXP_XID_ERRORS_COUNT, gauge, XID'))),
    "several Grafanas on a database": ("demo", both(
        values(STACK, "grafana.replicas", 2),
        values(STACK, "grafana.grafana~ini.database", {"type": "postgres", "host": "grafana:5432"}))),
    "nodes that the hub prefers": (NOTEBOOKS, values(
        HUB, "scheduling.userPods.nodeAffinity.matchNodePurpose", "prefer")),
    "an add-on's spread": ("demo", add_on("topologySpreadConstraints", [
        {**SPREAD, "labelSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}])),
}  # fmt: skip
"""Right beside the rules that came of the sets: nothing is told of them at all."""

BESIDE: dict[str, tuple[str, str, Change]] = {
    "a cluster that is registered": ("demo", "queues-remote", both(
        remote("worker", worker=by_secret("worker")), secret("kueue-system"))),
    "a cluster whose Secret comes from elsewhere": ("demo", "queues-remote", remote("w", w=by_secret("worker"))),
    "a cluster as the API had it before": ("demo", "queues-remote", both(
        remote("worker", other=by_secret("w")), secret("kueue-system"),
        added("kueue.x-k8s.io/v1beta1:MultiKueueCluster", "worker", {"spec": by_secret("worker")}))),
    "Grafanas with a disk of many nodes": ("demo", "charts-own-state", both(
        values(STACK, "grafana.replicas", 2), values(STACK, "grafana.grafana~ini.database", {"type": "postgres"}),
        values(STACK, "grafana.persistence", {"enabled": True, "existingClaim": "shared"}))),
    "Grafanas with a disk each": ("demo", "charts-own-state", both(
        values(STACK, "grafana.replicas", 2), values(STACK, "grafana.grafana~ini.database", {"type": "postgres"}),
        values(STACK, "grafana.useStatefulSet", True), values(STACK, "grafana.persistence", {"enabled": True}))),
    "a line that is a comment": ("demo", "charts-counters", edit(RELEASE, EXPORTER, said(
        METRICS, "DCGM_FI_DEV_FB_FREE, gauge", "  # of memory\nDCGM_FI_DEV_FB_FREE, gauge"))),
    "a variable of a job's own": ("demo", "reference-runtime-policy", train_job(
        numNodes=1, env=[{"name": "PET_MAX_RESTARTS", "value": "3"}])),
    "a whole node": ("demo", "placement-no-node", train_job(
        numNodes=1, resourcesPerNode={"limits": {"nvidia.com/gpu": "8"}})),
    "a set that ends with one of its jobs": ("demo", "reference-replicated-job", job_set("worker")),
}  # fmt: skip
"""Right beside a rule: what else is told of it, such as that it does not wait for its kind, is of the test's making."""
