"""What is accepted, runs, and does nothing of what it is there for: nobody is told, and nobody notices at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import Change, Mistake, added, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_told import DEPLOYMENT, JOB, LOGS, PROXY, RELEASE, RUNTIME
from tests.rehearsal.works.mistakes_watched import RULE, worded

CRON = "kubernetes:batch/v1:CronJob"
VOLUME = "kubernetes:core/v1:PersistentVolume"
SERVICE = "kubernetes:core/v1:Service"
CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
POD_MONITOR = "kubernetes:monitoring.coreos.com/v1:PodMonitor"
SERVICE_MONITOR = "kubernetes:monitoring.coreos.com/v1:ServiceMonitor"
BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
ADD_ON = "aws:eks/addon:Addon"
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
FILTER = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
TARGET = "aws:cloudwatch/eventTarget:EventTarget"
SUBSCRIPTION = "aws:sns/topicSubscription:TopicSubscription"
DATABASE = "aws:rds/instance:Instance"
LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
SQL = "gcp:sql/databaseInstance:DatabaseInstance"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
POD = "spec.template.spec"
TRACKING, SMOKE, SUBSCRIBED = "mlflow-deployment", "smoke-train-spot-job", "security-ml-platform@acme.example"


def of_type(type_: str, **given: Any) -> Change:
    """Gives inputs to every resource of a type."""
    return lambda resources: [
        replace(one, inputs={**one.inputs, **given}) if one.type == type_ and one.custom else one for one in resources
    ]


def scaled_by(metric: dict[str, Any]) -> Change:
    """An autoscaler of the tracking server that goes by one metric."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "mlflow"}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4, "metrics": [metric]}
    return added("autoscaling/v2:HorizontalPodAutoscaler", "mlflow", {"spec": spec}, "mlflow")


def told_by_json(name: str, **given: Any) -> Change:
    """Changes what the smoke job is told of itself."""
    return edit(JOB, name, lambda one: _rewrite(one["spec"]["template"]["spec"]["containers"][0]["env"][0], given))


def _rewrite(entry: dict[str, Any], given: dict[str, Any]) -> None:
    in_json("value", lambda held: held.update(given))(entry)


def worded_handle(inputs: dict[str, Any]) -> None:
    """Gives the name of a volume's bucket a letter more."""
    held = inputs["spec"]["csi"]
    held["volumeHandle"] = held["volumeHandle"].replace("-data", "-datas")


def _variable(name: str, value: str) -> Change:
    def into(inputs: dict[str, Any]) -> None:
        for one in inputs["spec"]["template"]["spec"]["containers"][0]["env"]:
            if one["name"] == name:
                one["value"] = value

    return edit(JOB, SMOKE, into)


SWITCHED_OFF = [
    Mistake("trail", "the trail is made and not started",
            edit("aws:cloudtrail/trail:Trail", "acme-demo-trail-trail", put("enableLogging", False)),
            "programs-switched-off"),
    Mistake("rule", "the rule on findings is off", edit(RULE, "security-findings", put("state", "DISABLED")),
            "programs-switched-off"),
    Mistake("detector", "GuardDuty's detector is off",
            edit("aws:guardduty/detector:Detector", "threat-detection-detector", put("enable", False)),
            "programs-switched-off"),
    Mistake("actions", "the silence alarm has its actions off",
            edit(ALARM, "watchdog-silent", put("actionsEnabled", False)), "programs-switched-off"),
    Mistake("cron", "the drill is suspended", edit(CRON, "checkpoint-drill-job", put("spec.suspend", True)),
            "programs-switched-off"),
    Mistake("queue", "a team's queue is held",
            edit("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", "kueue-cluster-queue-language",
                 put("spec.stopPolicy", "Hold")), "programs-switched-off"),
    Mistake("channel", "the channel of alerts is off",
            edit("gcp:monitoring/notificationChannel:NotificationChannel", "alert-policies-ml-platform@acme.example",
                 put("enabled", False)), "programs-switched-off", stack="demo-gcp"),
    Mistake("alert", "the alert on silence is off", edit(POLICY, "alert-policies-silent", put("enabled", False)),
            "programs-switched-off", stack="demo-gcp"),
    Mistake("sink", "the sink of the record is off",
            edit("gcp:logging/projectSink:ProjectSink", "record-sink", put("disabled", True)),
            "programs-switched-off", stack="demo-gcp"),
    Mistake("stopped", "the database is never started",
            edit(SQL, "acme-demo-gcp-mlflow", put("settings.activationPolicy", "NEVER")),
            "programs-switched-off", stack="demo-gcp"),
    Mistake("no-version", "the key of the checkpoints has no version",
            edit("gcp:kms/cryptoKey:CryptoKey", "acme-demo-gcp-checkpoints", put("skipInitialVersionCreation", True)),
            "programs-switched-off", stack="demo-gcp"),
]  # fmt: skip
NEVER = [
    Mistake("parallelism", "no pod of the job may run", edit(JOB, SMOKE, put("spec.parallelism", 0)), "programs-never"),
    Mistake("gone", "the job is deleted as it ends", edit(JOB, SMOKE, put("spec.ttlSecondsAfterFinished", 0)),
            "programs-never"),
    Mistake("no-pod", "a runtime has no pod",
            edit(RUNTIME, "runtimes-torch-train", put("spec.template.spec.replicatedJobs[0].replicas", 0)),
            "programs-never"),
    Mistake("nobody", "the tracking server has no pod", edit(DEPLOYMENT, TRACKING, put("spec.replicas", 0)),
            "programs-never"),
    Mistake("ready-for", "a pod is to be ready longer than a rollout may take",
            edit(DEPLOYMENT, TRACKING, put("spec.minReadySeconds", 890)), "programs-deadline"),
    Mistake("quick", "the users' container has a second to start",
            edit(DEPLOYMENT, TRACKING, put(f"{POD}.containers[1].startupProbe.failureThreshold", 1),
                 put(f"{POD}.containers[1].startupProbe.periodSeconds", 1)), "programs-deadline"),
    Mistake("never-pulled", "the image is never pulled", edit(JOB, SMOKE, put(f"{POD}.containers[0].imagePullPolicy",
            "Never")), "programs-never"),
    Mistake("names", "the keeper asks the node's name server",
            edit(DEPLOYMENT, "kueue-idle-deployment", put(f"{POD}.dnsPolicy", "Default")), "programs-never"),
    Mistake("gate", "a readiness gate that nobody opens",
            edit(DEPLOYMENT, TRACKING, put(f"{POD}.readinessGates", [{"conditionType": "acme.example/warm"}])),
            "programs-never"),
    Mistake("local", "callers reach the tracking server of their own node alone",
            edit(SERVICE, "mlflow-service", put("spec.internalTrafficPolicy", "Local")), "programs-never"),
    Mistake("one-look", "the keeper looks every two hours for 45 idle minutes",
            worded("kueue-idle-deployment", '"sample_seconds": 30', '"sample_seconds": 7200'), "programs-never"),
]  # fmt: skip
RANKS = [
    Mistake("ranks", "the program waits for four nodes of two", told_by_json(SMOKE, nodes=4), "programs-gang"),
    Mistake("processes", "sixteen processes on eight GPUs", told_by_json(SMOKE, nproc_per_node=16), "programs-gang"),
    Mistake("head", "the first rank is sought under the job's short name",
            told_by_json(SMOKE, head="smoke-train-spot-0.smoke-train-spot"), "programs-gang"),
    Mistake("plugin", "NCCL is told of a plug-in that has one letter more",
            _variable("NCCL_NET", "AWS Libfabrics"), "programs-interface"),
    Mistake("fabric", "libfabric is told efa, and the container has no adapter",
            edit(JOB, SMOKE, lambda one: [
                one["spec"]["template"]["spec"]["containers"][0]["resources"][key].pop("vpc.amazonaws.com/efa")
                for key in ("requests", "limits")]), "programs-interface"),
    Mistake("probed", "a probe runs a module that is not there",
            edit(DEPLOYMENT, "kueue-idle-deployment", put(f"{POD}.containers[0].readinessProbe.exec.command",
                 ["python", "-m", "keepers.heart"])), "programs-module"),
    Mistake("no-json", "a keeper's configuration lost a comma",
            worded("kueue-idle-deployment", '"busy_from": 0.02, ', '"busy_from": 0.02 '), "programs-never"),
    Mistake("resource", "a keeper looks for nvidia.com/gpus",
            worded("kueue-idle-deployment", '"nvidia.com/gpu"', '"nvidia.com/gpus"'), "programs-never"),
    Mistake("proxy-tls", "the proxy is asked with TLS",
            worded("runtimes-torch-train", "http://egress-proxy", "https://egress-proxy"), "programs-proxy"),
    Mistake("logs-of", "logs of a namespace that is misspelt are read",
            worded(LOGS, "*_team-language_*", "*_team-langauge_*"), "programs-fluent-bit"),
    Mistake("logs-place", "the collector keeps its place where nothing is mounted",
            worded(LOGS, "/state/tail.db", "/states/tail.db"), "programs-fluent-bit"),
    Mistake("logs-match", "an output matches kube.*, as in a tutorial", worded(LOGS, "Match *", "Match kube.*"),
            "programs-fluent-bit"),
    Mistake("region", "the job asks another region", _variable("AWS_REGION", "us-west-2"), "programs-region"),
    Mistake("gates", "a feature of the queue manager has a letter twice",
            worded("kueue-release", "fairSharing:", "featureGates:\n  TopologyAwareSchedulling: true\nfairSharing:"),
            "kueue-configuration"),
    Mistake("once", "a job whose pods were late never comes back",
            worded("kueue-release", "backoffLimitCount: 2", "backoffLimitCount: 0"), "kueue-configuration"),
]  # fmt: skip
PLACES = [
    Mistake("password", "a password is looked for under another name",
            worded(TRACKING, "/etc/mlflow/auth/server-password", "/etc/mlflow/auth/server-passwd"), "reference-file"),
    Mistake("above", "a configuration is looked for in the folder above",
            worded(TRACKING, "/etc/mlflow/auth/basic_auth.ini", "/etc/mlflow/basic_auth.ini"), "reference-file"),
    Mistake("elsewhere", "a password is looked for in another folder of that name",
            edit(DEPLOYMENT, TRACKING, put(f"{POD}.containers[0].command[4]",
                 "PGPASSWORD=/run/auth/server-password")), "reference-file"),
    Mistake("unread", "the proxy reads the configuration of its image",
            edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.containers[0].command[5]", "/etc/squid/squid.conf")),
            "reference-file"),
    Mistake("root-folder", "checkpoints are looked for in /checkpoint",
            edit(CRON, "checkpoint-check-vision-checkpoint-check", put(
                "spec.jobTemplate.spec.template.spec.containers[0].command[3]", "/checkpoint")), "reference-file"),
    Mistake("heartbeat", "a keeper notes its rounds where it may not write",
            edit(DEPLOYMENT, "kueue-idle-deployment",
                 lambda one: one["spec"]["template"]["spec"]["containers"][0]["volumeMounts"].pop(1)),
            "programs-read-only"),
    Mistake("over-all", "a volume is mounted over the whole image",
            edit(JOB, SMOKE, put(f"{POD}.containers[0].volumeMounts[2].mountPath", "/")), "reference-mount"),
    Mistake("iops", "a gp3 of 100 IOPS", edit(CLASS, "blocks-class", put("parameters.iops", "100")),
            "programs-storage-class"),
    Mistake("fstype", "disks are formatted as ext5",
            edit(CLASS, "blocks-class", put("parameters.csi~storage~k8s~io/fstype", "ext5")), "programs-storage-class"),
    Mistake("reclaim", "a volume of a bucket goes with its claim",
            edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.persistentVolumeReclaimPolicy", "Delete")),
            "programs-volume"),
    Mistake("read-only", "checkpoints are mounted to read", edit(VOLUME, "volumes-vision-checkpoints-volume",
            put("spec.mountOptions", ["region us-east-1", "prefix teams/vision/", "read-only"])), "programs-volume"),
    Mistake("archived", "data goes to Glacier after a month",
            edit("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "acme-demo-data-lifecycle",
                 put("rules[3]", {"id": "cold", "status": "Enabled", "filter": {"prefix": ""},
                                  "transitions": [{"days": 30, "storageClass": "GLACIER"}]})), "programs-kept"),
    Mistake("not-beside", "nobody asks for the program that mounts a bucket",
            edit(JOB, SMOKE, put("spec.template.metadata.annotations", {})), "programs-bucket-mount", stack="demo-gcp"),
    Mistake("handle", "a volume shows a bucket that is called otherwise",
            edit(VOLUME, "volumes-vision-data-volume", worded_handle), "programs-bucket-mount", stack="demo-gcp"),
    Mistake("owner", "a team's folder belongs to root",
            edit("aws:efs/accessPoint:AccessPoint", "globex-production-shared-home-foundation",
                 put("rootDirectory.creationInfo", {"ownerUid": 0, "ownerGid": 0, "permissions": "0700"})),
            "programs-mount", stack="large-aws"),
    Mistake("link", "the link to the bucket names a folder with one letter more",
            edit(LINK, "globex-production-lustre-data",
                 put("dataRepositoryPath", "s3://globex-production-data-660a81c/datas/")),
            "programs-directory", stack="large-aws"),
    Mistake("cache", "the rule of a cache has another prefix than images",
            edit("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "images-globex-production-k8s",
                 put("ecrRepositoryPrefix", "globex-prod/k8s")), "programs-cached-image", stack="large-aws"),
    Mistake("grows", "storage of 50 GiB may grow to 52", edit(DATABASE, "acme-demo-mlflow",
            put("maxAllocatedStorage", 52)), "machines-database-storage"),
    Mistake("certified", "the database asks for a certificate that nobody has",
            edit(SQL, "acme-demo-gcp-mlflow",
                 put("settings.ipConfiguration.sslMode", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED")),
            "programs-database", stack="demo-gcp"),
    Mistake("log-kind", "a log group is called postgres",
            worded("acme-demo-mlflow-log-postgresql", "/postgresql", "/postgres"), "reference-log-group"),
]  # fmt: skip
SEEN = [
    Mistake("annotated", "the annotation names a port that the pod has not",
            edit(DEPLOYMENT, TRACKING, put("spec.template.metadata.annotations.prometheus~io/port", "9103")),
            "reference-monitor-port"),
    Mistake("charted", "a chart's pods are annotated with another port",
            edit(RELEASE, "autoscaler-release", put("values.podAnnotations.prometheus~io/port", "8086")),
            "reference-monitor-port"),
    Mistake("path", "metrics are asked at /metric",
            edit(POD_MONITOR, "monitoring-tracking", put("spec.podMetricsEndpoints[0].path", "/metric")),
            "reference-monitor-path"),
    Mistake("other-key", "the exporter's pods are meant by app",
            edit(POD_MONITOR, "monitoring-gpus", put("spec.selector.matchLabels", {"app": "dcgm-exporter"})),
            "reference-monitor-selects-nothing"),
    Mistake("chart-port", "Kueue's port of metrics is called metrics",
            edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].port", "metrics")), "reference-port"),
    Mistake("plain", "Kueue is asked without TLS",
            edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].scheme", "http")),
            "reference-monitor-path"),
    Mistake("kind", "a line of the exporter's list says guage",
            worded("gpu-dcgm-exporter", "DCGM_FI_DEV_GPU_TEMP, gauge", "DCGM_FI_DEV_GPU_TEMP, guage"),
            "programs-exporter"),
    Mistake("urgent", "what is critical is told to nobody",
            edit(RELEASE, "monitoring-release", put("values.alertmanager.config.route.routes[2].receiver", "nobody")),
            "reference-alert-route"),
    Mistake("field", "a metric of logs asks for jsonPayload.state",
            worded("alert-metrics-alerts", "jsonPayload.status", "jsonPayload.state"), "programs-filter",
            stack="demo-gcp"),
    Mistake("extracted", "a label is taken of a field that nobody writes",
            worded("alert-metrics-alerts", "EXTRACT(jsonPayload.summary)", "EXTRACT(jsonPayload.summaries)"),
            "programs-filter", stack="demo-gcp"),
    Mistake("resolved", "a sign of life is one that is resolved",
            worded("alert-metrics-watchdog", 'status="firing"', 'status="resolved"'), "programs-filter",
            stack="demo-gcp"),
    Mistake("workloads", "the cluster sends logs of the system alone",
            edit("gcp:container/cluster:Cluster", "cluster-cluster",
                 put("loggingConfig.enableComponents", ["SYSTEM_COMPONENTS"])), "programs-filter", stack="demo-gcp"),
    Mistake("below-none", "an alert waits for fewer than no entries",
            edit(POLICY, "alert-policies-alerts", put("conditions[0].conditionThreshold.comparison", "COMPARISON_LT")),
            "programs-alert", stack="demo-gcp"),
    Mistake("project", "a budget counts another project", edit("gcp:billing/budget:Budget", "budget-budget",
            put("budgetFilter.projects", ["projects/999999999999"])), "programs-budget", stack="demo-gcp"),
    Mistake("status", "a rule waits for jobs of status Failure", edit(RULE, "managed-jobs-ended",
            in_json("eventPattern", lambda one: one["detail"].update(TrainingJobStatus=["Failure"]))),
            "programs-event", stack="small-aws"),
    Mistake("input-path", "a message takes the job's name from a field that there is not",
            edit(TARGET, "managed-jobs-ended", put("inputTransformer.inputPaths.name", "$.detail.JobName")),
            "programs-event", stack="small-aws"),
    Mistake("counted", "jobs of status Failure are counted",
            edit(FILTER, "managed-jobs-failed", put("pattern", '{ $.detail.TrainingJobStatus = "Failure" }')),
            "programs-event", stack="small-aws"),
    Mistake("measured", "a time is taken from a field that there is not",
            edit(FILTER, "managed-jobs-sent", put("metricTransformation.value", "$.detail.CreationTimes")),
            "programs-event", stack="small-aws"),
    Mistake("space", "a filter writes beside the others",
            edit(FILTER, "managed-jobs-failed", put("metricTransformation.namespace", "Trainyard/initech")),
            "programs-alarm", stack="small-aws"),
    Mistake("no-target", "a rule has no target", drop(TARGET, "managed-jobs-ended"), "programs-event",
            stack="small-aws"),
    Mistake("written", "EventBridge may write for another rule alone",
            worded("managed-jobs-events", "rule/managed-jobs-told", "rule/managed-jobs-ended"), "programs-unheard",
            stack="small-aws"),
    Mistake("no-policy", "nobody lets EventBridge write to a log group",
            drop("aws:cloudwatch/logResourcePolicy:LogResourcePolicy", "managed-jobs-events"), "programs-unheard",
            stack="small-aws"),
    Mistake("subscribed", "nobody is subscribed to findings", drop(SUBSCRIPTION, SUBSCRIBED), "programs-unheard"),
    Mistake("attributes", "a subscription takes messages by an attribute that they have not",
            edit(SUBSCRIPTION, SUBSCRIBED, put("filterPolicy", '{"severity": ["critical"]}')), "programs-unheard"),
    Mistake("silent", "the silence alarm tells nobody when it rings",
            edit(ALARM, "watchdog-silent", put("alarmActions", [])), "programs-unheard"),
    Mistake("recorded-bucket", "the trail records objects of a bucket with one letter less",
            worded("acme-demo-trail-trail", "acme-demo-data-f6c28dc", "acme-demo-dat-f6c28dc"), "programs-bucket"),
]  # fmt: skip
HELD = [
    Mistake("audit", "a guard reports alone",
            edit(BINDING, "kueue-owner-guard-binding", put("spec.validationActions", ["Warn", "Audit"])),
            "programs-guard"),
    Mistake("other-spaces", "a guard is for namespaces that are no team's",
            edit(BINDING, "kueue-gpu-guard-binding",
                 put("spec.matchResources.namespaceSelector.matchExpressions[0].operator", "DoesNotExist")),
            "programs-guard"),
    Mistake("scaled", "the tracking server scales by a metric that nobody serves",
            scaled_by({"type": "Pods", "pods": {"metric": {"name": "http_requests_per_second"},
                                                "target": {"type": "AverageValue", "averageValue": "100"}}}),
            "programs-scaling"),
    Mistake("domains", "pods are to be in five zones of three",
            edit(DEPLOYMENT, "egress-deployment", put("spec.replicas", 4),
                 put(f"{POD}.topologySpreadConstraints[0]",
                     {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
                      "minDomains": 5, "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "egress-proxy"}}})),
            "placement-spread"),
    Mistake("star", "the proxy lets *.hf.co by", worded(PROXY, "dstdomain -n .hf.co", "dstdomain -n *.hf.co"),
            "programs-squid"),
    Mistake("with-port", "the proxy lets pypi.org:443 by",
            worded(PROXY, "dstdomain -n pypi.org", "dstdomain -n pypi.org:443"), "programs-squid"),
    Mistake("half", "pip reads its index and gets no file",
            worded(PROXY, "acl allowed dstdomain -n files.pythonhosted.org\n", ""), "programs-squid"),
    Mistake("due-at-once", "a certificate is due as it is made",
            of_type("tls:index/locallySignedCert:LocallySignedCert", earlyRenewalHours=20000), "programs-certificate"),
    Mistake("authority", "the authority ends before what it signed",
            of_type("tls:index/selfSignedCert:SelfSignedCert", validityPeriodHours=8760), "programs-certificate"),
    Mistake("workers", "the tracking server has no worker", worded(TRACKING, "--workers=4", "--workers=0"),
            "programs-option"),
    Mistake("collector", "a flag of the node exporter has lost a letter",
            edit(RELEASE, "monitoring-release", put("values.prometheus-node-exporter.extraArgs",
                 ["--colector.filesystem.mount-points-exclude=^/x"])), "charts-flag"),
    Mistake("argument", "an argument of Prometheus has lost a letter",
            edit(RELEASE, "monitoring-release", put("values.prometheus.prometheusSpec.additionalArgs",
                 [{"name": "storage.tsdb.retention.tme", "value": "3d"}])), "charts-flag"),
    Mistake("disk-tags", "the driver of disks is told extra-tag",
            edit(ADD_ON, "cluster-aws-ebs-csi-driver", in_json("configurationValues",
                 lambda one: one["controller"].update(additionalArgs=["--extra-tag=a=b"]))), "charts-flag"),
    Mistake("failing-open", "a guard that cannot be evaluated lets by",
            edit("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy", "kueue-gpu-guard",
                 put("spec.failurePolicy", "Ignore")), None, "a guard may be meant not to stand in the way"),
    Mistake("manual", "the brake over the budget waits for somebody",
            edit("aws:budgets/budgetAction:BudgetAction", "managed-over-budget", put("approvalModel", "MANUAL")), None,
            "whether somebody is to approve it is a choice", stack="small-aws"),
]  # fmt: skip
MISTAKES = [*SWITCHED_OFF, *NEVER, *RANKS, *PLACES, *SEEN, *HELD]
