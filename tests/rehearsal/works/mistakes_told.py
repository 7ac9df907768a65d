"""Mistakes in what programs are configured with and wait for: each is taken, and the program ends or is ended."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import DROP, Mistake, edit, in_json, put
from tests.rehearsal.works.mistakes_watched import worded

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
RELEASE = "kubernetes:helm.sh/v3:Release"
JOB = "kubernetes:batch/v1:Job"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
PROXY, LOGS = "egress-configuration", "team-logs-configuration"
PARAMETERS = "aws:rds/parameterGroup:ParameterGroup"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
NODE = "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0]"
SERVER = "spec.template.spec.containers[0]"

MISTAKES = [
    Mistake(
        "squid-directive",
        "http_acess",
        worded(PROXY, "http_access deny !secure", "http_acess deny !secure"),
        "programs-squid",
    ),
    Mistake(
        "squid-list",
        "a list is asked that is not defined",
        worded(PROXY, "deny !secure", "deny !safe"),
        "programs-squid",
    ),
    Mistake(
        "squid-kind",
        "a list of the kind ports",
        worded(PROXY, "acl secure port ", "acl secure ports "),
        "programs-squid",
    ),
    Mistake(
        "squid-order",
        "all are denied before anybody is allowed",
        worded(PROXY, "deny !tunnel", "deny all"),
        "programs-squid",
    ),
    Mistake(
        "squid-nobody",
        "nobody is allowed any more",
        worded(PROXY, "http_access allow tunnel", "http_access deny tunnel"),
        "programs-squid",
    ),
    Mistake("fluent-option", "log_group_nam", worded(LOGS, "log_group_name ", "log_group_nam "), "programs-fluent-bit"),
    Mistake(
        "fluent-input",
        "an option of tail has a letter more",
        worded(LOGS, "Mem_Buf_Limit", "Mem_Buff_Limit"),
        "programs-fluent-bit",
    ),
    Mistake(
        "fluent-plugin",
        "there is no output cloudwatch_log",
        worded(LOGS, "Name cloudwatch_logs", "Name cloudwatch_log"),
        "programs-fluent-bit",
    ),
    Mistake("fluent-section", "[OUTPUTS]", worded(LOGS, "[OUTPUT]", "[OUTPUTS]"), "programs-fluent-bit"),
    Mistake(
        "fluent-parser",
        "a parser of lines that nobody defines",
        worded(LOGS, "multiline.parser cri", "multiline.parser cri-o"),
        "programs-fluent-bit",
    ),
    Mistake(
        "fluent-needs",
        "the output is told no region",
        worded(LOGS, "region us-east-1", "endpoint logs"),
        "programs-fluent-bit",
    ),
    Mistake(
        "startup",
        "the tracking server is killed ten seconds after its start",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{SERVER}.startupProbe.failureThreshold", 2)),
        "programs-deadline",
    ),
    Mistake(
        "liveness",
        "its start-up probe was taken away, its liveness probe is quick",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put(f"{SERVER}.startupProbe", DROP),
            put(f"{SERVER}.livenessProbe.failureThreshold", 1),
        ),
        "programs-deadline",
    ),
    Mistake(
        "job-deadline",
        "a job from zero nodes is ended after two minutes",
        edit(JOB, "smoke-train-spot-job", put("spec.activeDeadlineSeconds", 120)),
        "programs-deadline",
    ),
    Mistake(
        "job-own-deadline",
        "a job is ended before its own limit is over",
        edit(JOB, "smoke-train-spot-job", put("spec.activeDeadlineSeconds", 2400)),
        "programs-deadline",
    ),
    Mistake(
        "helm",
        "a release is given up after 15 s",
        edit(RELEASE, "monitoring-release", put("timeout", 15)),
        "programs-deadline",
    ),
    Mistake(
        "provision",
        "the autoscaler gives a node up after 90 s",
        edit(RELEASE, "autoscaler-release", put("values.extraArgs.max-node-provision-time", "90s")),
        "programs-deadline",
    ),
    Mistake(
        "recovery",
        "Kueue waits ten seconds for a pod's successor",
        worded("kueue-release", "recoveryTimeout: 20m", "recoveryTimeout: 10s"),
        "programs-deadline",
    ),
    Mistake(
        "progress",
        "a rollout is called failed after twenty seconds",
        edit(DEPLOYMENT, "mlflow-deployment", put("spec.progressDeadlineSeconds", 20)),
        "programs-deadline",
    ),
    Mistake(
        "checkpoint",
        "a job that is evicted gets two seconds",
        edit(RUNTIME, "runtimes-torch-train", put(NODE.rpartition(".")[0] + ".terminationGracePeriodSeconds", 2)),
        "programs-deadline",
    ),
    Mistake(
        "agent",
        "torchrun waits as long as its pod has",
        worded("runtimes-torch-train", "100", "120"),
        "programs-deadline",
    ),
    Mistake(
        "connections",
        "a hundred connections for two servers of four workers, with three pools each",
        edit(
            PARAMETERS,
            "acme-demo-mlflow-parameters",
            put("parameters[5]", {"name": "max_connections", "value": "100", "applyMethod": "pending-reboot"}),
        ),
        "programs-connections",
    ),
    Mistake(
        "retention",
        "Prometheus keeps more than its disk holds",
        worded("monitoring-release", "45GiB", "80GiB"),
        "programs-retention",
    ),
    Mistake(
        "shared-memory",
        "64 MiB of shared memory for eight GPUs",
        edit(
            RUNTIME,
            "runtimes-torch-train",
            put(
                NODE.rpartition(".")[0] + ".volumes[0]",
                {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
            ),
        ),
        "programs-shared-memory",
    ),
    Mistake(
        "python-path",
        "Python looks for a keeper where none is mounted",
        edit(DEPLOYMENT, "kueue-proofs-deployment", put(f"{SERVER}.env[1].value", "/program")),
        "programs-module",
    ),
    Mistake(
        "python-module",
        "a module has lost its last letter",
        edit(DEPLOYMENT, "kueue-proofs-deployment", put(f"{SERVER}.command[2]", "keepers.proof")),
        "programs-module",
    ),
    Mistake(
        "no-proxy",
        "the cluster's own services are asked through the proxy",
        worded("runtimes-torch-train", ",.svc,.svc.cluster.local", ""),
        "programs-proxy",
    ),
    Mistake(
        "image-cpu",
        "a job on GPUs has the image without CUDA",
        worded("smoke-train-spot-job", "2.7.1-gpu-py312-cu128", "2.7.1-cpu-py312"),
        "programs-image",
    ),
    Mistake(
        "interface",
        "NCCL is told eth1",
        edit(RUNTIME, "runtimes-torch-train", put(f"{NODE}.env[9]", {"name": "NCCL_SOCKET_IFNAME", "value": "eth1"})),
        "programs-interface",
    ),
    Mistake(
        "scheme",
        "a team asks the tracking server without TLS",
        worded("mlflow-credentials-vision", "https://", "http://"),
        "programs-scheme",
    ),
    Mistake(
        "hosts",
        "the tracking server does not take its own name",
        worded("mlflow-deployment", "--allowed-hosts=", "--allowed-hosts=tracking.acme.example,x"),
        "programs-host",
    ),
    Mistake(
        "address",
        "the keeper of budgets asks Prometheus on 9091",
        worded("kueue-budgets-deployment", "svc:9090", "svc:9091"),
        "programs-address",
    ),
    Mistake(
        "group",
        "a keeper knows a group by a name that it never had",
        worded("kueue-keeper-deployment", "eks-gpu-nodes-train-reserved-", "eks-gpu-nodes-train-reserve-"),
        "programs-group",
    ),
    Mistake(
        "priorities",
        "a priority of the autoscaler is met by no group",
        worded("autoscaler-release", "^eks-gpu-nodes-train-reserved-", "^eks-gpu-nodes-train-reserve-"),
        "programs-group",
    ),
    Mistake(
        "kept",
        "checkpoints are gone after a day",
        edit(
            LIFECYCLE,
            "acme-demo-checkpoints-lifecycle",
            put("rules[4]", {"id": "tidy", "status": "Enabled", "filter": {"prefix": ""}, "expiration": {"days": 1}}),
        ),
        "programs-kept",
    ),
    Mistake(
        "kept-gcp",
        "checkpoints on Google Cloud are gone after a day",
        edit(
            "gcp:storage/bucket:Bucket",
            "acme-demo-gcp-checkpoints",
            put("lifecycleRules[3]", {"action": {"type": "Delete"}, "condition": {"age": 1, "withState": "LIVE"}}),
        ),
        "programs-kept",
        stack="demo-gcp",
    ),
    Mistake(
        "database-network",
        "the database has its address in another network",
        worded("acme-demo-gcp-mlflow", "networks/network-vpc", "networks/default"),
        "programs-database-network",
        stack="demo-gcp",
    ),
    Mistake(
        "mount",
        "a file system is mounted with iam and without TLS",
        edit(
            "kubernetes:core/v1:PersistentVolume",
            "volumes-foundation-home-volume",
            put("spec.csi.volumeAttributes", {"encryptInTransit": "false"}),
        ),
        "programs-mount",
        stack="large-aws",
    ),
    Mistake(
        "add-on-flag",
        "a flag of metrics-server has lost a letter",
        edit(
            "aws:eks/addon:Addon",
            "cluster-metrics-server",
            in_json(
                "configurationValues", lambda one: one.update(args=["--kubelet-prefered-address-types=InternalIP"])
            ),
        ),
        "charts-flag",
    ),
    Mistake(
        "autoscaler-flag",
        "the autoscaler has no such flag",
        edit(RELEASE, "autoscaler-release", put("values.extraArgs.scale-down-everything", "true")),
        "charts-flag",
    ),
    Mistake(
        "library",
        "the database is to load pgaudits",
        edit(
            PARAMETERS,
            "acme-demo-mlflow-parameters",
            put(
                "parameters[5]",
                {"name": "shared_preload_libraries", "value": "pgaudits", "applyMethod": "pending-reboot"},
            ),
        ),
        "machines-parameter",
    ),
    Mistake(
        "class-key",
        "the class of disks names a key of another region",
        worded("blocks-class", "arn:aws:kms:us-east-1", "arn:aws:kms:us-west-2"),
        "reference-key-region",
    ),
    Mistake(
        "slow-registry",
        "an image is pulled from a registry of another region",
        worded("gpu-aws-efa-k8s-device-plugin", "ecr.us-east-1", "ecr.us-west-2"),
        None,
        "it is pulled, more slowly",
    ),
    Mistake(
        "binds-at-once",
        "a class of disks binds at once, in a cluster of three zones",
        edit("kubernetes:storage.k8s.io/v1:StorageClass", "blocks-class", put("volumeBindingMode", "Immediate")),
        "programs-storage-class",
    ),
    Mistake(
        "health",
        "the tracking server is asked for /healthz",
        worded("mlflow-deployment", "/health", "/healthz"),
        "programs-health",
    ),
    Mistake(
        "fluent-folder",
        "logs are read from a folder that is not mounted",
        worded(LOGS, "/var/log/containers", "/var/logs/containers"),
        "programs-fluent-bit",
    ),
    Mistake(
        "gang",
        "three ranks of which two run at once",
        edit(JOB, "smoke-train-spot-job", put("spec.completions", 3)),
        "programs-gang",
    ),
    Mistake(
        "cloud-sql-port",
        "the tracking server asks Cloud SQL on another port",
        worded("mlflow-deployment", ":5432/", ":5433/"),
        "programs-database",
        stack="demo-gcp",
    ),
    Mistake(
        "no-priorities",
        "the autoscaler is to go by priorities, and has none",
        edit(RELEASE, "autoscaler-release", put("values.expanderPriorities", DROP)),
        "programs-group",
    ),
    Mistake(
        "add-on-unit",
        "a duration of metrics-server has no unit",
        edit(
            "aws:eks/addon:Addon",
            "cluster-metrics-server",
            in_json("configurationValues", lambda one: one.update(args=["--metric-resolution=15"])),
        ),
        "charts-flag",
    ),
    Mistake(
        "other-name",
        "the proxy lets another domain by",
        worded(PROXY, "dstdomain -n pypi.org", "dstdomain -n pypi.com"),
        "programs-squid",
    ),
    Mistake(
        "idle-at-once",
        "the keeper calls a GPU idle at once",
        worded("kueue-idle-deployment", '"idle_seconds": 2700', '"idle_seconds": 0'),
        "programs-never",
    ),
]
