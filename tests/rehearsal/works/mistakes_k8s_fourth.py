"""A fourth set of mistakes within the cluster, written before any check was read, and measured at first sight.

A third is what the API server or a webhook refuses, the rest is taken and does not work. `rule` is what tells it now,
after `refusal:` where a cloud's or an API server's refusal does, after `policy:` where the pack does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import Mistake, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    CRON_JOB,
    DAEMONS,
    DEPLOYMENT,
    FIRST,
    JOB,
    LIMITS,
    LOCAL_QUEUE,
    POD,
    POD_MONITOR,
    QUEUES,
    QUOTA,
    RELEASE,
    RUNTIME,
    SECRET,
    SERVER,
    SERVICE_MONITOR,
    STACK,
    TRAIN,
    VOLUME,
    WALL,
    container,
    env,
    rule_of,
    runtime,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_second import CLASS

SERVICE = "kubernetes:core/v1:Service"
NAMESPACE = "kubernetes:core/v1:Namespace"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
DISRUPTION = "kubernetes:policy/v1:PodDisruptionBudget"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
SQUID, FLUENT = "data/squid.conf", "data/fluent-bit.conf"
LARGE = "large-aws"


def alert(name: str, **more: Any) -> Callable[[dict[str, Any]], None]:
    """Changes fields of an alert."""
    return lambda inputs: rule_of(name)(inputs).update(more)


def server_env(name: str, value: str) -> Callable[[dict[str, Any]], None]:
    """Gives a variable of the tracking server another value."""
    return container("server", env(name, value))


def in_server(**more: Any) -> Callable[[dict[str, Any]], None]:
    """Changes fields of the tracking server's container."""
    return container("server", lambda one: one.update(more))


def split_peers(inputs: dict[str, Any]) -> None:
    """Makes two peers of the one that names a namespace and pods in it."""
    for rule in inputs["spec"]["ingress"]:
        rule["from"] = [{key: value} for peer in rule["from"] for key, value in peer.items()]


def more_of(spec: dict[str, Any], name: str, value: str) -> None:
    """Adds a variable to a runtime's container."""
    spec["containers"][0]["env"].append({"name": name, "value": value})


MISTAKES = [
    # What is refused
    Mistake(
        "no-roll",
        "no pod may be added and none may be missing while the server is rolled",
        edit(DEPLOYMENT, SERVER, put("spec.strategy.rollingUpdate", {"maxSurge": 0, "maxUnavailable": 0})),
        "refusal:k8s-rollout",
    ),
    Mistake(
        "port-name",
        "a port is called in more than fifteen characters",
        edit(DEPLOYMENT, "egress-deployment", put(f"{FIRST}.ports[0].name", "egress-proxy-port")),
        "refusal:k8s-port-name",
    ),
    Mistake(
        "two-values",
        "a variable has a value and a reference",
        edit(
            DEPLOYMENT,
            "kueue-idle-deployment",
            put(f"{FIRST}.env[1].valueFrom", {"fieldRef": {"fieldPath": "metadata.namespace"}}),
        ),
        "refusal:k8s-env",
    ),
    Mistake(
        "liveness",
        "a liveness probe has to succeed twice",
        edit(DEPLOYMENT, "egress-deployment", put(f"{FIRST}.livenessProbe.successThreshold", 2)),
        "refusal:k8s-probe",
    ),
    Mistake(
        "restarts",
        "a job with rules about failures restarts its pods in place",
        edit(JOB, "smoke-train-spot-job", put(f"{POD}.restartPolicy", "OnFailure")),
        "refusal:k8s-job",
    ),
    Mistake(
        "indexes",
        "a job that succeeds by an index has none",
        edit(JOB, "smoke-train-spot-job", put("spec.completionMode", "NonIndexed")),
        "refusal:k8s-job",
    ),
    Mistake(
        "except",
        "a wall leaves out what it does not hold",
        edit(WALL, "kube-system-allow-cluster-autoscaler", put("spec.egress[0].to[0].ipBlock.cidr", "10.8.0.0/16")),
        "refusal:k8s-cidr",
    ),
    Mistake(
        "end-port",
        "a range of ports ends before it begins",
        edit(WALL, "teams-vision-allow-mlflow", put("spec.egress[0].ports[0].endPort", 4999)),
        "refusal:k8s-port",
    ),
    Mistake(
        "both-budgets",
        "a budget says how many may be missing and how many have to be there",
        edit(DISRUPTION, "mlflow-disruption-budget", put("spec.minAvailable", 1)),
        "refusal:k8s-disruption-budget",
    ),
    Mistake(
        "domains",
        "pods are to be spread over three nodes, or not",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.topologySpreadConstraints[0].minDomains", 3)),
        "refusal:k8s-spread",
    ),
    Mistake(
        "exists-value",
        "a toleration of whatever value names one",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.tolerations[0].operator", "Exists")),
        "refusal:k8s-toleration",
    ),
    Mistake(
        "tolerated-seconds",
        "a taint that hinders only new pods is tolerated for five minutes",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.tolerations[0].tolerationSeconds", 300)),
        "refusal:k8s-toleration",
    ),
    Mistake(
        "default-limit",
        "containers that say nothing may take less than they ask for",
        edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].default", {"memory": "2Gi"})),
        "refusal:k8s-limit-range",
    ),
    Mistake(
        "borrow-preempt",
        "a queue that reclaims nothing may preempt while it borrows",
        edit(
            CLUSTER_QUEUE,
            "kueue-cluster-queue-vision",
            put("spec.preemption.reclaimWithinCohort", "Never"),
            put("spec.preemption.borrowWithinCohort.policy", "LowerPriority"),
        ),
        "refusal:kueue-preemption",
    ),
    Mistake(
        "lending",
        "a queue lends more than it has",
        edit(
            CLUSTER_QUEUE,
            "kueue-cluster-queue-vision",
            put("spec.resourceGroups[0].flavors[3].resources[0].lendingLimit", 16),
        ),
        "refusal:kueue-quota",
    ),
    Mistake(
        "secret-type",
        "a login is of the type of a registry's",
        edit(SECRET, "mlflow-credentials-vision", put("type", "kubernetes.io/dockerconfigjson")),
        "refusal:k8s-secret",
    ),
    Mistake(
        "enforce",
        "a namespace enforces a level of pods that there is not",
        edit(
            NAMESPACE, "teams-vision-namespace", put("metadata.labels.pod-security~kubernetes~io/enforce", "restrict")
        ),
        "refusal:k8s-pod-security",
    ),
    Mistake(
        "zone-of-time",
        "a check goes by the clock of a place that there is not",
        edit(CRON_JOB, "checkpoint-drill-job", put("spec.timeZone", "Asia/Dubay")),
        "reference-time-zone",
    ),
    # What is taken and does not work
    Mistake(
        "create-named",
        "a keeper may write events of one name, which a creation has not yet",
        edit(ROLE, "kueue-budgets-role-vision", put("rules[1].resourceNames", ["budget"])),
        "reference-role-names",
    ),
    Mistake(
        "pool-of-connections",
        "the server's processes together hold more connections than the database has",
        edit(DEPLOYMENT, SERVER, server_env("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "80")),
        "programs-connections",
    ),
    Mistake(
        "buffer",
        "the collector holds more in memory than its container may",
        edit(CONFIG_MAP, "team-logs-configuration", said(FLUENT, "Mem_Buf_Limit 32MB", "Mem_Buf_Limit 512MB")),
        "programs-node-logs",
    ),
    Mistake(
        "tail-state",
        "the collector writes down how far it read where it may not write",
        edit(CONFIG_MAP, "team-logs-configuration", said(FLUENT, "/state/tail.db", "/var/log/tail.db")),
        "programs-node-logs",
    ),
    Mistake(
        "symlinks",
        "the collector sees the links to the files and not the files",
        edit(
            DAEMONS,
            "team-logs",
            put(f"{POD}.volumes[1].hostPath.path", "/var/log/containers"),
            put(f"{FIRST}.volumeMounts[1].mountPath", "/var/log/containers"),
        ),
        "programs-node-logs",
    ),
    Mistake(
        "collector-nodes",
        "the collector runs on the system's nodes alone",
        edit(DAEMONS, "team-logs", put(f"{POD}.tolerations", [{"key": "CriticalAddonsOnly", "operator": "Exists"}])),
        "placement-logs",
    ),
    Mistake(
        "collector-user",
        "the collector runs as somebody who may not read the nodes' logs",
        edit(DAEMONS, "team-logs", put(f"{FIRST}.securityContext.runAsUser", 10001)),
        "programs-node-logs",
    ),
    Mistake(
        "proxy-loopback",
        "the proxy listens to its own pod alone",
        edit(CONFIG_MAP, "egress-configuration", said(SQUID, "http_port 3128", "http_port 127.0.0.1:3128")),
        "programs-loopback",
    ),
    Mistake(
        "server-loopback",
        "the tracking server listens to its own pod alone",
        edit(DEPLOYMENT, SERVER, said("spec", "--host=0.0.0.0", "--host=127.0.0.1")),
        "programs-loopback",
    ),
    Mistake(
        "local-traffic",
        "the proxy answers pods of its own node alone",
        edit(SERVICE, "egress-service", put("spec.internalTrafficPolicy", "Local")),
        "programs-never",
    ),
    Mistake(
        "prometheus-memory",
        "Prometheus of three hundred nodes' worth of series has half a gibibyte",
        values(
            STACK,
            "prometheus.prometheusSpec.resources",
            {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "512Mi"}},
        ),
        "programs-prometheus-memory",
        stack=LARGE,
    ),
    Mistake(
        "watchdog",
        "the sign of life is told once a day, and its alarm waits minutes",
        values(STACK, "alertmanager.config.route.routes[0].repeat_interval", "24h"),
        "programs-watchdog",
    ),
    Mistake(
        "inhibit",
        "an alert is to silence another and is called otherwise",
        values(STACK, "alertmanager.config.inhibit_rules[0].source_matchers", ['alertname="GpusIdle"']),
        "watching-route",
    ),
    Mistake(
        "stale",
        "the GPUs are asked every ten minutes, and a figure counts for five",
        edit(POD_MONITOR, "monitoring-gpus", put("spec.podMetricsEndpoints[0].interval", "10m")),
        "programs-scrape",
    ),
    Mistake(
        "scrape-timeout",
        "a scrape may take longer than the time between two",
        edit(POD_MONITOR, "monitoring-gpus", put("spec.podMetricsEndpoints[0].scrapeTimeout", "45s")),
        "programs-scrape",
    ),
    Mistake(
        "scrape-scheme",
        "Kueue's figures are asked for without TLS",
        edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].scheme", "http")),
        "reference-monitor-path",
    ),
    Mistake(
        "within-queue",
        "jobs of production wait behind experiments of their own team",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-vision", put("spec.preemption.withinClusterQueue", "Never")),
        "policy:production-does-not-outrank-development",
    ),
    Mistake(
        "held-local",
        "a team's own queue is held",
        edit(LOCAL_QUEUE, "kueue-local-queue-vision-default", put("spec.stopPolicy", "Hold")),
        "refusal:kueue-stop-policy",
    ),
    Mistake(
        "max-cores",
        "no container may ask for more than sixteen cores",
        edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].max", {"cpu": "16"})),
        "reference-limit-range",
    ),
    Mistake(
        "limits-quota",
        "a team's pods have to say a limit of memory, and runtimes say none",
        edit(QUOTA, "teams-vision-quota", put("spec.hard.limits~memory", "2Ti")),
        "refusal:kueue-namespace-quota",
    ),
    Mistake(
        "claims-quota",
        "a team may claim a terabyte, and its claims are two",
        edit(QUOTA, "teams-vision-quota", put("spec.hard.requests~storage", "1Ti")),
        "reference-quota",
    ),
    Mistake(
        "large-claim",
        "a claim asks for more than its volume has",
        edit(CLAIM, "volumes-vision-data-claim", put("spec.resources.requests.storage", "2Ti")),
        "reference-claim",
    ),
    Mistake(
        "deleted-with",
        "a file system that all teams share is deleted with one team's claim",
        edit(VOLUME, "volumes-foundation-scratch-volume", put("spec.persistentVolumeReclaimPolicy", "Delete")),
        "programs-volume",
        stack=LARGE,
    ),
    Mistake(
        "mount-name",
        "the file system is mounted by another name than its own",
        edit(VOLUME, "volumes-foundation-scratch-volume", put("spec.csi.volumeAttributes.mountname", "fsx")),
        "reference-file-system",
        stack=LARGE,
    ),
    Mistake(
        "one-way",
        "a wall says where pods may go and stands for what comes in alone",
        edit(WALL, "kueue-allow-budget-keeper", put("spec.policyTypes", ["Ingress"])),
        "refusal:k8s-network-policy",
    ),
    Mistake(
        "or-peers",
        "a wall names a namespace or pods instead of those pods there",
        edit(WALL, "monitoring-allow-prometheus", split_peers),
        "flows-let-in",
    ),
    Mistake(
        "names-tcp",
        "teams may ask for names by TCP alone",
        edit(WALL, "teams-vision-allow-dns", put("spec.egress[0].ports", [{"protocol": "TCP", "port": 53}])),
        "flows-names",
    ),
    Mistake(
        "default-class",
        "the class of pods without GPUs is everybody's who says none",
        edit(PRIORITY_CLASS, "teams-cpu-only", put("globalDefault", True)),
        None,
        why="a default class with a ration of pods is usual, and which pods it is for is written nowhere",
    ),
    Mistake(
        "processes",
        "a runtime starts sixteen processes on eight GPUs",
        edit(RUNTIME, TRAIN, put("spec.mlPolicy.torch", {"numProcPerNode": 16})),
        "refusal:k8s-unknown-field",
    ),
    Mistake(
        "ancestor",
        "a runtime's job has another step than the trainer looks for",
        edit(
            RUNTIME,
            TRAIN,
            put(
                "spec.template.spec.replicatedJobs[0].template.metadata.labels",
                {"trainer.kubeflow.org/trainjob-ancestor-step": "training"},
            ),
        ),
        "reference-trainer-step",
    ),
    Mistake(
        "container-name",
        "a runtime's container is called otherwise than the trainer looks for",
        edit(RUNTIME, TRAIN, runtime(lambda spec: spec["containers"][0].update(name="worker"))),
        "reference-container",
    ),
    Mistake(
        "message",
        "a runtime's rule waits for words that Kubernetes does not say",
        edit(RUNTIME, TRAIN, said("spec", "failed with exit code (10|20) ", "exited with code (10|20)")),
        "reference-failure-message",
    ),
    Mistake(
        "interface",
        "NCCL is told the node's interface, which a pod has not",
        edit(RUNTIME, TRAIN, runtime(lambda spec: more_of(spec, "NCCL_SOCKET_IFNAME", "ens5"))),
        "programs-interface",
    ),
    Mistake(
        "never-pulled",
        "the server's image is never pulled, and no node has it",
        edit(DEPLOYMENT, SERVER, in_server(imagePullPolicy="Never")),
        "programs-never",
    ),
    Mistake(
        "image-tag",
        "the queue manager's image is of another version than its chart",
        values(QUEUES, "controllerManager.manager.image.tag", "v0.16.4"),
        "charts-image-version",
    ),
    Mistake(
        "cert-manager",
        "the queue manager's certificates are cert-manager's, which nobody installs",
        values(QUEUES, "enableCertManager", True),
        "reference-brought",
    ),
    Mistake(
        "gossip",
        "three Alertmanagers cannot reach each other, and each sends every alert",
        values(STACK, "alertmanager.alertmanagerSpec.replicas", 3),
        "flows-gossip",
    ),
    Mistake(
        "two-grafanas",
        "two Grafanas have a database each in their pod",
        values(STACK, "grafana.replicas", 2),
        "charts-own-state",
    ),
    Mistake(
        "no-default-class",
        "Grafana's disk is of the class that is the default, and none is",
        values(STACK, "grafana.persistence", {"enabled": True, "size": "10Gi"}),
        "reference-default-class",
    ),
    Mistake(
        "node-time",
        "the autoscaler gives a node two minutes, and a GPU's takes longer",
        values("autoscaler-release", "extraArgs.max-node-provision-time", "2m"),
        "programs-deadline",
    ),
    Mistake(
        "exporter-memory",
        "the exporter of eight GPUs has 48 mebibytes",
        values(
            "gpu-dcgm-exporter",
            "resources",
            {"requests": {"cpu": "100m", "memory": "48Mi"}, "limits": {"memory": "48Mi"}},
        ),
        "programs-memory",
    ),
    Mistake(
        "disk-speed",
        "a class of disks asks for fewer operations than the disk's least",
        edit(CLASS, "blocks-class", put("parameters.iops", "100")),
        "programs-storage-class",
    ),
    Mistake(
        "log-host",
        "alerts are told to a name that no Service has",
        edit(RELEASE, STACK, said("values", "alert-log.monitoring.svc", "alerts-log.monitoring.svc")),
        "reference-address",
        stack="demo-gcp",
    ),
]
