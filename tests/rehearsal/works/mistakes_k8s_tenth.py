"""The tenth set of mistakes within clusters: objects and charts of our stacks on both clouds.

Of each, what the API server or a webhook refuses, and what is taken and never works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, edit, put
from tests.rehearsal.works.mistakes_gcp_twelfth import (
    CRON,
    DEMO,
    DEPLOYMENT,
    EU,
    JOB,
    LARGE,
    MAP,
    POLICY,
    QUEUE,
    RELEASE,
    m,
    swap,
)

AWS, LARGE_AWS, UAE = "demo", "large-aws", "uae-aws"
RUNTIME: Final = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
GUARD: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
VOLUME: Final = "kubernetes:core/v1:PersistentVolume"
CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"
SERVICE: Final = "kubernetes:core/v1:Service"
CONTAINER: Final = "spec.template.spec.containers[0]"
PROMETHEUS: Final = "values.prometheus.prometheusSpec"
DISK: Final = f"{PROMETHEUS}.storageSpec.volumeClaimTemplate.spec.resources.requests.storage"
FIRST: Final = "spec.resourceGroups[0]"
MOUNTS: Final = "spec.template.spec.replicatedJobs[0].template.spec.template.spec"


def configured(old: str, new: str) -> Change:
    """Writes something else in Kueue's configuration."""
    return edit(RELEASE, "kueue-release", swap("values", old, new))


def chart(path: str, value: Any) -> Change:
    """Another value of the chart of monitoring."""
    return edit(RELEASE, "monitoring-release", put(path, value))


def _without_kueue(inputs: dict[str, Any]) -> None:
    inputs["values"]["kube-state-metrics"]["rbac"]["extraRules"].pop(0)


def owned(*options: str) -> Change:
    """Whose the files of a team's volume are."""
    return edit(
        VOLUME, "volumes-vision-checkpoints-volume", lambda inputs: inputs["spec"]["mountOptions"].extend(options)
    )


def idle(key: str, value: str) -> Change:
    """Another alert of GPUs that nobody uses."""

    def into(inputs: dict[str, Any]) -> None:
        rules = [rule for group in inputs["spec"]["groups"] for rule in group["rules"]]
        next(rule for rule in rules if rule.get("alert") == "GpuIdle")[key] = value

    return edit("kubernetes:monitoring.coreos.com/v1:PrometheusRule", "monitoring-rules", into)


def first_quota(amount: str) -> Change:
    """Another quota of a team's first flavor."""
    return edit(QUEUE, "kueue-cluster-queue-foundation", put(f"{FIRST}.flavors[0].resources[0].nominalQuota", amount))


def budget_of(pods: str) -> Change:
    """How many pods of the proxy may be away."""
    return edit(
        "kubernetes:policy/v1:PodDisruptionBudget", "egress-disruption-budget", put("spec.maxUnavailable", pods)
    )


def spread(**more: Any) -> Change:
    """Tracking servers over zones."""
    of = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
    wanted = {**of, "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}}, **more}
    return edit(DEPLOYMENT, "mlflow-deployment", put("spec.template.spec.topologySpreadConstraints", [wanted]))


def run_as(account: str) -> Callable[[dict[str, Any]], None]:
    """Another account of a runtime's pods; `DROP` would leave that to its jobs."""
    return put(f"{MOUNTS}.serviceAccountName", account)


REFUSED: Final = (
    m("success-of-an-index", "a job without indexes succeeds by one",
      edit(JOB, "smoke-train-spot-job", put("spec.completionMode", "NonIndexed")), "k8s-job", AWS),
    m("starts-twice", "a startup probe wants two successes",
      edit(DEPLOYMENT, "mlflow-deployment", put(f"{CONTAINER}.startupProbe.successThreshold", 2)), "k8s-probe"),
    m("one-pod-and-many", "a volume for one pod and for many",
      edit(VOLUME, "volumes-vision-checkpoints-volume",
           put("spec.accessModes", ["ReadWriteMany", "ReadWriteOncePod"])), "k8s-access-mode"),
    m("except-elsewhere", "a policy excepts addresses that its block has not",
      edit(POLICY, "egress-allow-platform", put("spec.egress[1].to[0].ipBlock.cidr", "199.36.153.0/24")), "k8s-cidr"),
    m("lends-what-it-has-not", "a queue lends more than it has",
      edit(QUEUE, "kueue-cluster-queue-vision", put(f"{FIRST}.flavors[1].resources[0].lendingLimit", "4")),
      "kueue-quota"),
    m("45gi", "Prometheus keeps 45Gi, which it writes 45GiB",
      chart(f"{PROMETHEUS}.retentionSize", "45Gi"), "charts-choice", LARGE_AWS),
    m("claims-of-a-priority", "a quota of a priority class counts claims",
      edit("kubernetes:core/v1:ResourceQuota", "teams-foundation-cpu-only",
           put("spec.hard.persistentvolumeclaims", "10")), "k8s-quota-scope", LARGE_AWS),
    m("no-such-zone", "a cron job runs by a time zone that there is not",
      edit(CRON, "checkpoint-drill-job", put("spec.timeZone", "Asia/Abu_Dhabi")), "reference-time-zone", UAE),
    m("variable-of-nobody", "a guard reads a variable that it has not",
      edit(GUARD, "kueue-end-guard", swap("spec", "<= 600", "<= variables.longest")), "reference-variable"),
    m("deny-and-warn", "a guard denies and warns",
      edit(f"{GUARD}Binding", "kueue-end-guard-binding", put("spec.validationActions", ["Deny", "Warn"])),
      "k8s-validation-actions", AWS),
    m("torch-and-mpi", "a runtime is of torch and of MPI",
      edit(RUNTIME, "runtimes-torch", put("spec.mlPolicy.mpi", {"numProcPerNode": 8})), "reference-runtime-policy"),
    m("covered-and-not-there", "a queue covers CPUs, of which its flavors have no quota",
      edit(QUEUE, "kueue-cluster-queue-foundation", put(f"{FIRST}.coveredResources", ["nvidia.com/gpu", "cpu"])),
      "kueue-covered", LARGE_AWS),
    m("borrows-and-never-reclaims", "a queue preempts to borrow and never to reclaim",
      edit(QUEUE, "kueue-cluster-queue-vision", put("spec.preemption", {
          "reclaimWithinCohort": "Never",
          "borrowWithinCohort": {"policy": "LowerPriority"},
          "withinClusterQueue": "LowerPriority",
      })), "kueue-preemption"),
    m("recreated-by-rolling", "pods are recreated and keep the numbers of a rolling update",
      edit(DEPLOYMENT, "egress-deployment", put("spec.strategy.type", "Recreate")), "k8s-rollout", EU),
    m("gpus-without-limit", "GPUs are requested and not limited",
      edit(JOB, "smoke-tune-spot-job", put(f"{CONTAINER}.resources.limits.nvidia~com/gpu", DROP)), "k8s-resources"),
    m("headless-balancer", "a headless service wants a load balancer",
      edit(SERVICE, "smoke-train-spot-ranks", put("spec.type", "LoadBalancer")), "k8s-service", LARGE_AWS),
    m("policy-and-restart", "a job has a policy of failures and restarts its containers",
      edit(JOB, "smoke-dev-on-demand-job", put("spec.template.spec.restartPolicy", "OnFailure")), "k8s-job"),
    m("code-zero", "a policy of failures names the exit code 0",
      edit(JOB, "smoke-train-spot-job", put("spec.podFailurePolicy.rules[1].onExitCodes.values", [0, 75])),
      "k8s-job", UAE),
    m("long-port", "a port's name of 21 letters",
      edit(DEPLOYMENT, "mlflow-deployment", put(f"{CONTAINER}.ports[0].name", "https-tracking-server")),
      "k8s-port-name", AWS),
    # In corners that were left out at first.
    m("restrict", "a namespace enforces a level of another name",
      edit("kubernetes:core/v1:Namespace", "teams-vision-namespace",
           put("metadata.labels.pod-security~kubernetes~io/enforce", "restrict")), "k8s-pod-security"),
    m("fifty-of-text", "a budget of disruptions of 50, as a text without %", budget_of("50"), "k8s-percentage", EU),
    m("sleeps-past-the-end", "a container sleeps longer than its pod has to end",
      edit(DEPLOYMENT, "mlflow-deployment", put(f"{CONTAINER}.lifecycle.preStop.sleep.seconds", 90)), "k8s-lifecycle"),
    m("admin-of-the-system", "a container that must not escalate adds SYS_ADMIN",
      edit(DEPLOYMENT, "egress-deployment", put(f"{CONTAINER}.securityContext.capabilities.add", ["SYS_ADMIN"])),
      "reference-pod-security"),
    m("fewest-domains", "pods are spread over two zones at least, where that can be",
      spread(minDomains=2), "k8s-spread", AWS),
    m("seconds-of-no-affinity", "a service keeps clients for ten minutes, and keeps none",
      edit(SERVICE, "mlflow-service", put("spec.sessionAffinityConfig", {"clientIP": {"timeoutSeconds": 600}})),
      "k8s-service", LARGE_AWS),
    m("two-ports-unnamed", "a service has two ports without names",
      edit(SERVICE, "monitoring-alert-log",
           put("spec.ports", [{"port": 8080, "targetPort": 8080}, {"port": 8081, "targetPort": 8080}])),
      "k8s-port-name", EU),
    m("grace-of-readiness", "a probe of readiness has a grace of its own",
      edit(DEPLOYMENT, "mlflow-deployment", put(f"{CONTAINER}.readinessProbe.terminationGracePeriodSeconds", 30)),
      "k8s-probe", UAE),
    m("index-3-of-2", "a job of two indexes succeeds by the fourth",
      edit(JOB, "smoke-train-spot-job", put("spec.successPolicy.rules[0].succeededIndexes", "0-3")), "k8s-job"),
    m("zone-in-schedule", "a schedule has its time zone in itself",
      edit(CRON, "checkpoint-drill-job", put("spec.schedule", "CRON_TZ=Europe/Berlin 0 3 * * 1")),
      "k8s-schedule", AWS),
    m("default-below-request", "the limit of those that say nothing is below their request",
      edit("kubernetes:core/v1:LimitRange", "teams-vision-defaults",
           put("spec.limits[0].default", {"cpu": "1", "memory": "2Gi"})), "k8s-limit-range"),
    m("end-of-a-name", "a policy goes from a port by its name to one by its number",
      edit(POLICY, "mlflow-server-ingress",
           put("spec.ingress[0].ports[0]", {"port": "https", "endPort": 5010, "protocol": "TCP"})), "k8s-port", LARGE),
    m("paths-in-a-role", "a role of a namespace speaks of paths of the API server",
      edit("kubernetes:rbac.authorization.k8s.io/v1:Role", "teams-vision-member",
           lambda inputs: inputs["rules"].append({"nonResourceURLs": ["/metrics"], "verbs": ["get"]})), "k8s-role"),
    m("account-of-a-group", "a service account gets the group of people",
      edit("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", "kueue-budgets-binding-vision",
           put("subjects[0].apiGroup", "rbac.authorization.k8s.io")), "k8s-subject"),
    m("all-and-one", "a guard is asked about everything and about one thing",
      edit(GUARD, "kueue-end-guard", put("spec.matchConstraints.resourceRules[0].operations", ["*", "DELETE"])),
      "k8s-admission"),
    m("word-of-v1beta1", "a queue has a word that its version no longer has",
      edit(QUEUE, "kueue-cluster-queue-vision", put("spec.flavorFungibility.whenCanBorrow", "Borrow")),
      "k8s-enum", AWS),
    m("for-45", "an alert waits for 45, without a unit", idle("for", "45"), "k8s-pattern"),
    m("every-60", "a monitor asks every 60, without a unit",
      edit("kubernetes:monitoring.coreos.com/v1:ServiceMonitor", "monitoring-queues",
           put("spec.endpoints[0].interval", "60")), "k8s-pattern", EU),
    m("level-warning", "Prometheus logs at a level that it calls otherwise",
      chart(f"{PROMETHEUS}.logLevel", "warning"), "charts-choice"),
    m("one-claim", "a namespace may have fewer claims than it has",
      edit("kubernetes:core/v1:ResourceQuota", "teams-vision-quota", put("spec.hard.persistentvolumeclaims", "1")),
      "reference-quota"),
)  # fmt: skip

SILENT: Final = (
    m("rare-signs-of-life", "signs of life come more rarely than silence is told",
      chart("values.alertmanager.config.route.routes[0].repeat_interval", "30m"), "programs-watchdog"),
    m("folder-by-another-name", "a team's volume is of a folder that nobody has a right to",
      edit(VOLUME, "volumes-vision-checkpoints-volume", swap("spec", "only-dir=teams/vision", "only-dir=vision")),
      "rights-volume"),
    m("monitors-of-the-release", "Prometheus takes monitors of its release alone",
      chart(f"{PROMETHEUS}.serviceMonitorSelectorNilUsesHelmValues", True), "reference-monitor-unread", EU),
    m("queue-of-no-namespace", "a queue admits a namespace that there is not",
      edit(QUEUE, "kueue-cluster-queue-imaging",
           put("spec.namespaceSelector", {"matchLabels": {"kubernetes.io/metadata.name": "imaging"}})),
      "queues-namespace", UAE),
    m("policy-of-443", "a policy lets in on the port that a browser would take",
      edit(POLICY, "mlflow-server-ingress", put("spec.ingress[0].ports[0].port", 443)), "flows-let-out", LARGE_AWS),
    m("capacity-is-checked", "nodes that wait in Google's queue are asked for by a check of capacity",
      edit("kubernetes:kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig", "kueue-provisioning-train-flex-start",
           put("spec.provisioningClassName", "check-capacity.autoscaling.x-k8s.io")), "queues-provisioning", LARGE),
    m("keeper-updates", "the budget keeper may update queues, and patches them",
      edit("kubernetes:rbac.authorization.k8s.io/v1:Role", "kueue-budgets-role-vision",
           put("rules[0].verbs", ["get", "update"])), "rights-program-lacks", AWS),
    m("pager-of-nobody", "critical alerts go to a receiver that is not defined",
      chart("values.alertmanager.config.route.routes[2].receiver", "pager"), "reference-alert-route"),
    m("figures-of-workloads", "kube-state-metrics tells of workloads and may not list them",
      edit(RELEASE, "monitoring-release", _without_kueue), "reference-state-metrics", LARGE_AWS),
    m("claim-of-2ti", "a claim asks for more than its volume has",
      edit(CLAIM, "volumes-vision-data-claim", put("spec.resources.requests.storage", "2Ti")), "reference-claim"),
    m("dashboards-by-another-label", "Grafana looks for dashboards by a label that none has",
      chart("values.grafana.sidecar.dashboards.label", "dashboard"), "reference-sidecar", EU),
    m("ranks-of-another-name", "the service of a job's ranks is called otherwise than the job says",
      edit(SERVICE, "smoke-train-spot-ranks", put("metadata.name", "smoke-train-spot")), "reference-subdomain"),
    m("disk-below-retention", "Prometheus has a smaller disk than it keeps", chart(DISK, "30Gi"), "programs-retention"),
    m("jobs-as-default", "jobs run as an account that has no right to the volumes that they mount",
      edit(RUNTIME, "runtimes-torch", run_as("default")), "rights-volume"),
    m("strategies-turned-round", "Kueue's strategies of fair sharing are in an order that it refuses",
      configured("  - LessThanOrEqualToFinalShare\n",
                 "  - LessThanInitialShare\n  - LessThanOrEqualToFinalShare\n"), "kueue-configuration"),
    m("trainjobs-left-out", "Kueue is not told of TrainJobs",
      configured("  - trainer.kubeflow.org/trainjob\n", ""), "queues-framework", UAE),
    m("proxy-on-8888", "the proxy listens on another port than it is asked on",
      edit(MAP, "egress-configuration", swap("data", "http_port 3128", "http_port 8888")), "programs-port"),
    m("log-of-alerts-on-80", "alerts are posted to a port that their log's service no longer has",
      edit(SERVICE, "monitoring-alert-log", put("spec.ports[0].port", 80)), "reference-address", EU),
    m("drill-in-no-queue", "a drill names a queue that its team has not",
      edit(CRON, "checkpoint-drill-job",
           put("spec.jobTemplate.metadata.labels.kueue~x-k8s~io/queue-name", "nightly")),
      "queues-no-local-queue", LARGE),
    # In corners that were left out at first.
    m("memory-in-small-letters", "shared memory is of a medium that no node knows",
      edit(JOB, "smoke-train-spot-job", put("spec.template.spec.volumes[1].emptyDir.medium", "memory")), "k8s-volume"),
    m("five-minutes-of-45", "a job ends before its program has",
      edit(JOB, "smoke-train-spot-job", put("spec.activeDeadlineSeconds", 300)), "programs-deadline"),
    m("authority-renamed", "the file of the database's authority is called otherwise than it is asked for",
      edit(MAP, "mlflow-runtime", lambda inputs: inputs["data"].update({"db.pem": inputs["data"].pop("ca.pem")})),
      "reference-file", EU),
    m("files-of-root", "a team's files are root's alone, and its jobs run as somebody else",
      owned("uid=0", "gid=0", "file-mode=600", "dir-mode=700"), "programs-mount-owner"),
    m("utilization-spelled-out", "an alert asks for a figure by a word that is spelled out",
      idle("expr", "DCGM_FI_DEV_GPU_UTILIZATION == 0"), "watching-metric"),
    m("thirty-of-what", "Kueue waits for 30, without a unit",
      configured("  timeout: 30m\n", "  timeout: 30\n"), "kueue-configuration", LARGE),
    m("other-slice", "a runtime asks for slices of another topology",
      edit(RUNTIME, "runtimes-tpu-v6e", swap("spec", "4x4", "2x4")), "placement-no-node", LARGE),
    m("checkpoints-among-data", "a team is told of a bucket that there is not",
      edit(MAP, "teams-imaging-storage", swap("data", "checkpoints", "data")), "programs-bucket", EU),
    m("parts-of-gpus", "a quota of GPUs in thousandths", first_quota("64m"), "kueue-quota", LARGE),
)  # fmt: skip

HEALTHY: Final = (
    m("spread-over-zones", "tracking servers are spread over zones where that can be", spread(), stack=AWS),
    m("from-port-to-port", "a policy of a range of ports",
      edit(POLICY, "mlflow-server-ingress",
           put("spec.ingress[1].ports", [{"port": 9100, "endPort": 9110, "protocol": "TCP"}])), stack=LARGE_AWS),
    m("forty-gigabytes", "Prometheus keeps 40 GB", chart(f"{PROMETHEUS}.retentionSize", "40GB"), stack=UAE),
    m("other-codes", "other exit codes that are no failure",
      edit(JOB, "smoke-train-spot-job", put("spec.podFailurePolicy.rules[1].onExitCodes.values", [75, 143])),
      stack=UAE),
    m("recreated", "pods are recreated",
      edit(DEPLOYMENT, "egress-deployment", put("spec.strategy", {"type": "Recreate"})), stack=EU),
    m("deny-and-audit", "a guard denies and notes it",
      edit(f"{GUARD}Binding", "kueue-end-guard-binding", put("spec.validationActions", ["Deny", "Audit"])), stack=AWS),
    m("larger-disk", "Prometheus keeps more on a larger disk",
      edit(RELEASE, "monitoring-release", put(DISK, "120Gi"), put(f"{PROMETHEUS}.retentionSize", "100GiB")),
      stack=LARGE_AWS),
    m("half-of-them", "half of the proxy's pods may be away", budget_of("50%"), stack=EU),
    m("sticky", "a service that keeps clients for ten minutes",
      edit(SERVICE, "mlflow-service", put("spec.sessionAffinity", "ClientIP"),
           put("spec.sessionAffinityConfig", {"clientIP": {"timeoutSeconds": 600}})), stack=LARGE_AWS),
    m("files-of-the-group", "a team's files are those of its jobs' user and group",
      owned("uid=10001", "gid=10001", "file-mode=660"), stack=DEMO),
    m("limit-of-memory", "a limit of memory for those that say nothing",
      edit("kubernetes:core/v1:LimitRange", "teams-vision-defaults",
           put("spec.limits[0].default", {"memory": "8Gi"})), stack=DEMO),
    m("account-by-the-job", "a runtime that leaves the account to its jobs",
      edit(RUNTIME, "runtimes-torch", put(f"{MOUNTS}.serviceAccountName", DROP)), stack=DEMO),
)  # fmt: skip
