"""A third set of mistakes within the cluster, written after the second was mended, and measured at first sight."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import DROP, Mistake, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    FIRST,
    JOB,
    NOTEBOOKS,
    POD,
    RELEASE,
    SERVER,
    STACK,
    VOLUME,
    WALL,
    env,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_second import ADMISSION, ARGS, CLAIM, DAEMONS, told

SERVICE = "kubernetes:core/v1:Service"
NAMESPACE = "kubernetes:core/v1:Namespace"
FLAVORS, PROOFS, BUDGETS, IDLE = (f"kueue-{name}-deployment" for name in ("keeper", "proofs", "budgets", "idle"))
JOB_POD = "spec.jobTemplate.spec.template.spec.containers[0]"
STATE = "kube-state-metrics.customResourceState.config.spec.resources[0]"

MISTAKES = [
    # Keepers
    Mistake(
        "no-token",
        "a keeper has no token for the API server",
        edit(DEPLOYMENT, BUDGETS, put(f"{POD}.automountServiceAccountToken", False)),
        "rights-program-no-token",
    ),
    Mistake(
        "keeper-memory",
        "a keeper has twelve mebibytes",
        edit(DEPLOYMENT, IDLE, put(f"{FIRST}.resources", {"limits": {"memory": "12Mi", "cpu": "200m"}})),
        "programs-memory",
    ),
    Mistake(
        "groups",
        "the keeper of flavors goes by another pool's group",
        edit(DEPLOYMENT, FLAVORS, said(ARGS, "eks-gpu-nodes-train-spot", "eks-gpu-nodes-training-spot")),
        "programs-group",
    ),
    Mistake(
        "proof-labels",
        "the keeper of proofs knows a flavor by labels that it has not",
        edit(DEPLOYMENT, PROOFS, said(ARGS, '"ml.platform/capacity": "spot"', '"ml.platform/capacity": "preempt"')),
        "programs-names",
    ),
    Mistake(
        "keeper-url",
        "the keeper of budgets asks Prometheus at a port that it has not",
        edit(DEPLOYMENT, BUDGETS, said(ARGS, ":9090", ":9091")),
        "programs-address",
    ),
    Mistake(
        "keeper-wall",
        "the wall lets the keeper out to a port that Prometheus has not",
        edit(WALL, "kueue-allow-budget-keeper", put("spec.egress[0].ports[0].port", 9091)),
        "flows-let-in",
    ),
    Mistake(
        "keeper-resource",
        "the keeper of idle jobs counts a resource that no pod asks for",
        edit(DEPLOYMENT, IDLE, said(ARGS, '"resource": "nvidia.com/gpu"', '"resource": "nvidia.com/gpus"')),
        "programs-never",
    ),
    Mistake(
        "busy",
        "a job is busy from two hundred per cent on",
        edit(DEPLOYMENT, IDLE, said(ARGS, '"busy_from": 0.02', '"busy_from": 2')),
        "programs-usage",
    ),
    Mistake(
        "same-hours",
        "the night begins when it ends",
        edit(DEPLOYMENT, "kueue-off-peak-deployment", said(ARGS, '"to": "07:00"', '"to": "20:00"')),
        "programs-usage",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "asleep",
        "the keeper of the night switches jobs of a priority off that there is not",
        edit(DEPLOYMENT, "kueue-sleep-deployment", said(ARGS, '"development"', '"experiments"')),
        "programs-names",
        stack=NOTEBOOKS,
    ),
    # Jobs
    Mistake(
        "never",
        "the check of checkpoints runs on the thirty-first of February",
        edit(CRON_JOB, "checkpoint-check-vision-checkpoint-check", put("spec.schedule", "47 5 31 2 *")),
        "reference-schedule",
    ),
    Mistake(
        "look-option",
        "the check is given an option that it has not",
        edit(CRON_JOB, "checkpoint-check-vision-checkpoint-age", said("spec", "--younger-than-hours", "--max-age")),
        "programs-usage",
    ),
    Mistake(
        "drill-option",
        "the drill is given an option that it has not",
        edit(CRON_JOB, "checkpoint-drill-job", said("spec", "--checkpoint-uri", "--checkpoint-url")),
        "programs-usage",
    ),
    Mistake(
        "smoke-key",
        "the smoke job's options have a key that it does not know",
        edit(JOB, "smoke-train-reserved-job", said("spec", '"nproc_per_node"', '"nproc_per_nodes"')),
        "programs-usage",
    ),
    Mistake(
        "smoke-result",
        "the smoke job writes its result where it may not write",
        edit(
            JOB,
            "smoke-train-reserved-job",
            lambda i: env("SMOKE_RESULT_DIR", "/result")(i["spec"]["template"]["spec"]["containers"][0]),
        ),
        "programs-read-only",
    ),
    Mistake(
        "smoke-subdomain",
        "the ranks' service is called otherwise than their subdomain",
        edit(JOB, "smoke-train-reserved-job", put(f"{POD}.subdomain", "smoke-train")),
        "reference-subdomain",
    ),
    # The tracking server
    Mistake(
        "interval-word",
        "the keeper of the password looks again after a time with a unit, which it does not read",
        edit(DEPLOYMENT, SERVER, told("pgpass", "--interval=30", "--interval=30s")),
        "programs-usage",
    ),
    Mistake(
        "interval-long",
        "the password is looked at every ten minutes, and its probe wants five",
        edit(DEPLOYMENT, SERVER, told("pgpass", "--interval=30", "--interval=600")),
        "programs-probe-file",
    ),
    Mistake(
        "artifacts",
        "artifacts go below a folder that the server may not write",
        edit(DEPLOYMENT, SERVER, told("server", "ff/mlflow", "ff/tracking")),
        "rights-pod-lacks",
    ),
    Mistake(
        "metrics-room",
        "the figures' folder holds sixty-four kibibytes",
        edit(
            DEPLOYMENT,
            SERVER,
            lambda i: next(v for v in i["spec"]["template"]["spec"]["volumes"] if v["name"] == "metrics")[
                "emptyDir"
            ].update(sizeLimit="64Ki"),
        ),
        None,
        "how much a library writes there before it is asked is in no document of its own",
    ),
    Mistake(
        "database-user",
        "the server logs in to the database as a user that nobody makes",
        edit(DEPLOYMENT, SERVER, told("server", "mlflow_server_v1@", "mlflow_server@")),
        None,
        "the name is put together by a program of the image's start, in words of its own",
    ),
    # Teams
    Mistake(
        "proxy-scheme",
        "a team's programs speak TLS to a proxy that does not",
        edit(CONFIG_MAP, "egress-clients-vision", said("data", "http://egress-proxy", "https://egress-proxy")),
        "programs-proxy",
    ),
    Mistake(
        "other-folder",
        "a team is told another team's folder of checkpoints",
        edit(CONFIG_MAP, "teams-vision-storage", said("data", "/teams/vision", "/teams/language")),
        "reference-other-team",
    ),
    Mistake(
        "access-mode",
        "a claim wants to write a volume that is there to be read",
        edit(CLAIM, "volumes-vision-data-claim", put("spec.accessModes", ["ReadWriteMany"])),
        "reference-claim",
    ),
    Mistake(
        "same-handle",
        "two volumes have the same handle, by which the kubelet knows them",
        edit(VOLUME, "volumes-vision-data-volume", put("spec.csi.volumeHandle", "vision-checkpoints")),
        "reference-volume-handle",
    ),
    Mistake(
        "no-team",
        "a team's namespace has no label of its team",
        edit(NAMESPACE, "teams-vision-namespace", put("metadata.labels.ml~platform/team", DROP)),
        "queues-unmanaged",
    ),
    Mistake(
        "own-images",
        "the guard on images refuses the runtimes' own image",
        edit(ADMISSION, "teams-pods-images", said("spec", "pytorch/pytorch", "pytorch/torch")),
        None,
        "no pod of that image is recorded in a team's namespace: only people bring them there",
    ),
    Mistake(
        "flavor-order",
        "jobs start on demand before they look for reserved nodes",
        edit(
            CLUSTER_QUEUE, "kueue-cluster-queue-vision", lambda i: i["spec"]["resourceGroups"][0]["flavors"].reverse()
        ),
        "queues-order",
    ),
    # Monitoring
    Mistake(
        "state-rights",
        "kube-state-metrics may not list the workloads that it is told to",
        values(STACK, "kube-state-metrics.rbac.extraRules", DROP),
        "reference-state-metrics",
    ),
    Mistake(
        "state-path",
        "a figure is read from a field that the object has not",
        values(STACK, f"{STATE}.metrics[0].each.gauge.path", ["status", "condition"]),
        "reference-state-metrics",
    ),
    Mistake(
        "scrape-wall",
        "the wall lets Prometheus to another port than the exporter's",
        edit(WALL, "kube-system-allow-dcgm-exporter", put("spec.ingress[0].ports[0].port", 9401)),
        "flows-let-out",
    ),
    Mistake(
        "prometheus-class",
        "Prometheus' disk is of a class that nobody makes",
        values(STACK, "prometheus.prometheusSpec.storageSpec.volumeClaimTemplate.spec.storageClassName", "gp3"),
        "reference-storage-class",
    ),
    Mistake(
        "dashboard-unlabelled",
        "a dashboard has no label by which the sidecar finds it",
        edit(CONFIG_MAP, "monitoring-trainyard-cost", put("metadata.labels", DROP)),
        "reference-sidecar",
    ),
    # Charts
    Mistake(
        "provider",
        "the autoscaler is told another cloud",
        values("autoscaler-release", "cloudProvider", "gce"),
        "charts-cloud",
    ),
    Mistake(
        "efa-region",
        "the EFA plugin's image is another region's",
        edit(RELEASE, "gpu-aws-efa-k8s-device-plugin", said("values/image", "us-east-1", "us-west-2")),
        None,
        "another region's registry answers as well",
    ),
    Mistake(
        "jobset-twice",
        "the trainer's chart installs a second JobSet",
        values("runtimes-trainer", "jobset.install", True),
        "charts-twice",
    ),
    Mistake(
        "runtimes-twice",
        "the trainer's chart makes runtimes of the same names",
        values("runtimes-trainer", "runtimes.defaultEnabled", True),
        "charts-twice",
    ),
    Mistake(
        "log-account",
        "the collector runs as an account that no role is for",
        edit(DAEMONS, "team-logs", put(f"{POD}.serviceAccountName", "default")),
        "rights-pod-no-role",
    ),
    # Notebooks
    Mistake(
        "start-seconds",
        "a notebook has twelve seconds to start, on nodes from zero",
        values("notebooks-release", "singleuser.startTimeout", 12),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-proxy",
        "the hub asks the provider by a port at which the proxy does not listen",
        values("notebooks-release", "hub.config.GitHubOAuthenticator.http_request_kwargs.proxy_port", 3130),
        "reference-address",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "notebook-proxy",
        "notebooks ask the outside by a port at which the proxy does not listen",
        edit(RELEASE, "notebooks-release", said("values/singleuser/extraEnv", ":3128", ":8080")),
        "reference-address",
        stack=NOTEBOOKS,
    ),
]
