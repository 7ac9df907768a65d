"""A ninth set of mistakes within the cluster, written when the eighth was mended, and measured at first sight."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, added, both, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    DEPLOYMENT,
    FIRST,
    FLAVOR,
    NOTEBOOKS,
    POD,
    POD_MONITOR,
    RELEASE,
    STACK,
    values,
)
from tests.rehearsal.works.mistakes_k8s_second import CLASS
from tests.rehearsal.works.own_objects import (
    CLAIM,
    GUARD,
    HOOK,
    INGRESS,
    LABELS,
    PLACE,
    PROGRAM,
    SERVICE,
    TOOLS,
    Own,
    program,
    ruled,
)

HUB = "notebooks-release"


def job_of(name: str, **more: Any) -> dict[str, Any]:
    """A job of a JobSet of somebody else's."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "node", "image": "python:3.13"}]}
    return {"name": name, "template": {"spec": {"completions": 1, "parallelism": 1, "template": {"spec": pod}}}, **more}


def jobs(*found: dict[str, Any]) -> Change:
    """Adds a JobSet of them."""
    return both(
        added("core/v1:Namespace", TOOLS, {}),
        added("jobset.x-k8s.io/v1alpha2:JobSet", "sweep", {"spec": {"replicatedJobs": list(found)}}, TOOLS),
    )


REFUSED = [
    Mistake(
        "empty-selector",
        "a program's selector means every pod",
        program(put("spec.selector", {})),
        "refusal:k8s-selector",
    ),
    Mistake(
        "two-defaults",
        "two classes are everybody's who says none",
        both(
            added("scheduling.k8s.io/v1:PriorityClass", "low", {"value": 10, "globalDefault": True}),
            added("scheduling.k8s.io/v1:PriorityClass", "middle", {"value": 100, "globalDefault": True}),
        ),
        "reference-default-priority",
    ),
    Mistake(
        "first-depends",
        "the first job of a set waits for a job after it",
        jobs(job_of("workers", dependsOn=[{"name": "server", "status": "Ready"}]), job_of("server")),
        "refusal:k8s-job-set",
    ),
    Mistake(
        "flavor-topology",
        "a flavor follows a topology and has no nodes",
        edit(FLAVOR, "kueue-flavor-train-spot", put("spec.nodeLabels", DROP), put("spec.topologyName", "racks")),
        "refusal:kueue-topology",
    ),
    Mistake(
        "class-number",
        "a parameter of a class of disks is a number",
        edit(CLASS, "blocks-class", put("parameters.throughput", 250)),
        "refusal:wrong-type",
    ),
    Mistake(
        "plain-data",
        "a secret's data is plain text",
        both(
            added("core/v1:Namespace", TOOLS, {}),
            added("core/v1:Secret", "login", {"data": {"password": "correct horse"}}, TOOLS),
        ),
        "refusal:k8s-base64",
    ),
    Mistake(
        "spread-twice",
        "a pod is to be spread twice over the same",
        program(
            put(
                f"{POD}.topologySpreadConstraints",
                [
                    {
                        "maxSkew": skew,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": LABELS},
                    }
                    for skew in (1, 2)
                ],
            )
        ),
        "refusal:k8s-duplicate",
    ),
    Mistake(
        "host-port",
        "an entrance's host has a port",
        Own((INGRESS, PROGRAM, SERVICE, PLACE), (put("spec.rules[0].host", "board.example.com:8443"),)),
        "refusal:k8s-ingress",
    ),
    Mistake(
        "bundle",
        "a webhook's certificate is not encoded",
        Own(
            (HOOK, PROGRAM, SERVICE, PLACE), (put("webhooks[0].clientConfig.caBundle", "-----BEGIN CERTIFICATE-----"),)
        ),
        "refusal:k8s-base64",
    ),
    Mistake(
        "expression",
        "a guard's expression does not end",
        Own(
            (GUARD, PLACE),
            (put("spec.validations[0].expression", "has(object.metadata.labels && 'owner' in object.metadata.labels"),),
        ),
        "refusal:k8s-admission",
    ),
]

SILENT = [
    Mistake(
        "depends-complete",
        "a set's workers wait until its server, which serves, is done",
        jobs(
            job_of(
                "server",
                template={
                    "spec": {
                        "completions": 1,
                        "parallelism": 1,
                        "template": {
                            "spec": {
                                "restartPolicy": "Never",
                                "containers": [
                                    {"name": "node", "image": "redis:8", "ports": [{"containerPort": 6379}]}
                                ],
                            }
                        },
                    }
                },
            ),
            job_of("workers", dependsOn=[{"name": "server", "status": "Complete"}]),
        ),
        "programs-companion",
    ),
    Mistake(
        "hub-start",
        "a notebook has thirty seconds to start, and its nodes begin at none",
        edit(RELEASE, HUB, put("values.singleuser.startTimeout", 30)),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-purpose",
        "notebooks need nodes of a purpose that no node is labelled with",
        edit(RELEASE, HUB, put("values.scheduling.userPods.nodeAffinity.matchNodePurpose", "require")),
        "reference-notebooks",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "scrape-timeout",
        "a scrape may take a minute, and there are thirty seconds between two",
        values(STACK, "prometheus.prometheusSpec.scrapeTimeout", "60s"),
        "programs-scrape",
    ),
    Mistake(
        "mute",
        "a route is silent in hours that nobody defines",
        values(STACK, "alertmanager.config.route.routes[1].mute_time_intervals", ["nights"]),
        "reference-alert-route",
    ),
    Mistake(
        "grafana-port",
        "Grafana listens on another port than its service leads to",
        values(STACK, "grafana.env", {"GF_SERVER_HTTP_PORT": "8080"}),
        "programs-web-path",
    ),
    Mistake(
        "no-scale-down",
        "nodes are never ended",
        values("autoscaler-release", "extraArgs.scale-down-enabled", "false"),
        "policy:idle-gpus-keep-running",
    ),
    Mistake(
        "plugin-class",
        "the device plugin runs in a class that nobody makes",
        values("gpu-nvidia-device-plugin", "runtimeClassName", "nvidia"),
        "reference-runtime-class",
    ),
    Mistake(
        "flavor-taints",
        "a flavor's nodes have a taint that no job tolerates",
        edit(
            FLAVOR,
            "kueue-flavor-train-spot",
            put("spec.nodeTaints", [{"key": "team", "value": "vision", "effect": "NoSchedule"}]),
        ),
        "queues-never-admitted",
    ),
    Mistake(
        "shared-disk",
        "a disk of one node is claimed for many",
        Own((CLAIM, PLACE), (put("spec.accessModes", ["ReadWriteMany"]),)),
        "programs-claim",
    ),
    Mistake(
        "stuck-rollout",
        "each pod has a node of its own, there are as many as nodes, and a new one comes first",
        edit(
            DEPLOYMENT,
            "egress-deployment",
            put("spec.replicas", 6),
            put(
                f"{POD}.affinity",
                {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "topologyKey": "kubernetes.io/hostname",
                                "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "egress-proxy"}},
                            }
                        ]
                    }
                },
            ),
        ),
        "placement-spread",
    ),
    Mistake(
        "optional-name",
        "a program's settings are optional, and their name has a letter less",
        Own(
            (PROGRAM, ("core/v1:ConfigMap", "board-settings", {"data": {"PORT": "8000"}}, TOOLS), SERVICE, PLACE),
            (put(f"{FIRST}.envFrom", [{"configMapRef": {"name": "board-setings", "optional": True}}]),),
        ),
        "reference-missing",
    ),
    Mistake(
        "relabel",
        "a monitor keeps pods by a label that they have not",
        edit(
            POD_MONITOR,
            "monitoring-tracking",
            put(
                "spec.podMetricsEndpoints[0].relabelings",
                [{"action": "keep", "sourceLabels": ["__meta_kubernetes_pod_label_app"], "regex": "mlflow"}],
            ),
        ),
        "reference-relabeling",
    ),
    Mistake(
        "docker-logs",
        "a program reads the nodes' logs where Docker put them",
        program(
            put(
                f"{POD}.volumes",
                [{"name": "logs", "hostPath": {"path": "/var/lib/docker/containers", "type": "Directory"}}],
            ),
            put(f"{FIRST}.volumeMounts", [{"name": "logs", "mountPath": "/logs", "readOnly": True}]),
        ),
        "programs-gone",
    ),
    Mistake(
        "image-gone",
        "an image is pulled from where it no longer is",
        program(put(f"{FIRST}.image", "docker.io/bitnami/kubectl:1.31.4")),
        "programs-gone",
    ),
    Mistake(
        "old-registry",
        "an image is pulled from the registry that Kubernetes gave up",
        program(put(f"{FIRST}.image", "gcr.io/kubebuilder/kube-rbac-proxy:v0.13.1")),
        "programs-gone",
    ),
    Mistake(
        "own-record",
        "a rule records a figure of itself",
        ruled(record="trainyard:gpus_idle:share", expr="trainyard:gpus_idle:share * 0.9 + 0.1"),
        "watching-syntax",
    ),
    Mistake(
        "route-backend",
        "a route leads to a service by another name",
        Own(
            (
                (
                    "gateway.networking.k8s.io/v1:HTTPRoute",
                    "board",
                    {
                        "spec": {
                            "parentRefs": [{"name": "edge"}],
                            "rules": [{"backendRefs": [{"name": "board", "port": 80}]}],
                        }
                    },
                    TOOLS,
                ),
                PROGRAM,
                SERVICE,
                PLACE,
            ),
            (put("spec.rules[0].backendRefs[0].name", "boards"),),
        ),
        "reference-missing",
    ),
    Mistake(
        "pool-key",
        "a pool of nodes asks for a label that its provider never has",
        Own(
            (
                (
                    "karpenter.sh/v1:NodePool",
                    "gpu",
                    {
                        "spec": {
                            "template": {
                                "spec": {
                                    "nodeClassRef": {
                                        "group": "karpenter.k8s.aws",
                                        "kind": "EC2NodeClass",
                                        "name": "gpu",
                                    },
                                    "requirements": [
                                        {
                                            "key": "karpenter.k8s.aws/instance-gpu-name",
                                            "operator": "In",
                                            "values": ["a10g"],
                                        }
                                    ],
                                }
                            }
                        }
                    },
                    "",
                ),
                PLACE,
            ),
            (put("spec.template.spec.requirements[0].key", "karpenter.k8s.aws/instance-gpu-names"),),
        ),
        "reference-node-pool",
    ),
    Mistake(
        "zones",
        "pods are spread over three zones, one each, and their nodes are in fewer",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put("spec.replicas", 5),
            put(
                f"{POD}.topologySpreadConstraints",
                [
                    {
                        "maxSkew": 1,
                        "minDomains": 5,
                        "topologyKey": "topology.kubernetes.io/zone",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}},
                    }
                ],
            ),
        ),
        "placement-spread",
    ),
]
MISTAKES = [*REFUSED, *SILENT]
