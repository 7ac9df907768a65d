"""A second set of mistakes within the cluster, written when the rules of the first were done.

None is a variation of one of the first set, and they were measured at first sight. `rule` is what tells it now; where
it is None, `why` says why nothing does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import Mistake, drop, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    BINDING,
    CLUSTER_QUEUE,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    NOTEBOOKS,
    POD,
    QUEUES,
    RELEASE,
    ROLE_BINDING,
    RULES,
    RUNTIME,
    SECRET,
    SERVER,
    STACK,
    TRAIN,
    VOLUME,
    container,
    expression,
    rule_of,
    runtime,
    said,
    values,
)

CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
ADMISSION = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
DAEMONS = "kubernetes:apps/v1:DaemonSet"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
TRACKING = "mlflow-credentials-vision"
CONFIGURATION = "values/managerConfig/controllerManagerConfigYaml"
ARGS = "spec/template/spec/containers/0/args"


def in_rule(name: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    """Changes an alert or a recording."""
    return lambda inputs: change(rule_of(name)(inputs)) and None


def told(name: str, old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Replaces a part of what a container of the tracking server is told."""

    def into(one: dict[str, Any]) -> None:
        for key in ("command", "args"):
            if key in one:
                one[key] = [word.replace(old, new) for word in one[key]]

    return container(name, into)


MISTAKES = [
    # The tracking server
    Mistake(
        "grace",
        "the server is killed before the wait at its end is over",
        edit(DEPLOYMENT, SERVER, put(f"{POD}.terminationGracePeriodSeconds", 5)),
        "reference-grace",
    ),
    Mistake(
        "startup",
        "the server has fifteen seconds to migrate and start",
        edit(DEPLOYMENT, SERVER, container("server", lambda c: c["startupProbe"].update(failureThreshold=3))),
        "programs-deadline",
    ),
    Mistake(
        "spread",
        "the replicas are spread against pods that there are none of",
        edit(
            DEPLOYMENT,
            SERVER,
            put(
                f"{POD}.topologySpreadConstraints[0].labelSelector.matchLabels", {"app.kubernetes.io/name": "tracking"}
            ),
        ),
        "reference-spread-selects-others",
    ),
    Mistake(
        "hosts",
        "the server answers to no name that teams call it by",
        edit(DEPLOYMENT, SERVER, told("server", "mlflow.mlflow.svc.cluster.local", "tracking.acme.example")),
        "programs-host",
    ),
    Mistake(
        "administrator",
        "the accounts' keeper logs in as somebody else than the server's administrator",
        edit(DEPLOYMENT, SERVER, container("users", lambda c: c["args"].__setitem__(2, "root"))),
        "programs-login",
    ),
    Mistake(
        "login",
        "a team's programs log in with another team's name",
        edit(SECRET, TRACKING, said("stringData", "vision", "language")),
        "programs-login",
    ),
    Mistake(
        "no-account",
        "a team's account is not among those that are made",
        edit(SECRET, "mlflow-server", said("stringData", '"vision": ', '"visionaries": ')),
        "programs-login",
    ),
    Mistake(
        "plain",
        "a team asks the server without TLS",
        edit(SECRET, TRACKING, said("stringData", "https://mlflow.mlflow", "http://mlflow.mlflow")),
        "programs-scheme",
    ),
    Mistake(
        "guard-module",
        "the server's guard is looked for in a module that is not there",
        edit(SECRET, "mlflow-server", said("stringData", "tracking_guard:authorize", "tracking_guards:authorize")),
        "policy:tracking-open-to-other-teams",
    ),
    # The way out
    Mistake(
        "squid-port",
        "the proxy lets nobody to port 443",
        edit(CONFIG_MAP, "egress-configuration", said("data", "acl secure port 443", "acl secure port 8443")),
        "programs-squid",
    ),
    Mistake(
        "squid-order",
        "the proxy refuses everything before it allows something",
        edit(CONFIG_MAP, "egress-configuration", said("data", "http_access deny !tunnel\n", "http_access deny all\n")),
        "programs-squid",
    ),
    # Queues
    Mistake(
        "weight",
        "a team weighs nothing, and always goes last",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-vision", put("spec.fairSharing.weight", "0")),
        "policy:owner-cannot-reclaim",
    ),
    Mistake(
        "alone",
        "a team's queue is in a cohort of its own",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-vision", put("spec.cohortName", "vision")),
        "queues-never-admitted",
    ),
    Mistake(
        "never-back",
        "a team never gets back what it lent",
        edit(CLUSTER_QUEUE, "kueue-cluster-queue-vision", put("spec.preemption.reclaimWithinCohort", "Never")),
        "policy:owner-cannot-reclaim",
    ),
    Mistake(
        "no-resources",
        "Kueue does not tell what queues hold, which the ledger adds up",
        edit(
            RELEASE,
            QUEUES,
            said(CONFIGURATION, "enableClusterQueueResources: true", "enableClusterQueueResources: false"),
        ),
        "watching-metric",
    ),
    Mistake(
        "webhook",
        "Kueue's webhook listens where its Service does not lead",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "port: 9443", "port: 9444")),
        "charts-port",
    ),
    Mistake(
        "no-class",
        "the class of jobs' priority that smoke jobs name is not made",
        drop("kubernetes:kueue.x-k8s.io/v1beta2:WorkloadPriorityClass", "kueue-priority-standard"),
        "queues-no-priority",
    ),
    Mistake(
        "night-name",
        "the keeper of hours holds a queue that there is not",
        edit(DEPLOYMENT, "kueue-off-peak-deployment", said(ARGS, '"off-peak"', '"night"')),
        "programs-names",
        stack=NOTEBOOKS,
    ),
    # Nodes
    Mistake(
        "provision-seconds",
        "nodes are given up after twenty seconds",
        values("autoscaler-release", "extraArgs.max-node-provision-time", "20s"),
        "programs-deadline",
    ),
    Mistake(
        "account",
        "the autoscaler runs as an account that no role is for",
        values("autoscaler-release", "rbac.serviceAccount.name", "autoscaler"),
        "rights-program-no-role",
    ),
    Mistake(
        "toleration",
        "the device plugin tolerates another value of the taint",
        values("gpu-nvidia-device-plugin", "tolerations[0].value", "present"),
        "placement-daemon-nowhere",
    ),
    Mistake(
        "no-utilisation",
        "the exporter does not measure what alerts and keepers go by",
        edit(
            RELEASE,
            "gpu-dcgm-exporter",
            said(
                "values/customMetrics", "DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge", "# DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge"
            ),
        ),
        "watching-metric",
    ),
    Mistake(
        "profiling",
        "the exporter may not profile, which half of its fields need",
        values("gpu-dcgm-exporter", "securityContext.capabilities.add", []),
        "watching-metric",
    ),
    Mistake(
        "provisioner",
        "the storage class is of a driver that is not there",
        edit(CLASS, "blocks-class", put("provisioner", "ebs.csi.aws")),
        "reference-driver",
    ),
    Mistake(
        "binding-mode",
        "a disk is made in a zone before anybody knows where its pod runs",
        edit(CLASS, "blocks-class", put("volumeBindingMode", "Immediate")),
        "programs-storage-class",
    ),
    Mistake(
        "claim",
        "a team's claim is bound to another team's volume",
        edit(CLAIM, "volumes-vision-checkpoints-claim", put("spec.volumeName", "language-checkpoints")),
        "reference-claim",
    ),
    Mistake(
        "prefix",
        "a team's volume shows a folder that its role may not read",
        edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.mountOptions[1]", "prefix vision/")),
        "rights-volume",
    ),
    # Checks
    Mistake(
        "deadline",
        "the check of checkpoints has 54 seconds",
        edit(
            CRON_JOB, "checkpoint-check-vision-checkpoint-check", put("spec.jobTemplate.spec.activeDeadlineSeconds", 54)
        ),
        "programs-deadline",
    ),
    Mistake(
        "starting",
        "a check that is five seconds late is left out, and the controller looks every ten",
        edit(CRON_JOB, "checkpoint-check-vision-checkpoint-check", put("spec.startingDeadlineSeconds", 5)),
        "reference-schedule",
    ),
    Mistake(
        "smoke-model",
        "the smoke job expects a model of GPU that its machine has not",
        edit(JOB, "smoke-train-reserved-job", said("spec", '"expect_model": "A100"', '"expect_model": "H100"')),
        "programs-hardware",
    ),
    Mistake(
        "smoke-memory",
        "the smoke job expects twice the memory that its GPU has",
        edit(JOB, "smoke-train-reserved-job", said("spec", '"expect_memory_gib": 40.0', '"expect_memory_gib": 80.0')),
        "programs-hardware",
    ),
    # Figures
    Mistake(
        "keeper-names",
        "an alert on keepers names one that is called otherwise",
        edit(RULES, "monitoring-rules", expression("KeeperCannotAct", "budget-keeper|", "budgets-keeper|")),
        "watching-name",
    ),
    Mistake(
        "message-label",
        "an alert's message shows a label that its expression drops",
        edit(
            RULES,
            "monitoring-rules",
            in_rule(
                "NodeNotReady",
                lambda r: r["annotations"].update(summary="node {{ $labels.instance_name }} is not ready"),
            ),
        ),
        "watching-label",
    ),
    Mistake(
        "legend",
        "a panel's legend shows a label that its answer has not",
        edit(CONFIG_MAP, "monitoring-trainyard-pools", said("data", "{{flavor}}", "{{pool}}")),
        "watching-label",
    ),
    Mistake(
        "ledger-interval",
        "the ledger is added up as every five minutes, and is recorded once an hour",
        edit(
            RULES,
            "monitoring-rules",
            lambda i: next(g for g in i["spec"]["groups"] if g["name"] == "trainyard-ledger").update(interval="1h"),
        ),
        "watching-constant",
    ),
    Mistake(
        "price-flavor",
        "the price of a flavor is recorded under a name that no flavor has",
        edit(
            RULES,
            "monitoring-rules",
            in_rule("trainyard_gpu_hour_usd", lambda r: r["labels"].update(flavor="training-reserved")),
        ),
        "watching-constant",
    ),
    Mistake(
        "budget-queue",
        "a team's budget is recorded for a queue that there is not",
        edit(
            RULES,
            "monitoring-rules",
            in_rule("trainyard_team_budget_usd", lambda r: r["labels"].update(cluster_queue="visionaries")),
        ),
        "watching-constant",
    ),
    Mistake(
        "budget-figure",
        "the keeper holds a team at a tenth of the budget that alerts go by",
        edit(DEPLOYMENT, "kueue-budgets-deployment", said(ARGS, '"budget_usd": 29167', '"budget_usd": 2917')),
        "watching-constant",
    ),
    Mistake(
        "alerts-forgotten",
        "Alertmanager forgets what it told before it is to tell it again",
        values(STACK, "alertmanager.alertmanagerSpec.retention", "120h"),
        "reference-alert-route",
    ),
    # Rights, guards, logs
    Mistake(
        "no-create",
        "members may look at jobs and not make any",
        edit(ROLE, "teams-vision-member", lambda i: i["rules"][0].update(verbs=["get", "list", "watch"])),
        "rights-team-lacks",
    ),
    Mistake(
        "role-name",
        "the members' binding is of a role that is another team's",
        edit(ROLE_BINDING, "teams-vision-members", put("roleRef.name", "ingest-member")),
        "policy:team-rights-beyond-its-list",
    ),
    Mistake(
        "never-asked",
        "the guard on GPU pods has a condition that no request meets",
        edit(ADMISSION, "kueue-gpu-guard", put("spec.matchConditions[0].expression", "request.operation == 'CONNECT'")),
        "policy:gpus-past-the-queue",
    ),
    Mistake(
        "other-policy",
        "two guards' bindings name each the same policy",
        edit(BINDING, "kueue-end-guard-binding", put("spec.policyName", "gpu-pods-need-a-queue")),
        "policy:gpus-past-the-queue",
    ),
    Mistake(
        "host-logs",
        "the collector reads a folder of the node that holds no logs",
        edit(DAEMONS, "team-logs", put(f"{POD}.volumes[1].hostPath.path", "/var/logs")),
        "programs-fluent-bit",
    ),
    Mistake(
        "tag-group",
        "the collector's tag has a part that its expression does not find",
        edit(CONFIG_MAP, "team-logs-configuration", said("data", "(?<namespace>", "(?<space>")),
        "programs-fluent-bit",
    ),
    Mistake(
        "match",
        "the collector sends on what begins with a word that no tag begins with",
        edit(CONFIG_MAP, "team-logs-configuration", said("data", "Match *", "Match kube.*")),
        "programs-fluent-bit",
    ),
    Mistake(
        "preempting",
        "pods without GPUs put off each other's neighbours with GPUs",
        edit(PRIORITY_CLASS, "teams-cpu-only", put("value", 1000000)),
        None,
        "they start before jobs, which no promise of the stack forbids: preemptionPolicy stays Never",
    ),
    # Training
    Mistake(
        "data-claim",
        "a runtime mounts a claim that no team has",
        edit(RUNTIME, TRAIN, runtime(lambda s: s["volumes"][2]["persistentVolumeClaim"].update(claimName="dataset"))),
        "reference-missing",
    ),
    Mistake(
        "no-account-name",
        "a runtime's pods run as an account that no team has",
        edit(RUNTIME, TRAIN, runtime(lambda s: s.update(serviceAccountName="training"))),
        "reference-missing",
    ),
    Mistake(
        "grace-of-ranks",
        "ranks have ten seconds for the checkpoint that their launcher gives a hundred for",
        edit(RUNTIME, TRAIN, runtime(lambda s: s.update(terminationGracePeriodSeconds=10))),
        "programs-deadline",
    ),
    # Notebooks
    Mistake(
        "callback",
        "people come back from the provider to an address that the hub has not",
        values(
            "notebooks-release",
            "hub.config.GitHubOAuthenticator.oauth_callback_url",
            "http://localhost:8000/oauth_callback",
        ),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "trait",
        "who may come in is under a name that the authenticator does not know",
        edit(
            RELEASE,
            "notebooks-release",
            lambda i: i["values"]["hub"]["config"]["GitHubOAuthenticator"].update(
                allowed_organisations=i["values"]["hub"]["config"]["GitHubOAuthenticator"].pop("allowed_organizations")
            ),
        ),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "spawner-bytes",
        "a notebook's memory is in a unit that the spawner does not read",
        values("notebooks-release", "singleuser.profileList[0].kubespawner_override.mem_limit", "8Gi"),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "proxy-type",
        "the hub's proxy asks for a balancer, which its namespace's quota forbids",
        values("notebooks-release", "proxy.service.type", "LoadBalancer"),
        "policy:notebooks-open-to-the-outside",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "no-volume-left",
        "people have fewer volumes than there are people",
        edit("kubernetes:core/v1:ResourceQuota", "notebooks-quota", put("spec.hard.requests~storage", "20Gi")),
        "reference-quota",
        stack=NOTEBOOKS,
    ),
]
