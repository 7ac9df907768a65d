"""A fifth set of mistakes within the cluster, written when the fourth was mended, and measured at first sight.

`rule` is what tells it now, after `refusal:` where an API server's refusal does; where it is None, `why` says why
nothing does.
"""

from __future__ import annotations

from tests.rehearsal.works.mistakes import DROP, Mistake, added, both, edit, put
from tests.rehearsal.works.mistakes_k8s_first import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    FIRST,
    FLAVOR,
    JOB,
    NOTEBOOKS,
    POD,
    QUEUES,
    QUOTA,
    RELEASE,
    RUNTIME,
    SERVER,
    STACK,
    TRAIN,
    VOLUME,
    WALL,
    container,
    runtime,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import LARGE, SERVICE, SQUID, server_env

BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
ADMISSION = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
COHORT = "kubernetes:kueue.x-k8s.io/v1beta2:Cohort"
HUB = "notebooks-release"
CONFIGURATION = "values/managerConfig/controllerManagerConfigYaml"

MISTAKES = [
    # Queues
    Mistake(
        "flavor-twice",
        "a flavor stands twice in a queue",
        edit(
            CLUSTER_QUEUE, "kueue-cluster-queue-vision", put("spec.resourceGroups[0].flavors[1].name", "dev-on-demand")
        ),
        "refusal:k8s-duplicate",
    ),
    Mistake(
        "not-covered",
        "a flavor has a quota of a resource that its group does not cover",
        edit(
            CLUSTER_QUEUE,
            "kueue-cluster-queue-vision",
            put("spec.resourceGroups[0].flavors[0].resources[0].name", "nvidia.com/mig-1g.10gb"),
        ),
        "refusal:kueue-covered",
    ),
    Mistake(
        "borrow-alone",
        "a queue without a cohort may borrow",
        edit(
            CLUSTER_QUEUE,
            "kueue-cluster-queue-vision",
            put("spec.cohortName", DROP),
            put("spec.resourceGroups[0].flavors[4].resources[0].borrowingLimit", 8),
        ),
        "refusal:kueue-cohort",
    ),
    Mistake(
        "cohort-quota",
        "the cohort has a quota of a flavor that nobody makes",
        edit(
            COHORT,
            "kueue-cohort",
            put(
                "spec.resourceGroups",
                [
                    {
                        "coveredResources": ["nvidia.com/gpu"],
                        "flavors": [
                            {"name": "train-spots", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 8}]}
                        ],
                    }
                ],
            ),
        ),
        "policy:quota-exceeds-pool",
    ),
    Mistake(
        "topology",
        "a flavor follows a topology that nobody makes",
        edit(FLAVOR, "kueue-flavor-train-reserved", put("spec.topologyName", "racks")),
        "refusal:kueue-topology",
    ),
    Mistake(
        "levels",
        "a topology's lowest level is a label that no node has",
        added(
            "kueue.x-k8s.io/v1beta2:Topology",
            "racks",
            {
                "spec": {
                    "levels": [
                        {"nodeLabel": "topology.kubernetes.io/zone"},
                        {"nodeLabel": "cloud.provider.com/topology-rack"},
                    ]
                }
            },
        ),
        "placement-topology",
    ),
    Mistake(
        "requeue",
        "jobs that get no nodes are never queued again",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "backoffLimitCount: 2", "backoffLimitCount: 0")),
        "kueue-configuration",
    ),
    Mistake(
        "requeue-stamp",
        "jobs are queued again by a time that Kueue has not",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "timestamp: Eviction", "timestamp: Requeue")),
        "refusal:kueue-configuration",
    ),
    Mistake(
        "metrics-port",
        "Kueue tells its figures on the port of its health",
        edit(RELEASE, QUEUES, said(CONFIGURATION, "bindAddress: :8443", "bindAddress: :8081")),
        "charts-port",
    ),
    # Runtimes and jobs
    Mistake(
        "nodes-of-runtime",
        "a runtime starts no node unless a job says how many",
        edit(RUNTIME, TRAIN, put("spec.mlPolicy.numNodes", 0)),
        "reference-runtime-policy",
    ),
    Mistake(
        "two-policies",
        "a runtime is of two frameworks",
        edit(RUNTIME, TRAIN, put("spec.mlPolicy.mpi", {"mpiImplementation": "OpenMPI"})),
        "reference-runtime-policy",
    ),
    Mistake(
        "replicas-of-job",
        "the job in a runtime is made twice, and each rank meets its double",
        edit(RUNTIME, TRAIN, put("spec.template.spec.replicatedJobs[0].replicas", 2)),
        "reference-runtime-policy",
    ),
    Mistake(
        "no-backoff",
        "a runtime's job starts pods again by itself, and ranks meet those of before",
        edit(RUNTIME, TRAIN, put("spec.template.spec.replicatedJobs[0].template.spec.backoffLimit", 6)),
        None,
        why="a launcher may take a rank back that its Job makes anew, and some jobs are made so on purpose",
    ),
    Mistake(
        "gpu-fraction",
        "a runtime asks for half a GPU",
        edit(
            RUNTIME,
            TRAIN,
            runtime(lambda spec: spec["containers"][0]["resources"]["limits"].update({"nvidia.com/gpu": "0.5"})),
        ),
        "refusal:k8s-resources",
    ),
    Mistake(
        "gpu-request",
        "a job asks for four GPUs and may have eight",
        edit(JOB, "smoke-train-spot-job", put(f"{FIRST}.resources.requests.nvidia~com/gpu", "4")),
        "refusal:k8s-resources",
    ),
    Mistake(
        "finished",
        "a job is cleared away as it ends, before anybody reads how",
        edit(JOB, "smoke-train-spot-job", put("spec.ttlSecondsAfterFinished", 0)),
        "programs-never",
    ),
    Mistake(
        "host-name",
        "a pod of a job is told a name that resolves to nothing",
        edit(JOB, "smoke-train-spot-job", put(f"{POD}.setHostnameAsFQDN", True), put(f"{POD}.subdomain", DROP)),
        "reference-subdomain",
    ),
    Mistake(
        "dns-policy",
        "the server asks the node for names, which knows none of the cluster's",
        edit(DEPLOYMENT, SERVER, put(f"{POD}.dnsPolicy", "Default")),
        None,
        why="the server asks for names of the cloud alone, and the way to a node's name server is none of the flows",
    ),
    # Volumes
    Mistake(
        "projected",
        "a projected file is put elsewhere than it is read",
        edit(CRON_JOB, "checkpoint-check-vision-checkpoint-check", said("spec", "drill.look.py", "drill.check.py")),
        "reference-key",
    ),
    Mistake(
        "access-point",
        "a team's home is another team's access point",
        edit(VOLUME, "volumes-foundation-home-volume", put("spec.csi.volumeHandle", "fs-a6ba352e07a15051b")),
        "rights-volume",
        stack=LARGE,
    ),
    Mistake(
        "efs-no-tls",
        "a home that asks for IAM is mounted without TLS",
        edit(
            VOLUME,
            "volumes-foundation-home-volume",
            put("spec.mountOptions", ["iam"]),
            put("spec.csi.volumeAttributes", {"encryptInTransit": "false"}),
        ),
        "programs-mount",
        stack=LARGE,
    ),
    Mistake(
        "rolling-claim",
        "a deployment with a disk of one node starts its next pod before the last is gone",
        both(
            added(
                "core/v1:PersistentVolumeClaim",
                "idle",
                {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "trainyard-gp3",
                        "resources": {"requests": {"storage": "1Gi"}},
                    }
                },
                "kueue-system",
            ),
            edit(
                DEPLOYMENT,
                "kueue-idle-deployment",
                put("spec.strategy", {"type": "RollingUpdate"}),
                put(f"{POD}.volumes[1]", {"name": "tmp", "persistentVolumeClaim": {"claimName": "idle"}}),
            ),
        ),
        "programs-pod-disk",
    ),
    Mistake(
        "scratch",
        "a container keeps more on its node than it may",
        edit(JOB, "smoke-train-spot-job", put(f"{POD}.volumes[2].emptyDir.sizeLimit", "40Gi")),
        "programs-pod-disk",
    ),
    Mistake(
        "fuse-folder",
        "a bucket's folder is named as a path of the file system",
        edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.mountOptions[1]", "only-dir=/teams/vision")),
        "reference-team-folder",
        stack="demo-gcp",
    ),
    # Network, proxy, server
    Mistake(
        "service-port-name",
        "two ports of a service have no names",
        edit(
            SERVICE,
            "mlflow-service",
            put("spec.ports", [{"port": 5000, "targetPort": "https"}, {"port": 9102, "targetPort": "metrics"}]),
        ),
        "refusal:k8s-port-name",
    ),
    Mistake(
        "headless",
        "ranks are told to others only once they are ready, and wait for each other before",
        edit(SERVICE, "smoke-train-spot-ranks", put("spec.publishNotReadyAddresses", False)),
        None,
        why="the ranks have no readiness probe: they are ready as they run",
    ),
    Mistake(
        "proxy-names",
        "the proxy may ask no name server",
        edit(
            WALL,
            "egress-allow-platform",
            put(
                "spec.egress",
                [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"protocol": "TCP", "port": 443}]}],
            ),
        ),
        "flows-names",
    ),
    Mistake(
        "domain-path",
        "the proxy's list holds an address instead of a name",
        edit(CONFIG_MAP, "egress-configuration", said(SQUID, "dstdomain -n pypi.org", "dstdomain -n https://pypi.org")),
        "programs-squid",
    ),
    Mistake(
        "no-proxy",
        "the inside is asked by way of the proxy, because of a star",
        edit(CONFIG_MAP, "egress-clients-vision", said("data", ".svc,.svc.cluster.local", "*.svc.cluster.local")),
        "programs-proxy",
    ),
    Mistake(
        "recycle",
        "connections are kept for ever, and the network forgets them",
        edit(DEPLOYMENT, SERVER, server_env("MLFLOW_SQLALCHEMYSTORE_POOL_RECYCLE", "-1")),
        None,
        why="a connection may be tried before it is used, and nothing recorded says so",
    ),
    Mistake(
        "artifacts-alone",
        "the server passes artifacts on and is not told where they are",
        edit(DEPLOYMENT, SERVER, said("spec", "--artifacts-destination=", "--default-artifact-root=")),
        None,
        why="clients may have rights on the bucket themselves, to which they are sent then",
    ),
    Mistake(
        "http-probe",
        "the server's probe asks without TLS",
        edit(
            DEPLOYMENT, SERVER, container("server", lambda one: one["readinessProbe"]["httpGet"].update(scheme="HTTP"))
        ),
        "reference-probe-scheme",
    ),
    # Admission, quotas, monitoring
    Mistake(
        "warn-only",
        "a guard's binding looks at the teams' label under another key",
        edit(
            BINDING,
            "kueue-end-guard-binding",
            put(
                "spec.matchResources.namespaceSelector",
                {"matchExpressions": [{"key": "ml.platform/teams", "operator": "Exists"}]},
            ),
        ),
        "reference-namespace-selects-nothing",
    ),
    Mistake(
        "guard-version",
        "a guard looks at a version of jobs that is served no more",
        edit(ADMISSION, "kueue-jobs-guard", put("spec.matchConstraints.resourceRules[0].apiVersions", ["v1beta1"])),
        "policy:gpus-past-the-queue",
    ),
    Mistake(
        "guard-plural",
        "a guard looks at a resource by the name of its kind",
        edit(ADMISSION, "kueue-jobsets-guard", put("spec.matchConstraints.resourceRules[0].resources", ["JobSet"])),
        "reference-admission-rule",
    ),
    Mistake(
        "pods-quota",
        "a team's quota has room for three pods, and a job has more",
        edit(QUOTA, "teams-vision-quota", put("spec.hard.pods", "1")),
        "refusal:kueue-namespace-quota",
    ),
    Mistake(
        "quota-name",
        "a quota counts GPUs under a name that quotas do not know",
        edit(QUOTA, "ingest-quota", put("spec.hard.nvidia~com/gpu", "0")),
        "refusal:k8s-quota-resource",
    ),
    Mistake(
        "group-wait",
        "alerts are grouped by a label that none has",
        values(STACK, "alertmanager.config.route.group_by", ["alert_name", "namespace"]),
        "reference-alert-label",
    ),
    Mistake(
        "retention-size",
        "Prometheus forgets after three days, and reports look back a month",
        values(STACK, "prometheus.prometheusSpec.retention", "3d"),
        "policy:figures-shorter-than-a-month",
    ),
    Mistake(
        "sns-region",
        "alerts are signed for another region than the topic's",
        values(STACK, "alertmanager.config.receivers[1].sns_configs[0].sigv4.region", "eu-west-1"),
        "programs-topic",
    ),
    Mistake(
        "grafana-proxy",
        "Grafana looks for the folder of dashboards under another key than they have",
        values(STACK, "grafana.sidecar.dashboards.folderAnnotation", "grafana-folder"),
        "reference-sidecar",
    ),
    Mistake(
        "metric-relabel",
        "the exporter's figures lose the label that rules ask for",
        edit(
            "kubernetes:monitoring.coreos.com/v1:PodMonitor",
            "monitoring-gpus",
            put("spec.podMetricsEndpoints[0].honorLabels", False),
        ),
        None,
        why="the monitor drops the target's own labels first, so that none is renamed",
    ),
    # Notebooks
    Mistake(
        "hub-cores",
        "a notebook asks for more cores than its nodes have",
        edit(RELEASE, HUB, put("values.singleuser.profileList[1].kubespawner_override.cpu_guarantee", 400)),
        "placement-no-node",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-zone",
        "notebooks' disks are in a zone that the nodes are not in",
        edit(
            RELEASE,
            HUB,
            put("values.singleuser.extraNodeAffinity.required[0].matchExpressions[0].values", ["us-east-1f"]),
        ),
        "placement-no-node",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-toleration",
        "a notebook with a GPU does not tolerate the GPU nodes",
        edit(RELEASE, HUB, put("values.singleuser.profileList[1].kubespawner_override.tolerations", [])),
        "placement-no-node",
        stack=NOTEBOOKS,
    ),
    Mistake(
        "hub-puller",
        "the puller of images waits for nodes that begin at none",
        edit(RELEASE, HUB, put("values.prePuller.hook.enabled", True)),
        "flows-api",
        stack=NOTEBOOKS,
    ),
]
