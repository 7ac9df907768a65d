"""An eighth set of mistakes within the cluster: in objects of other people's programs beside ours, and in our own."""

from __future__ import annotations

import base64

from tests.rehearsal.works.mistakes import DROP, Mistake, added, both, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    CONFIG_MAP,
    DAEMONS,
    DEPLOYMENT,
    FIRST,
    JOB,
    POD,
    STACK,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import FLUENT
from tests.rehearsal.works.own_objects import (
    BOARD,
    BOUND,
    CHECK,
    CLAIM,
    CONTROLLER,
    DEFINITION,
    FRONT,
    GUARD,
    HARDENED,
    HEADLESS,
    HOOK,
    INGRESS,
    LABELS,
    NGINX,
    PLACE,
    PROGRAM,
    SCALER,
    SERVICE,
    STATEFUL,
    TOOLS,
    Own,
    dashboard,
    program,
    ruled,
    variable,
)

SLICED = """version: v1
sharing:
  timeSlicing:
    renameByDefault: true
    resources:
    - name: nvidia.com/gpu
      replicas: 4
"""

REFUSED = [
    Mistake(
        "progress-deadline",
        "a program's pods have to be ready for ten minutes, and it has ten to progress",
        program(put("spec.minReadySeconds", 600)),
        "programs-deadline",
    ),
    Mistake(
        "on-delete",
        "a set is replaced as its pods are deleted, and has a partition",
        Own(
            (STATEFUL, HEADLESS, PLACE),
            (put("spec.updateStrategy", {"type": "OnDelete", "rollingUpdate": {"partition": 1}}),),
        ),
        "refusal:k8s-rollout",
    ),
    Mistake(
        "daemon-surge",
        "a node's program may be missing and doubled at once",
        edit(DAEMONS, "team-logs", put("spec.updateStrategy.rollingUpdate", {"maxUnavailable": 1, "maxSurge": 1})),
        "refusal:k8s-rollout",
    ),
    Mistake(
        "scale-to-zero",
        "a program is scaled by its cores, down to none",
        Own((SCALER, PROGRAM, SERVICE, PLACE), (put("spec.minReplicas", 0),)),
        "refusal:k8s-number",
    ),
    Mistake(
        "two-targets",
        "a scaler is told a share and an amount of cores",
        Own((SCALER, PROGRAM, SERVICE, PLACE), (put("spec.metrics[0].resource.target.averageValue", "500m"),)),
        "refusal:k8s-autoscaler",
    ),
    Mistake(
        "ingress-path",
        "a path of an entrance has no slash",
        Own((INGRESS, CONTROLLER, PROGRAM, SERVICE, PLACE), (put("spec.rules[0].http.paths[0].path", "board"),)),
        "refusal:k8s-ingress",
    ),
    Mistake(
        "local-traffic",
        "a service within the cluster keeps the caller's address",
        Own((SERVICE, PROGRAM, PLACE), (put("spec.externalTrafficPolicy", "Local"),)),
        "refusal:k8s-service",
    ),
    Mistake(
        "privileged-no-escalation",
        "a container is privileged and may not escalate",
        program(put(f"{FIRST}.securityContext", {"privileged": True, "allowPrivilegeEscalation": False})),
        "refusal:k8s-security",
    ),
    Mistake(
        "local-profile",
        "a pod's profile is a file of the node, and nobody says which",
        program(put(f"{POD}.securityContext.seccompProfile", {"type": "Localhost"})),
        "refusal:k8s-security",
    ),
    Mistake(
        "once-pod-and-many",
        "a claim is for one pod, and for many",
        Own((CLAIM, PLACE), (put("spec.accessModes", ["ReadWriteOncePod", "ReadWriteOnce"]),)),
        "refusal:k8s-access-mode",
    ),
    Mistake(
        "side-effects",
        "a webhook says that it has some side effects",
        Own((HOOK, PROGRAM, SERVICE, PLACE), (put("webhooks[0].sideEffects", "Some"),)),
        "refusal:k8s-webhook",
    ),
    Mistake(
        "webhook-time",
        "a webhook has a minute to answer",
        Own((HOOK, PROGRAM, SERVICE, PLACE), (put("webhooks[0].timeoutSeconds", 60),)),
        "refusal:k8s-webhook",
    ),
    Mistake(
        "crd-name",
        "a definition is called after its kind",
        Own((DEFINITION, PLACE), (put("metadata.name", "board.example.com"),)),
        "refusal:k8s-definition",
    ),
    Mistake(
        "crd-storage",
        "two versions of a definition are stored",
        Own((DEFINITION, PLACE), (lambda i: i["spec"]["versions"].append({**i["spec"]["versions"][0], "name": "v2"}),)),
        "refusal:k8s-definition",
    ),
    Mistake(
        "token-time",
        "a projected token lives for five minutes",
        program(
            put(
                f"{POD}.volumes",
                [
                    {
                        "name": "token",
                        "projected": {
                            "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 300}}]
                        },
                    }
                ],
            )
        ),
        "refusal:k8s-volume",
    ),
    Mistake(
        "no-resolver",
        "a pod's names are its own affair, and it names no resolver",
        program(put(f"{POD}.dnsPolicy", "None")),
        "refusal:k8s-dns",
    ),
    Mistake(
        "scope-resource",
        "a quota for pods that ask for nothing limits what they ask for",
        Own(
            (
                (
                    "core/v1:ResourceQuota",
                    "rest",
                    {"spec": {"scopes": ["BestEffort"], "hard": {"requests.cpu": "4"}}},
                    TOOLS,
                ),
                PLACE,
            )
        ),
        "refusal:k8s-quota-scope",
    ),
    Mistake(
        "huge-alone",
        "a container asks for huge pages and nothing else",
        program(put(f"{FIRST}.resources", {"limits": {"hugepages-2Mi": "1Gi"}, "requests": {"hugepages-2Mi": "1Gi"}})),
        "refusal:k8s-resources",
    ),
    Mistake(
        "role-url",
        "a role of one namespace lets at a path of the API server",
        Own(
            (
                (
                    "rbac.authorization.k8s.io/v1:Role",
                    "board",
                    {"rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]},
                    TOOLS,
                ),
                PLACE,
            )
        ),
        "refusal:k8s-role",
    ),
    Mistake(
        "claim-of-none",
        "a container uses a claim of devices that its pod has not",
        program(put(f"{FIRST}.resources.claims", [{"name": "gpu"}])),
        "refusal:k8s-device-claim",
    ),
]

SILENT = [
    Mistake(
        "host-names",
        "a program in the node's network asks for the cluster's names of the node",
        edit(DEPLOYMENT, "kueue-budgets-deployment", put(f"{POD}.hostNetwork", True)),
        "programs-never",
    ),
    Mistake(
        "one-word-command",
        "a command is one word with spaces in it",
        program(put(f"{FIRST}.command", ["python -m http.server 8000"])),
        "programs-command",
    ),
    Mistake(
        "shell-words",
        "a shell is told each word of its command by itself",
        program(put(f"{FIRST}.command", ["sh", "-c", "python", "-m", "http.server", "8000"])),
        "programs-command",
    ),
    Mistake(
        "shell-variable",
        "a program's argument is a variable as a shell writes it, and there is no shell",
        program(
            put(f"{FIRST}.env", [variable("PORT", "8000")]),
            put(f"{FIRST}.command", ["python", "-m", "http.server", "$PORT"]),
        ),
        "programs-command",
    ),
    Mistake(
        "variable-later",
        "a variable is made of one that comes after it",
        program(put(f"{FIRST}.env", [variable("URL", "http://$(HOST):8000"), variable("HOST", "localhost")])),
        "programs-command",
    ),
    Mistake(
        "milli-bytes",
        "memory is given in thousandths of a byte",
        program(
            put(f"{FIRST}.resources", {"requests": {"cpu": "100m", "memory": "128m"}, "limits": {"memory": "256m"}})
        ),
        "programs-memory",
    ),
    Mistake(
        "root-and-not",
        "a pod runs as root and must not",
        program(put(f"{POD}.securityContext.runAsUser", 0)),
        "policy:pod-as-root",
    ),
    Mistake(
        "scaled-from-none",
        "a program begins with no pods, which switches its scaler off",
        Own((PROGRAM, SCALER, SERVICE, PLACE), (put("spec.replicas", 0),)),
        "programs-never",
    ),
    Mistake(
        "scaler-metric",
        "a program is scaled by a figure of its pods, and nothing gives such figures",
        Own(
            (SCALER, PROGRAM, SERVICE, PLACE),
            (
                put(
                    "spec.metrics",
                    [
                        {
                            "type": "Pods",
                            "pods": {
                                "metric": {"name": "requests_per_second"},
                                "target": {"type": "AverageValue", "averageValue": "100"},
                            },
                        }
                    ],
                ),
            ),
        ),
        "programs-scaling",
    ),
    Mistake(
        "scaler-target",
        "a scaler is for a program by another name",
        Own((SCALER, PROGRAM, SERVICE, PLACE), (put("spec.scaleTargetRef.name", "dashboard"),)),
        "reference-missing",
    ),
    Mistake(
        "ingress-class",
        "an entrance is of a class that no controller serves",
        Own((INGRESS, CONTROLLER, PROGRAM, SERVICE, PLACE), (put("spec.ingressClassName", "nginx-internal"),)),
        "reference-ingress-class",
    ),
    Mistake(
        "ingress-port",
        "an entrance leads to the pods' port rather than the service's",
        Own(
            (INGRESS, CONTROLLER, PROGRAM, SERVICE, PLACE),
            (put("spec.rules[0].http.paths[0].backend.service.port.number", 8000),),
        ),
        "reference-port",
    ),
    Mistake(
        "ingress-secret",
        "an entrance's certificate is in a secret that nobody makes",
        Own(
            (INGRESS, CONTROLLER, PROGRAM, SERVICE, PLACE),
            (put("spec.tls", [{"hosts": ["board.example.com"], "secretName": "board-tls"}]),),
        ),
        "reference-missing",
    ),
    Mistake(
        "set-service",
        "a set's pods have their names of a service that there is not",
        Own((STATEFUL, HEADLESS, PLACE), (put("spec.serviceName", "store-headless"),)),
        "reference-missing",
    ),
    Mistake(
        "set-class",
        "a set's disks are of a class that there is not",
        Own((STATEFUL, HEADLESS, PLACE), (put("spec.volumeClaimTemplates[0].spec.storageClassName", "gp3"),)),
        "reference-storage-class",
    ),
    Mistake(
        "job-sidecar",
        "a job's second container sends its logs and never ends",
        Own(
            (CHECK, PLACE),
            (
                put(
                    "spec.jobTemplate.spec.template.spec.containers[1]",
                    {
                        "name": "logs",
                        "image": "fluent/fluent-bit:4.0",
                        "args": ["-c", "/fluent-bit/etc/fluent-bit.conf"],
                        "securityContext": HARDENED,
                    },
                ),
            ),
        ),
        "programs-companion",
    ),
    Mistake(
        "host-ports",
        "two programs of every node take the same port of it",
        edit(
            DAEMONS, "team-logs", put(f"{FIRST}.ports", [{"name": "figures", "containerPort": 9100, "hostPort": 9100}])
        ),
        "placement-host-port",
    ),
    Mistake(
        "apart",
        "five pods must each have a node of their own, and there are fewer",
        edit(
            DEPLOYMENT,
            "egress-deployment",
            put("spec.replicas", 12),
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
        "guard-no-label",
        "a guard is to refuse a label's value, and refuses what has no labels",
        Own(
            (GUARD, BOUND, PLACE),
            (put("spec.validations[0].expression", "object.metadata.labels['tier'] != 'frozen'"),),
        ),
        "programs-policy",
    ),
    Mistake(
        "guard-old",
        "a guard looks at what was before, as things are made",
        Own(
            (GUARD, BOUND, PLACE),
            (put("spec.validations[0].expression", "object.spec.replicas >= oldObject.spec.replicas"),),
        ),
        "programs-policy",
    ),
    Mistake(
        "hook-everything",
        "a webhook that must answer is asked about its own pods too",
        Own(
            (HOOK, PROGRAM, SERVICE, PLACE),
            (put("webhooks[0].failurePolicy", "Fail"), put("webhooks[0].namespaceSelector", DROP)),
        ),
        "programs-webhook",
    ),
    Mistake(
        "hook-service",
        "a webhook is asked at a service of another namespace",
        Own((HOOK, PROGRAM, SERVICE, PLACE), (put("webhooks[0].clientConfig.service.namespace", "default"),)),
        "reference-missing",
    ),
    Mistake(
        "list-by-name",
        "a role lists what it names one by one",
        Own(
            (
                (
                    "rbac.authorization.k8s.io/v1:Role",
                    "board",
                    {
                        "rules": [
                            {
                                "apiGroups": ["batch"],
                                "resources": ["jobs"],
                                "resourceNames": ["nightly"],
                                "verbs": ["deletecollection"],
                            }
                        ]
                    },
                    TOOLS,
                ),
                PLACE,
            )
        ),
        "reference-role-names",
    ),
    Mistake(
        "pruned",
        "an object has a field that its definition has not",
        Own((BOARD, DEFINITION, PLACE), (put("spec.panel", 4),)),
        "refusal:k8s-unknown-field",
    ),
    Mistake(
        "queue-on-pods",
        "a job's queue is named at its pods",
        edit(
            JOB,
            "smoke-dev-on-demand-job",
            lambda i: (
                i["spec"]["template"]
                .setdefault("metadata", {})
                .setdefault("labels", {})
                .update({"kueue.x-k8s.io/queue-name": i["metadata"]["labels"].pop("kueue.x-k8s.io/queue-name")})
            ),
        ),
        "queues-label-place",
    ),
    Mistake(
        "safe-to-evict",
        "a program asks the autoscaler to leave it alone in a word that it does not read",
        program(put("spec.template.metadata.annotations", {"cluster-autoscaler.kubernetes.io/safe-to-evict": "no"})),
        "programs-annotation",
    ),
    Mistake(
        "scrape-annotation",
        "a program asks by annotation to be scraped, and Prometheus goes by monitors",
        program(
            put("spec.template.metadata.annotations", {"prometheus.io/scrape": "true", "prometheus.io/port": "8000"})
        ),
        "programs-unscraped",
    ),
    Mistake(
        "twice-encoded",
        "a secret's text is encoded, and is encoded again",
        both(
            added("core/v1:Namespace", TOOLS, {}),
            added(
                "core/v1:Secret",
                "database",
                {"stringData": {"uri": base64.b64encode(b"postgresql://board:word@db:5432/board").decode()}},
                TOOLS,
            ),
        ),
        "programs-encoded",
    ),
    Mistake(
        "dashboard-variable",
        "a panel asks by a variable that its dashboard has not",
        edit(
            CONFIG_MAP,
            "monitoring-trainyard-pools",
            said(
                "data",
                "sum by (flavor) (trainyard:gpus_held)",
                'sum by (flavor) (trainyard:gpus_held{flavor=~\\"$flavor\\"})',
            ),
        ),
        "watching-dashboard",
    ),
    Mistake(
        "dashboard-twice",
        "two dashboards have one uid",
        edit(CONFIG_MAP, "monitoring-trainyard-pools", dashboard(lambda d: d.update(uid="trainyard-cost"))),
        "watching-dashboard",
    ),
    Mistake(
        "rate-of-gauge",
        "an alert asks for the rate of what goes up and down",
        ruled(alert="GpuQuiet", expr="rate(DCGM_FI_DEV_GPU_UTIL[10m]) < 0.1", labels={"severity": "warning"}),
        "watching-function",
    ),
    Mistake(
        "no-buckets",
        "an alert asks for a quantile of a sum without the buckets' bounds",
        ruled(
            alert="Slow",
            expr="histogram_quantile(0.9, sum by (cluster_queue) (rate("
            "kueue_admission_wait_time_seconds_bucket[5m]))) > 7200",
            labels={"severity": "warning"},
        ),
        "watching-function",
    ),
    Mistake(
        "sub-path",
        "Grafana is told an address below a path, and does not serve from it",
        values(STACK, "grafana.grafana~ini.server", {"root_url": "https://tools.example.com/grafana/"}),
        "programs-web-path",
    ),
    Mistake(
        "proxy-plain",
        "a proxy asks the tracking server without TLS",
        Own((NGINX, FRONT, SERVICE, PLACE), (said("data", "proxy_pass https", "proxy_pass http"),)),
        "programs-nginx",
    ),
    Mistake(
        "proxy-upstream",
        "a proxy leads to an upstream that it does not define",
        Own(
            (NGINX, FRONT, SERVICE, PLACE),
            (said("data", "proxy_pass https://tracking", "proxy_pass https://mlflow-tracking"),),
        ),
        "programs-nginx",
    ),
    Mistake(
        "local-storage",
        "nodes with a pod that keeps something are never ended, and every pod keeps",
        values("autoscaler-release", "extraArgs.skip-nodes-with-local-storage", "true"),
        "policy:idle-gpus-keep-running",
    ),
    Mistake(
        "utilization",
        "a node is given up below fifty, where one is full",
        values("autoscaler-release", "extraArgs.scale-down-utilization-threshold", "50"),
        "charts-flag",
    ),
    Mistake(
        "buffer-file",
        "the collector buffers on disk, and is told no folder",
        edit(CONFIG_MAP, "team-logs-configuration", said(FLUENT, "Mem_Buf_Limit 32MB", "storage.type filesystem")),
        "programs-node-logs",
    ),
    Mistake(
        "small-ephemeral",
        "a container may keep a gigabyte in a folder, and two hundred megabytes on the node",
        program(
            put(f"{POD}.volumes", [{"name": "tmp", "emptyDir": {"sizeLimit": "5Gi"}}]),
            put(f"{FIRST}.volumeMounts", [{"name": "tmp", "mountPath": "/tmp"}]),
            put(f"{FIRST}.resources.limits.ephemeral-storage", "200Mi"),
        ),
        "programs-pod-disk",
    ),
    Mistake(
        "sharing-one",
        "GPUs are shared by four, and a job that asks for two is refused",
        values(
            "gpu-nvidia-device-plugin",
            "config",
            {
                "map": {"default": SLICED},
                "default": "default",
            },
        ),
        "placement-shared-gpu",
    ),
    Mistake(
        "balancer-public",
        "a balancer is to be within, in an annotation with a letter less",
        Own(
            (SERVICE, PROGRAM, PLACE),
            (
                put("spec.type", "LoadBalancer"),
                put(
                    "metadata.annotations",
                    {
                        "service.beta.kubernetes.io/aws-load-balancer-schema": "internal",
                        "service.beta.kubernetes.io/aws-load-balancer-type": "external",
                        "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
                    },
                ),
            ),
        ),
        "programs-annotation",
    ),
    Mistake(
        "budget-of-scaler",
        "two pods have to be there, and the scaler lets one be",
        Own(
            (
                (
                    "policy/v1:PodDisruptionBudget",
                    "board",
                    {"spec": {"minAvailable": 2, "selector": {"matchLabels": LABELS}}},
                    TOOLS,
                ),
                SCALER,
                PROGRAM,
                SERVICE,
                PLACE,
            )
        ),
        "placement-drain",
    ),
]

MISTAKES = [*REFUSED, *SILENT]
