"""A seventh set of mistakes within the cluster, written when the sixth was mended, and measured at first sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Mistake, added, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    BINDING,
    CLUSTER_ROLE,
    CONFIG_MAP,
    CRON_JOB,
    DAEMONS,
    DEPLOYMENT,
    FIRST,
    JOB,
    LIMITS,
    NOTEBOOKS,
    PRIORITY,
    QUEUES,
    QUOTA,
    RELEASE,
    RUNTIME,
    SERVER,
    SERVICE_MONITOR,
    TRAIN,
    VOLUME,
    container,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import FLUENT
from tests.rehearsal.works.mistakes_k8s_second import CLASS
from tests.rehearsal.works.mistakes_k8s_sixth import GOOGLE, RULES, profile

CONFIGURATION = "values/managerConfig/controllerManagerConfigYaml"


def retold(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Gives a variable of a runtime's container another value."""

    def into(inputs: dict[str, Any]) -> None:
        pod = inputs["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        next(one for one in pod["containers"][0]["env"] if one["name"] == name)["value"] = value

    return into


REFUSED = [
    Mistake(
        "probe-grace",
        "a readiness probe says how long a pod has to end",
        edit(DEPLOYMENT, "kueue-idle-deployment", put(f"{FIRST}.readinessProbe.terminationGracePeriodSeconds", 30)),
        "refusal:k8s-probe",
    ),
    Mistake(
        "replacement",
        "a job with rules about failures replaces pods that are still ending",
        edit(JOB, "smoke-dev-on-demand-job", put("spec.podReplacementPolicy", "TerminatingOrFailed")),
        "refusal:k8s-job",
    ),
    Mistake(
        "failed-indexes",
        "a job may have two failed indexes, and counts failures as a whole",
        edit(JOB, "smoke-dev-on-demand-job", put("spec.maxFailedIndexes", 2)),
        "refusal:k8s-job",
    ),
    Mistake(
        "two-sources",
        "a volume is a bucket, and a folder of the node",
        edit(VOLUME, "volumes-vision-data-volume", put("spec.hostPath", {"path": "/mnt/data"})),
        "refusal:k8s-volume",
    ),
    Mistake(
        "host-port",
        "a pod in the node's network has another port on the node",
        edit(
            DAEMONS,
            "team-logs",
            put("spec.template.spec.hostNetwork", True),
            put(f"{FIRST}.ports", [{"name": "health", "containerPort": 2020, "hostPort": 2021}]),
        ),
        "refusal:k8s-port",
    ),
    Mistake(
        "processes-word",
        "a runtime starts as many processes as a word that the trainer does not know",
        edit(RUNTIME, "runtimes-torch", put("spec.mlPolicy.torch", {"numProcPerNode": "per-gpu"})),
        "refusal:k8s-unknown-field",
    ),
    Mistake(
        "for-minutes",
        "an alert waits for five minutes in words",
        edit(RULES, "monitoring-rules", lambda i: i["spec"]["groups"][-1]["rules"][0].update({"for": "5 minutes"})),
        "refusal:k8s-pattern",
    ),
    Mistake(
        "set-name",
        "a JobSet has a name so long that its pods' would be too long",
        added(
            "jobset.x-k8s.io/v1alpha2:JobSet",
            "hyperparameter-search-for-the-segmentation-model-of-november",
            {
                "spec": {
                    "replicatedJobs": [
                        {
                            "name": "workers",
                            "template": {
                                "spec": {
                                    "completions": 2,
                                    "parallelism": 2,
                                    "template": {
                                        "spec": {
                                            "restartPolicy": "Never",
                                            "containers": [{"name": "node", "image": "python:3.13"}],
                                        }
                                    },
                                }
                            },
                        }
                    ]
                }
            },
            "mlflow",
        ),
        "refusal:k8s-name",
    ),
    Mistake(
        "number",
        "a variable's value is a number",
        edit(RUNTIME, "runtimes-torch", retold("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", 100)),
        "refusal:k8s-type",
    ),
    Mistake(
        "sub-paths",
        "a mount has a path below the volume, and an expression of one",
        edit(
            DEPLOYMENT,
            "egress-deployment",
            put(f"{FIRST}.volumeMounts[0].subPathExpr", "$(POD_NAME)/squid.conf"),
        ),
        "refusal:k8s-volume-mount",
    ),
]

SILENT = [
    Mistake(
        "home",
        "a runtime's programs write to a home that is the image's, which nobody may write",
        edit(RUNTIME, "runtimes-torch", retold("HOME", "/root")),
        "programs-read-only",
    ),
    Mistake(
        "hub-dummy",
        "whoever names themselves gets a notebook",
        values("notebooks-release", "hub.config.JupyterHub.authenticator_class", "dummy"),
        "policy:notebooks-let-anybody-in",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-memory-limit",
        "a notebook may have less memory than it is guaranteed",
        profile(0, lambda one: one.update(mem_limit="4G")),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "stale-metadata",
        "what another node wrote to the checkpoints is never looked at again",
        edit(
            VOLUME,
            "volumes-vision-checkpoints-volume",
            said("spec/mountOptions", "metadata-cache:ttl-secs:0", "metadata-cache:ttl-secs:-1"),
        ),
        "programs-mount-option",
        stack="demo-gcp",
    ),
    Mistake(
        "no-accounts",
        "the server is not told who has an account",
        edit(
            DEPLOYMENT,
            SERVER,
            container(
                "server",
                lambda one: one.update(env=[each for each in one["env"] if each["name"] != "MLFLOW_AUTH_CONFIG_PATH"]),
            ),
        ),
        "policy:tracking-without-authentication",
    ),
    Mistake(
        "gpu-by-default",
        "every container that says nothing has a GPU",
        edit(
            LIMITS,
            "teams-vision-defaults",
            put("spec.limits[0].defaultRequest.nvidia~com/gpu", "1"),
            put("spec.limits[0].default", {"nvidia.com/gpu": "1"}),
        ),
        "reference-limits",
    ),
    Mistake(
        "aggregated",
        "the readers' rights are gathered from roles with a label that none has",
        edit(
            CLUSTER_ROLE,
            "teams-reader",
            put(
                "aggregationRule",
                {"clusterRoleSelectors": [{"matchLabels": {"rbac.ml.platform/aggregate-to-reader": "true"}}]},
            ),
        ),
        "reference-aggregation",
    ),
    Mistake(
        "no-bearer",
        "Kueue's figures are asked for by nobody in particular",
        edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].bearerTokenFile", DROP)),
        "reference-monitor-path",
    ),
    Mistake(
        "jobs-counted",
        "a team may have one job, and its checks and proofs are more",
        edit(QUOTA, "teams-vision-quota", put("spec.hard.count/jobs~batch", "1")),
        "reference-quota",
    ),
    Mistake(
        "never-down",
        "nodes that nobody uses are never ended",
        values("autoscaler-release", "extraArgs.scale-down-enabled", "false"),
        "policy:idle-gpus-keep-running",
    ),
    Mistake(
        "nodes-total",
        "all groups together may have three nodes",
        values("autoscaler-release", "extraArgs.max-nodes-total", "3"),
        "placement-autoscaler",
    ),
    Mistake(
        "hyperdisk",
        "disks are of a kind that the machines do not take",
        edit(CLASS, "disks-class", put("parameters.type", "hyperdisk-balanced")),
        "programs-storage-class",
        stack="demo-gcp",
    ),
    Mistake(
        "equal-priorities",
        "production is as urgent as everything else",
        edit(PRIORITY, "kueue-priority-production", put("value", 100)),
        "policy:production-does-not-outrank-development",
    ),
    Mistake(
        "guard-of-labelled",
        "a guard looks at jobs alone that ask to be looked at",
        edit(
            BINDING,
            "kueue-gpu-guard-binding",
            put("spec.matchResources.objectSelector", {"matchLabels": {"ml.platform/guarded": "true"}}),
        ),
        "policy:gpus-past-the-queue",
    ),
    Mistake(
        "every-minute",
        "the drill starts every minute of an hour",
        edit(CRON_JOB, "checkpoint-drill-job", put("spec.schedule", "* 4 * * 0")),
        "reference-schedule",
    ),
    Mistake(
        "one-at-a-time",
        "no job is admitted while another one's pods are not ready",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "blockAdmission: false", "blockAdmission: true")),
        "queues-pods-ready",
    ),
    Mistake(
        "log-format",
        "logs are read in Docker's format, and the nodes write containerd's",
        edit(CONFIG_MAP, "team-logs-configuration", said(FLUENT, "multiline.parser cri", "multiline.parser docker")),
        "programs-fluent-bit",
    ),
    Mistake(
        "evaluated",
        "figures are recorded every fifteen minutes, and are stale after five",
        edit(RULES, "monitoring-rules", lambda i: i["spec"]["groups"][1].update(interval="15m")),
        "programs-scrape",
    ),
    Mistake(
        "library-path",
        "NCCL is told a plug-in, and not where it lies",
        edit(RUNTIME, TRAIN, retold("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64")),
        "programs-interface",
        stack=GOOGLE,
    ),
    Mistake(
        "job-budget",
        "no pod of the proofs may ever be moved",
        added(
            "policy/v1:PodDisruptionBudget",
            "proofs",
            {
                "spec": {
                    "maxUnavailable": 0,
                    "selector": {"matchLabels": {"app.kubernetes.io/name": "trainyard-smoke"}},
                }
            },
            "team-vision",
        ),
        "placement-drain",
    ),
]

MISTAKES = [*REFUSED, *SILENT]
