"""Seventy-five mistakes within the cluster, over all components, written before any rule was looked at.

Each is what somebody tired does: a key renamed on one side, a unit mistaken, a reference to a neighbour's object.
`rule` is what tells it now; where it is None, `why` says why nothing can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, edit, put
from trainyard.recorded.model import Secret

RELEASE = "kubernetes:helm.sh/v3:Release"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
DAEMONS = "kubernetes:apps/v1:DaemonSet"
CRON_JOB = "kubernetes:batch/v1:CronJob"
JOB = "kubernetes:batch/v1:Job"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SECRET = "kubernetes:core/v1:Secret"
VOLUME = "kubernetes:core/v1:PersistentVolume"
QUOTA = "kubernetes:core/v1:ResourceQuota"
LIMITS = "kubernetes:core/v1:LimitRange"
RULES = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
POD_MONITOR = "kubernetes:monitoring.coreos.com/v1:PodMonitor"
SERVICE_MONITOR = "kubernetes:monitoring.coreos.com/v1:ServiceMonitor"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
FLAVOR = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
CLUSTER_QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
LOCAL_QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue"
PROVISIONING = "kubernetes:kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig"
PRIORITY = "kubernetes:kueue.x-k8s.io/v1beta2:WorkloadPriorityClass"
BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
ADMISSION = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
CLUSTER_ROLE = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
DISRUPTION = "kubernetes:policy/v1:PodDisruptionBudget"
WALL = "kubernetes:networking.k8s.io/v1:NetworkPolicy"

POD = "spec.template.spec"
FIRST = f"{POD}.containers[0]"
STACK, QUEUES, SERVER = "monitoring-release", "kueue-release", "mlflow-deployment"
NOTEBOOKS = "demo-notebooks"

Into = Callable[[dict[str, Any]], Any]


def said(path: str, old: str, new: str) -> Into:
    """Replaces a part of every text at a path and below it; what is secret stays so."""

    def other(value: Any) -> Any:
        if isinstance(value, Secret):
            return Secret(other(value.value))
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, dict):
            return {key: other(part) for key, part in value.items()}
        return [other(part) for part in value] if isinstance(value, list) else value

    def into(inputs: dict[str, Any]) -> None:
        target: Any = inputs
        way = path.split("/")
        for part in way[:-1]:
            target = target[int(part)] if part.isdigit() else target[part]
        last: Any = int(way[-1]) if way[-1].isdigit() else way[-1]
        changed = other(target[last])
        assert changed != target[last], (path, old)
        target[last] = changed

    return into


def renamed(path: str, old: str, new: str) -> Into:
    """Calls a key of a mapping otherwise, secret or not."""

    def into(inputs: dict[str, Any]) -> None:
        held = inputs[path]
        known = held.value if isinstance(held, Secret) else held
        changed = {new if key == old else key: value for key, value in known.items()}
        assert changed != known, old
        inputs[path] = Secret(changed) if isinstance(held, Secret) else changed

    return into


def rule_of(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The alert or the recording of a name."""

    def found(inputs: dict[str, Any]) -> dict[str, Any]:
        every = [rule for group in inputs["spec"]["groups"] for rule in group["rules"]]
        return next(rule for rule in every if name in (rule.get("alert"), rule.get("record")))

    return found


def expression(name: str, old: str, new: str) -> Into:
    """Replaces a part of what an alert or a recording asks."""

    def into(inputs: dict[str, Any]) -> None:
        rule = rule_of(name)(inputs)
        assert old in rule["expr"], rule["expr"]
        rule["expr"] = rule["expr"].replace(old, new)

    return into


def container(name: str, change: Callable[[dict[str, Any]], Any]) -> Into:
    """Changes a container of a deployment's pods, by its name."""

    def into(inputs: dict[str, Any]) -> None:
        spec = inputs["spec"]["template"]["spec"]
        change(next(one for one in (*spec["containers"], *spec.get("initContainers", ())) if one["name"] == name))

    return into


def env(name: str, value: str) -> Callable[[dict[str, Any]], None]:
    """Gives a variable of a container another value."""

    def change(one: dict[str, Any]) -> None:
        next(each for each in one["env"] if each["name"] == name)["value"] = value

    return change


def values(name: str, path: str, value: Any) -> Change:
    """Changes one of a chart's values."""
    return edit(RELEASE, name, put(f"values.{path}", value))


def volume(name: str, change: Callable[[dict[str, Any]], Any]) -> Into:
    """Changes a volume of a deployment's pods."""

    def into(inputs: dict[str, Any]) -> None:
        change(next(one for one in inputs["spec"]["template"]["spec"]["volumes"] if one["name"] == name))

    return into


def runtime(change: Callable[[dict[str, Any]], Any]) -> Into:
    """Changes the pods of a training runtime's first job."""

    def into(inputs: dict[str, Any]) -> None:
        change(inputs["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"])

    return into


def no_shared_memory(spec: dict[str, Any]) -> None:
    """Takes the volume of a runtime's shared memory, and its mount."""
    spec["volumes"] = [one for one in spec["volumes"] if one["name"] != "shared-memory"]
    first = spec["containers"][0]
    first["volumeMounts"] = [one for one in first["volumeMounts"] if one["name"] != "shared-memory"]


CONFIGURATION = "values/managerConfig/controllerManagerConfigYaml"
TRAIN = "runtimes-torch-train"

MISTAKES = [
    # Monitoring
    Mistake(
        "dashboard-label",
        "Grafana's sidecar looks for another value of the label than the dashboards have",
        values(STACK, "grafana.sidecar.dashboards.labelValue", "true"),
        "reference-sidecar",
    ),
    Mistake(
        "dashboard-namespace",
        "the sidecar looks for dashboards in a namespace that has none",
        values(STACK, "grafana.sidecar.dashboards.searchNamespace", "grafana"),
        "reference-sidecar",
    ),
    Mistake(
        "grafana-key",
        "Grafana reads its password by a key that the Secret has not",
        values(STACK, "grafana.admin.passwordKey", "admin-password"),
        "reference-key",
    ),
    Mistake(
        "rules-by-release",
        "Prometheus takes only rules of its own release, and ours have no such label",
        values(STACK, "prometheus.prometheusSpec.ruleSelectorNilUsesHelmValues", True),
        "reference-monitor-unread",
    ),
    Mistake(
        "route-of-nobody",
        "the fast route is for a severity that no alert has",
        values(STACK, "alertmanager.config.route.routes[2].matchers", ['severity="page"']),
        "watching-route",
    ),
    Mistake(
        "node-labels",
        "kube-state-metrics tells no labels of nodes any more",
        values(STACK, "kube-state-metrics.metricLabelsAllowlist", ["namespaces=[ml.platform/team]"]),
        "watching-label",
    ),
    Mistake(
        "no-cron-jobs",
        "kube-state-metrics does not look at CronJobs, whose figures alerts ask for",
        edit(RELEASE, STACK, lambda i: i["values"]["kube-state-metrics"]["collectors"].remove("cronjobs")),
        "watching-metric",
    ),
    Mistake(
        "prefix",
        "figures of workloads get another prefix than the rules ask for",
        values(STACK, "kube-state-metrics.customResourceState.config.spec.resources[0].metricNamePrefix", "kueue_cr"),
        "watching-metric",
    ),
    Mistake(
        "retention-minutes",
        "figures are kept for 45 minutes, and the rules look back a month",
        values(STACK, "prometheus.prometheusSpec.retention", "45m"),
        "policy:figures-shorter-than-a-month",
    ),
    Mistake(
        "retention-size",
        "figures may grow to ten times the disk",
        values(STACK, "prometheus.prometheusSpec.retentionSize", "450GB"),
        "programs-retention",
    ),
    Mistake(
        "external-label",
        "alerts carry the cluster under another label than the message shows",
        values(STACK, "prometheus.prometheusSpec.externalLabels", {"cluster_name": "acme-demo"}),
        "watching-route",
    ),
    Mistake(
        "scrape-minutes",
        "figures come twice an hour, and rules ask for rates of ten minutes",
        values(STACK, "prometheus.prometheusSpec.scrapeInterval", "30m"),
        "watching-interval",
    ),
    Mistake(
        "monitor-port",
        "the monitor of the tracking server asks at a port that its pods do not name",
        edit(POD_MONITOR, "monitoring-tracking", put("spec.podMetricsEndpoints[0].port", "http-metrics")),
        "reference-port",
    ),
    Mistake(
        "monitor-path",
        "Kueue's figures are asked for at a path that it does not serve",
        edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].path", "/metric")),
        "reference-monitor-path",
    ),
    Mistake(
        "condition-status",
        "an alert asks for a status as Kubernetes writes it, which the metric has in lower case",
        edit(RULES, "monitoring-rules", expression("GpuNodeUnhealthy", 'status="false"', 'status="False"')),
        "watching-label",
    ),
    Mistake(
        "condition-type",
        "the alert on waiting asks for a condition that no workload has",
        edit(RULES, "monitoring-rules", expression("QueueWaiting", "QuotaReserved", "QuotaReservation")),
        "watching-label",
    ),
    Mistake(
        "panel-label",
        "a panel sums by a label that the recording has not",
        edit(
            CONFIG_MAP,
            "monitoring-trainyard-pools",
            said("data", "sum by (flavor) (trainyard:gpus_held)", "sum by (flavour) (trainyard:gpus_held)"),
        ),
        "watching-label",
    ),
    Mistake(
        "panel-source",
        "the panels ask a data source that Grafana has not",
        edit(CONFIG_MAP, "monitoring-trainyard-pools", said("data", '"uid": "prometheus"', '"uid": "thanos"')),
        "watching-source",
    ),
    Mistake(
        "node-exporter-place",
        "node-exporter goes to a namespace that takes no pods with the host's network",
        values(STACK, "prometheus-node-exporter.namespaceOverride", DROP),
        "reference-pod-security",
    ),
    # Kueue
    Mistake(
        "managed-namespaces",
        "Kueue manages the namespaces with a label that none has",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "ml.platform/team", "ml.platform/group")),
        "queues-unmanaged",
    ),
    Mistake(
        "framework",
        "Kueue does not look at TrainJobs any more",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "\n  - trainer.kubeflow.org/trainjob", "")),
        "queues-framework",
    ),
    Mistake(
        "excluded",
        "Kueue counts adapters, which no queue covers",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "\n  - vpc.amazonaws.com/", "")),
        "queues-never-admitted",
    ),
    Mistake(
        "ready-seconds",
        "pods have thirty seconds to be ready, and nodes start from zero",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "timeout: 30m", "timeout: 30s")),
        "queues-pods-ready",
    ),
    Mistake(
        "configuration-key",
        "Kueue's configuration is under a key that its chart does not read",
        edit(
            RELEASE,
            QUEUES,
            lambda i: i["values"]["managerConfig"].update(
                controllerManagerConfig=i["values"]["managerConfig"].pop("controllerManagerConfigYaml")
            ),
        ),
        "queues-never-admitted",
    ),
    Mistake(
        "queue-namespaces",
        "a team's queue admits a namespace label that no namespace has",
        edit(
            CLUSTER_QUEUE,
            "kueue-cluster-queue-vision",
            put("spec.namespaceSelector.matchLabels.ml~platform/team", "visions"),
        ),
        "queues-namespace",
    ),
    Mistake(
        "priorities",
        "experiments go before production",
        edit(PRIORITY, "kueue-priority-development", put("value", 5000)),
        "policy:production-does-not-outrank-development",
    ),
    Mistake(
        "held",
        "a team's queue is held for good",
        edit(LOCAL_QUEUE, "kueue-local-queue-vision-default", put("spec.stopPolicy", "Hold")),
        "programs-switched-off",
    ),
    Mistake(
        "flavor-labels",
        "a flavor's nodes have a label value that none has",
        edit(FLAVOR, "kueue-flavor-train-on-demand", put("spec.nodeLabels.ml~platform/capacity", "ondemand")),
        "placement-no-node",
    ),
    Mistake(
        "flavor-toleration",
        "a flavor tolerates spot nodes with another effect than their taint's",
        edit(FLAVOR, "kueue-flavor-train-spot", put("spec.tolerations[1].effect", "NoExecute")),
        "placement-no-node",
    ),
    Mistake(
        "provisioned",
        "flex-start manages a resource that no pod asks for",
        edit(PROVISIONING, "kueue-provisioning-train-flex-start", put("spec.managedResources", ["nvidia.com/gpus"])),
        "queues-provisioning",
        stack="large-gcp",
    ),
    Mistake(
        "run-hours",
        "nodes of flex-start may run for 72 seconds",
        edit(PROVISIONING, "kueue-provisioning-train-flex-start", put("spec.parameters.maxRunDurationSeconds", "72")),
        "queues-provisioning",
        stack="large-gcp",
    ),
    # Training
    Mistake(
        "shared-memory",
        "a runtime for eight GPUs has the 64 MiB of shared memory of a container",
        edit(RUNTIME, TRAIN, runtime(no_shared_memory)),
        "programs-shared-memory",
    ),
    Mistake(
        "runtime-label",
        "a runtime says no framework, by which the SDK finds it",
        edit(RUNTIME, TRAIN, put("metadata.labels", DROP)),
        "reference-framework",
    ),
    Mistake(
        "fail-container",
        "a runtime's failure rule is about a container that it has not",
        edit(
            RUNTIME,
            TRAIN,
            lambda i: i["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["podFailurePolicy"][
                "rules"
            ][1]["onExitCodes"].update(containerName="trainer"),
        ),
        "reference-container",
    ),
    Mistake(
        "provider",
        "a runtime asks libfabric for a provider that its adapters are not",
        edit(RUNTIME, TRAIN, runtime(lambda s: env("FI_PROVIDER", "verbs")(s["containers"][0]))),
        "programs-interface",
    ),
    Mistake(
        "proxy-port",
        "a runtime's way out is a port at which the proxy does not listen",
        edit(
            RUNTIME,
            TRAIN,
            runtime(
                lambda s: env("HTTPS_PROXY", "http://egress-proxy.egress-proxy.svc.cluster.local:8080")(
                    s["containers"][0]
                )
            ),
        ),
        "programs-proxy",
    ),
    Mistake(
        "no-proxy",
        "teams' programs ask the tracking server by way of the proxy, which refuses addresses within",
        edit(CONFIG_MAP, "egress-clients-vision", said("data", ".svc,.svc.cluster.local,", "")),
        "programs-proxy",
    ),
    Mistake(
        "leaders",
        "two managers of the trainer work at once, because none is elected",
        values("runtimes-trainer", "manager.config.leaderElection.leaderElect", False),
        "charts-leader",
    ),
    # Nodes' drivers and scaling
    Mistake(
        "plugin-pools",
        "the device plugin runs on two of three pools",
        edit(RELEASE, "gpu-nvidia-device-plugin", said("values/affinity", "train", "training")),
        "placement-device-plugin",
    ),
    Mistake(
        "efa-types",
        "the EFA plugin runs on a type of machine that no pool has",
        values("gpu-aws-efa-k8s-device-plugin", "supportedInstanceLabels.values", ["p5.48xlarge"]),
        "placement-daemon-nowhere",
    ),
    Mistake(
        "dcgm-field",
        "the exporter is told a field that DCGM has not",
        edit(
            RELEASE,
            "gpu-dcgm-exporter",
            said("values/customMetrics", "DCGM_FI_DEV_GPU_TEMP,", "DCGM_FI_DEV_GPU_TEMPERATURE,"),
        ),
        "watching-metric",
    ),
    Mistake(
        "idle-time",
        "the autoscaler's time has no unit, and it does not start",
        values("autoscaler-release", "extraArgs.scale-down-unneeded-time", "10"),
        "charts-flag",
    ),
    Mistake(
        "expander",
        "the autoscaler is told an expander that it has not",
        values("autoscaler-release", "extraArgs.expander", "priorities"),
        "charts-flag",
    ),
    Mistake(
        "expander-names",
        "no group's name fits the autoscaler's priorities",
        edit(RELEASE, "autoscaler-release", said("values/expanderPriorities", "^eks-", "^ng-")),
        "programs-group",
    ),
    Mistake(
        "mounts-elsewhere",
        "the driver puts its pods into a namespace that nobody makes",
        values("drivers-s3", "mountpointPod.namespace", "s3-mounts"),
        "reference-missing",
    ),
    # Programs of ours
    Mistake(
        "users-folder",
        "the keeper of logins reads a folder that is not mounted",
        edit(DEPLOYMENT, SERVER, container("users", lambda c: c["args"].__setitem__(3, "/etc/mlflow/logins"))),
        "reference-file",
    ),
    Mistake(
        "projected-name",
        "the server's key is projected to another name than the server reads",
        edit(DEPLOYMENT, SERVER, volume("auth", lambda v: v["secret"]["items"][4].update(path="server.key"))),
        "reference-file",
    ),
    Mistake(
        "secret-key",
        "a key of the server's Secret is renamed",
        edit(SECRET, "mlflow-server", renamed("stringData", "flask-secret-key", "flask-secret")),
        "reference-key",
    ),
    Mistake(
        "metrics-port",
        "the program of the figures listens on another port than is named",
        edit(DEPLOYMENT, SERVER, container("metrics", lambda c: c["command"].__setitem__(2, "9120"))),
        "programs-port",
    ),
    Mistake(
        "alive-file",
        "a probe looks for a file that nobody writes",
        edit(
            DEPLOYMENT,
            SERVER,
            container("pgpass", lambda c: c["livenessProbe"]["exec"]["command"].__setitem__(3, "/run/pgpass/password")),
        ),
        "programs-probe-file",
    ),
    Mistake(
        "squid-list",
        "the proxy's configuration names a list that it does not define",
        edit(CONFIG_MAP, "egress-configuration", said("data", "deny !allowed", "deny !permitted")),
        "programs-squid",
    ),
    Mistake(
        "keeper-path",
        "a keeper's programs are not where Python looks for them",
        edit(DEPLOYMENT, "kueue-budgets-deployment", put(f"{FIRST}.volumeMounts[0].mountPath", "/programs/keeper")),
        "programs-module",
    ),
    Mistake(
        "keeper-metric",
        "the keeper of budgets asks for a figure that nobody records",
        edit(
            DEPLOYMENT,
            "kueue-budgets-deployment",
            said("spec/template/spec/containers/0/args", "trainyard_team_spent_usd", "trainyard_team_cost_usd"),
        ),
        "watching-metric",
    ),
    Mistake(
        "keeper-queue",
        "the keeper of budgets holds a queue that there is not",
        edit(
            DEPLOYMENT, "kueue-budgets-deployment", said("spec/template/spec/containers/0/args", '"smoke"', '"proof"')
        ),
        "programs-names",
    ),
    Mistake(
        "idle-minutes",
        "jobs are called idle after 45 seconds",
        edit(
            DEPLOYMENT,
            "kueue-idle-deployment",
            said("spec/template/spec/containers/0/args", '"idle_seconds": 2700', '"idle_seconds": 45'),
        ),
        "programs-window",
    ),
    Mistake(
        "check-module",
        "the check of checkpoints starts a module that its ConfigMap does not hold",
        edit(
            CRON_JOB,
            "checkpoint-check-vision-checkpoint-check",
            lambda i: i["spec"]["jobTemplate"]["spec"]["template"]["spec"]["volumes"][0]["configMap"]["items"][
                0
            ].update(path="look.py"),
        ),
        "programs-module",
    ),
    Mistake(
        "drill-prefix",
        "the drill writes below another team's folder",
        edit(
            CRON_JOB,
            "checkpoint-drill-job",
            lambda i: i["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"].__setitem__(
                4, "s3://acme-demo-checkpoints-e5013fb/teams/language/drill"
            ),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "log-files",
        "the collector reads files of namespaces that no team has",
        edit(CONFIG_MAP, "team-logs-configuration", said("data", "*_team-vision_*", "*_vision_*")),
        "programs-fluent-bit",
    ),
    Mistake(
        "certificate-path",
        "a team is told a certificate at a path that its Secret does not fill",
        edit(
            SECRET,
            "mlflow-credentials-vision",
            said("stringData", "/run/secrets/mlflow/ca.crt", "/run/secrets/mlflow/tls.crt"),
        ),
        "reference-file",
    ),
    Mistake(
        "smoke-credentials",
        "the smoke job looks for its login where nothing is mounted",
        edit(
            JOB,
            "smoke-train-reserved-job",
            lambda i: env("SMOKE_CREDENTIALS", "/run/secrets/tracking")(i["spec"]["template"]["spec"]["containers"][0]),
        ),
        "reference-file",
    ),
    Mistake(
        "volume-region",
        "a volume's driver asks another region than its bucket's",
        edit(VOLUME, "volumes-vision-data-volume", put("spec.mountOptions[0]", "region us-east-2")),
        "reference-bucket-region",
    ),
    Mistake(
        "limit-milli",
        "containers that say nothing get a thousandth of a core",
        edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].defaultRequest.cpu", "1m")),
        "reference-limit-range",
    ),
    Mistake(
        "cpu-quota-milli",
        "a team may have twenty thousandths of a core",
        edit(QUOTA, "teams-vision-cpu-only", put("spec.hard.requests~cpu", "20m")),
        "reference-quota",
    ),
    # Walls and rights
    Mistake(
        "members",
        "a team's members are a group that nobody is in",
        edit(ROLE_BINDING, "teams-vision-members", put("subjects[0].name", "vision-team")),
        "rights-team-lacks",
    ),
    Mistake(
        "keeper-flavors",
        "the keeper of flavors may not touch one of them",
        edit(CLUSTER_ROLE, "kueue-keeper-role", lambda i: i["rules"][0]["resourceNames"].remove("train-spot")),
        "rights-program-lacks",
    ),
    Mistake(
        "guard-audits",
        "the guard on GPU pods writes down and refuses nothing",
        edit(BINDING, "kueue-gpu-guard-binding", put("spec.validationActions", ["Audit"])),
        "programs-guard",
    ),
    Mistake(
        "guard-updates",
        "the guard on GPU pods is asked when pods change, and not when they are made",
        edit(ADMISSION, "kueue-gpu-guard", put("spec.matchConstraints.resourceRules[0].operations", ["UPDATE"])),
        "policy:gpus-past-the-queue",
    ),
    Mistake(
        "webhook-port",
        "the wall before Kueue lets the API server to a port at which no webhook listens",
        edit(WALL, "kueue-allow-platform", put("spec.ingress[0].ports[0].port", 9442)),
        "flows-webhooks",
    ),
    Mistake(
        "disruption",
        "no pod of the tracking server may ever be moved",
        edit(DISRUPTION, "mlflow-disruption-budget", put("spec.maxUnavailable", 0)),
        "placement-drain",
    ),
    # Notebooks and hours
    Mistake(
        "cull-minutes",
        "notebooks end after 45 seconds",
        values("notebooks-release", "cull.timeout", 45),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-secret",
        "the hub reads its client's secret by a key that the Secret has not",
        values("notebooks-release", "hub.extraEnv.OAUTH_CLIENT_SECRET.valueFrom.secretKeyRef.key", "secret"),
        "reference-key",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "notebook-pool",
        "a kind of notebook is for a pool that there is not",
        values(
            "notebooks-release",
            "singleuser.profileList[1].kubespawner_override.node_selector",
            {"ml.platform/pool": "tuning"},
        ),
        "placement-no-node",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "notebook-extension",
        "the server is told an extension whose file is called otherwise",
        values("notebooks-release", "singleuser.extraFiles.program.mountPath", "/etc/jupyter/trainyard/idle.py"),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hours-zone",
        "the night is by the clock of a place that there is not",
        edit(
            DEPLOYMENT,
            "kueue-off-peak-deployment",
            said("spec/template/spec/containers/0/args", "Europe/Berlin", "Europe/Bonn"),
        ),
        "programs-usage",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "night-queue",
        "the queue of the night may borrow nothing, and owns nothing",
        edit(
            CLUSTER_QUEUE,
            "kueue-cluster-queue-vision-off-peak",
            put("spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit", "0"),
        ),
        "queues-no-quota",
        stack=NOTEBOOKS,
    ),
]
