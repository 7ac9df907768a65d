"""Forty-four mistakes in references, flows, rights and paths of our clusters, on both clouds, written before any rule
was read: sixteen that are refused, twenty-eight that are taken.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.mistakes import Change, Mistake, Recorded, edit, in_json, put
from tests.rehearsal.works.mistakes_k8s_first import (
    ADMISSION,
    BINDING,
    CLUSTER_ROLE,
    CONFIG_MAP,
    CRON_JOB,
    DAEMONS,
    DEPLOYMENT,
    JOB,
    LIMITS,
    POD,
    POD_MONITOR,
    QUOTA,
    RELEASE,
    ROLE_BINDING,
    RULES,
    RUNTIME,
    STACK,
    VOLUME,
    WALL,
    said,
    values,
)

ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
FIREWALL = "gcp:compute/firewall:Firewall"
RECORDS = "gcp:dns/recordSet:RecordSet"
FILES = "gcp:filestore/instance:Instance"
CHECK, DRILL, SERVER = "checkpoint-check-vision-checkpoint-check", "checkpoint-drill-job", "mlflow-deployment"
DATA = "projects/_/buckets/northwind-production-data-d04bb20c/objects"


def of_argument(start: str, old: str, new: str) -> Any:
    """Another text in every argument of a pod's command that begins so."""

    def into(inputs: dict[str, Any]) -> None:
        for container in inputs["spec"]["template"]["spec"]["containers"]:
            command = container.get("command", [])
            command[:] = [word.replace(old, new) if word.startswith(start) else word for word in command]

    return into


def by_tls(inputs: dict[str, Any]) -> None:
    """The proxy of a runtime's jobs is asked with TLS."""
    for job in inputs["spec"]["template"]["spec"]["replicatedJobs"]:
        for container in job["template"]["spec"]["template"]["spec"]["containers"]:
            for one in container["env"]:
                if one["name"].lower() == "https_proxy":
                    one["value"] = one["value"].replace("http://", "https://")


def as_volume(name: str, other: str) -> Change:
    """A volume with the handle of another."""

    def change(resources: Recorded) -> list[Any]:
        found = next(one for one in resources if (one.type, one.name) == (VOLUME, other))
        handle = dict(found.inputs)["spec"]["csi"]["volumeHandle"]
        return edit(VOLUME, name, put("spec.csi.volumeHandle", handle))(resources)

    return change


REFUSED = [
    Mistake("range-of-ports", "a range of ports ends before it begins",
            edit(WALL, "monitoring-allow-prometheus", put("spec.egress[3].ports[1].endPort", 9000)),
            "refusal:k8s-port"),
    Mistake("deny-and-warn", "a binding denies and warns",
            edit(BINDING, "teams-pods-images-binding", put("spec.validationActions", ["Deny", "Warn"])),
            "refusal:k8s-validation-actions"),
    Mistake("account-of-a-group", "a service account is of an API group",
            edit(ROLE_BINDING, "kueue-proofs-status-binding",
                 put("subjects[0].apiGroup", "rbac.authorization.k8s.io")), "refusal:k8s-subject", stack="large-aws"),
    Mistake("urls-of-a-namespace", "a role of a namespace lets URLs be read",
            edit(ROLE, "kueue-proofs-role-vision",
                 put("rules[5]", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]})),
            "refusal:k8s-role", stack="demo-gcp"),
    Mistake("two-sources", "a volume of two sources",
            edit(VOLUME, "volumes-vision-data-volume", put("spec.nfs", {"server": "10.0.0.9", "path": "/"})),
            "refusal:k8s-volume"),
    Mistake("mode-as-decimal", "a mode of files is written as 640",
            edit(DEPLOYMENT, SERVER, put(f"{POD}.volumes[6].secret.defaultMode", 640)), "refusal:k8s-file-mode"),
    Mistake("sleeps-too-long", "a hook sleeps longer than the pod is given to end",
            edit(DEPLOYMENT, SERVER, put(f"{POD}.containers[0].lifecycle.preStop.sleep.seconds", 90)),
            "refusal:k8s-lifecycle", stack="large-gcp"),
    Mistake("zone-in-the-schedule", "a schedule has its time zone in it",
            edit(CRON_JOB, DRILL, put("spec.schedule", "CRON_TZ=UTC 17 4 * * 0")), "refusal:k8s-schedule"),
    Mistake("absolute-sub-path", "a sub-path begins with a slash",
            edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.containers[0].volumeMounts[0].subPath", "/squid.conf")),
            "refusal:k8s-volume", stack="demo-gcp"),
    Mistake("values-of-exists", "a quota's scope exists, and has values",
            edit(QUOTA, "teams-vision-cpu-only", put("spec.scopeSelector.matchExpressions[0].operator", "Exists")),
            "refusal:k8s-selector"),
    Mistake("requests-of-pods", "a range of pods has default requests",
            edit(LIMITS, "teams-foundation-defaults", put("spec.limits[0].type", "Pod")), "refusal:k8s-limit-range",
            stack="large-gcp"),
    Mistake("a-minute-and-a-half", "rules are worked out every 1.5m",
            edit(RULES, "monitoring-rules", put("spec.groups[0].interval", "1.5m")), "refusal:k8s-pattern"),
    Mistake("an-account-twice", "two roles for one service account",
            edit(aws.IDENTITY, "ingest-role-ingest", put("namespace", "team-vision"), put("serviceAccount", "trainer")),
            "reference-twice"),
    Mistake("trust-with-a-resource", "a trust policy has a resource",
            edit(aws.ROLE, "ingest-role",
                 in_json("assumeRolePolicy", lambda p: p["Statement"][0].update(Resource="*"))),
            "refusal:iam-trust", stack="large-aws"),
    Mistake("role-of-another-service", "a bucket is given a role of Artifact Registry",
            edit(BUCKET_MEMBER, "team-foundation-data", put("role", "roles/artifactregistry.reader")),
            "refusal:gcp-role-resource", stack="large-gcp"),
    Mistake("tags-and-accounts", "a firewall rule means tags and accounts",
            edit(FIREWALL, "northwind-production-lustre-servers", put("targetTags", ["gke-nodes"]),
                 put("targetServiceAccounts", ["northwind-production-nodes@rehearsal.iam.gserviceaccount.com"])),
            "refusal:gcp-firewall-target", stack="large-gcp"),
]  # fmt: skip

TAKEN = [
    Mistake("ways-out-that-are-not-read", "a policy with ways out is about ways in alone",
            edit(WALL, "mlflow-server-egress", put("spec.policyTypes", ["Ingress"])), "flows-database"),
    Mistake("names-by-tcp", "names may be asked over TCP alone",
            edit(WALL, "teams-vision-allow-dns", put("spec.egress[0].ports", [{"port": 53}])), "flows-names"),
    Mistake("proxy-elsewhere", "the proxy listens on another port",
            edit(CONFIG_MAP, "egress-configuration", said("data/squid.conf", "http_port 3128",
                                                          "http_port 3129")), "programs-port", stack="large-gcp"),
    Mistake("rule-switched-off", "the rule that lets webhooks be called is off",
            edit(FIREWALL, "network-webhooks", put("disabled", True)), "flows-webhooks", stack="demo-gcp"),
    Mistake("restricted-names", "Google's names lead to a record that the zone has not",
            edit(RECORDS, "google-apis-all", put("rrdatas", ["restricted.googleapis.com."])), "paths-names",
            stack="large-gcp"),
    Mistake("walls-of-paper", "nobody enforces network policies",
            edit(aws.ADD_ON, "cluster-vpc-cni",
                 in_json("configurationValues", lambda c: c.update(enableNetworkPolicy="false"))),
            "programs-policies-off", stack="large-aws"),
    Mistake("artifacts-elsewhere", "artifacts go to a folder that the server may not write",
            edit(DEPLOYMENT, SERVER, of_argument("--artifacts-destination=", "/mlflow", "/runs")), "rights-pod-lacks",
            stack="demo-gcp"),
    Mistake("module-under-another-name", "a module that a program imports is mounted under another name",
            edit(CRON_JOB, CHECK, put(f"spec.jobTemplate.{POD}.volumes[0].configMap.items[1].path", "drill/exit.py")),
            "programs-import"),
    Mistake("five-seconds-to-start", "a cron job may start within five seconds",
            edit(CRON_JOB, DRILL, put("spec.startingDeadlineSeconds", 5)), "reference-schedule", stack="large-aws"),
    Mistake("a-name-of-a-star", "a role names its objects with a star",
            edit(ROLE, "kueue-idle-role-vision", put("rules[0].resourceNames", ["*"])), "rights-program-lacks"),
    Mistake("gathered-away", "a role gathers its rules of roles that are not there",
            edit(CLUSTER_ROLE, "teams-reader",
                 put("aggregationRule", {"clusterRoleSelectors": [{"matchLabels": {"example.com/readers": "true"}}]})),
            "reference-aggregation"),
    Mistake("label-that-is-not-told", "a label by which rules join is no longer told",
            values(STACK, "kube-state-metrics.metricLabelsAllowlist",
                   ["nodes=[ml.platform/pool,node.kubernetes.io/instance-type]", "namespaces=[ml.platform/team]"]),
            "watching-label"),
    Mistake("route-takes-all", "a route without conditions stands before the others",
            edit(RELEASE, STACK, lambda i: i["values"]["alertmanager"]["config"]["route"]["routes"].insert(
                0, {"receiver": "topic", "group_wait": "30s"})), "reference-alert-route"),
    Mistake("pods-of-another-label", "figures are kept of pods with a label that they have not",
            edit(POD_MONITOR, "monitoring-tracking",
                 put("spec.podMetricsEndpoints[0].relabelings[2]",
                     {"action": "keep", "sourceLabels": ["__meta_kubernetes_pod_label_app"], "regex": "mlflow"})),
            "reference-relabeling", stack="large-aws"),
    Mistake("a-disk-of-many-nodes", "a disk is to be of many nodes",
            values(STACK, "prometheus.prometheusSpec.storageSpec.volumeClaimTemplate.spec.accessModes",
                   ["ReadWriteMany"]), "programs-claim"),
    Mistake("prefix-without-a-slash", "a prefix ends with no slash",
            edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.mountOptions[1]", "prefix teams/vision")),
            "programs-mount-option"),
    Mistake("another-teams-home", "a team's home is another team's access point",
            as_volume("volumes-foundation-home-volume", "volumes-forecasting-home-volume"), "reference-team-folder",
            stack="large-aws"),
    Mistake("key-by-another-region", "a key is used by way of another region",
            edit(aws.POLICY, "ingest-role-policy", in_json("policy", lambda p: p["Statement"][3]["Condition"][
                "StringEquals"].update({"kms:ViaService": "s3.us-west-2.amazonaws.com"}))), "rights-key"),
    Mistake("condition-of-another-folder", "a grant is of a folder that is not mounted",
            edit(BUCKET_MEMBER, "team-foundation-data",
                 put("condition", {"title": "raw", "expression": f'resource.name.startsWith("{DATA}/raw/")'})),
            "rights-volume", stack="large-gcp"),
    Mistake("ranks-without-names", "ranks are below a service of another name",
            edit(JOB, "smoke-train-spot-job", put(f"{POD}.subdomain", "smoke-train-spot")), "reference-subdomain"),
    Mistake("guard-of-an-old-version", "a guard asks about a version that jobs have not",
            edit(ADMISSION, "kueue-jobs-guard",
                 put("spec.matchConstraints.resourceRules[0].apiVersions", ["v1beta1"])),
            "reference-admission-rule"),
    Mistake("what-is-deleted-has-no-object", "a guard of deletions reads the object",
            edit(ADMISSION, "kueue-end-guard",
                 put("spec.validations[0].expression", "!has(object.spec.terminationGracePeriodSeconds) || "
                                                       "object.spec.terminationGracePeriodSeconds <= 600")),
            "programs-policy", stack="large-gcp"),
    Mistake("six-gigabytes-at-most", "no container may have what the drill asks for",
            edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].max", {"memory": "6Gi"})),
            "reference-limit-range"),
    Mistake("a-class-for-everybody", "the class of pods without GPUs is everybody's",
            edit(PRIORITY_CLASS, "teams-cpu-only", put("globalDefault", True)), "reference-admission-refuses",
            stack="demo-gcp"),
    Mistake("links-to-nowhere", "the folder of links to logs is mounted alone",
            edit(DAEMONS, "team-logs", put(f"{POD}.volumes[1].hostPath.path", "/var/log/containers"),
                 put(f"{POD}.containers[0].volumeMounts[1].mountPath", "/var/log/containers")), "programs-node-logs"),
    Mistake("proxy-by-tls", "the proxy is asked with TLS",
            edit(RUNTIME, "runtimes-torch-train", by_tls), "programs-proxy"),
    Mistake("share-for-pods", "a share lets pods in, and nodes mount it",
            edit(FILES, "northwind-production-shared",
                 put("fileShares.nfsExportOptions[0].ipRanges", ["10.2.0.0/15"])), "reference-file-system",
            stack="large-gcp"),
    Mistake("names-of-the-node", "a keeper asks the node's name server",
            edit(DEPLOYMENT, "kueue-budgets-deployment", put(f"{POD}.dnsPolicy", "Default")), "programs-never"),
]  # fmt: skip

MISTAKES = [*REFUSED, *TAKEN]
