"""Twenty-four further mistakes of the same kind, written when the first were mended: eight refused, sixteen taken."""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.mistakes import Mistake, added, edit, in_json, put
from tests.rehearsal.works.mistakes_k8s_first import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    POD,
    QUOTA,
    SERVICE_MONITOR,
    values,
)
from tests.rehearsal.works.mistakes_refs_first import RECORDS, SERVER, of_argument

SERVICE = "kubernetes:core/v1:Service"
POOL = "gcp:container/nodePool:NodePool"
MADE = "the account that a stack is rehearsed with is made up: a role of another cannot be told from one of its own"
EITHER = "the role's own policy lets it mount the third directory, and nothing denies it: either is enough"
PATH = {"path": "mlflow", "pathType": "Prefix", "backend": {"service": {"name": "mlflow", "port": {"name": "https"}}}}

REFUSED = [
    Mistake("path-without-a-slash", "a path of an entrance begins with no slash",
            added("networking.k8s.io/v1:Ingress", "mlflow",
                  {"spec": {"rules": [{"host": "mlflow.acme.example", "http": {"paths": [PATH]}}]}}, "mlflow"),
            "refusal:k8s-ingress"),
    Mistake("policy-of-outside", "a service of the inside has a policy for traffic from outside",
            edit(SERVICE, "egress-service", put("spec.externalTrafficPolicy", "Local")), "refusal:k8s-service"),
    Mistake("recreated-and-rolled", "a deployment is made anew, and rolled",
            edit(DEPLOYMENT, "kueue-idle-deployment", put("spec.strategy.rollingUpdate", {"maxSurge": 1})),
            "refusal:k8s-rollout", stack="large-aws"),
    Mistake("key-with-a-slash", "a file of a folder in a config map",
            edit(CONFIG_MAP, "kueue-idle-programs", put("data.sub/more~py", "x = 1\n")), "refusal:k8s-data-key"),
    Mistake("success-without-indexes", "a job without indexes succeeds by one",
            edit(JOB, "smoke-train-spot-job", put("spec.completionMode", "NonIndexed")), "refusal:k8s-job"),
    Mistake("value-and-source", "a variable has a value and a source",
            edit(DEPLOYMENT, SERVER,
                 put(f"{POD}.containers[0].env[0].valueFrom", {"fieldRef": {"fieldPath": "metadata.name"}})),
            "refusal:k8s-env", stack="demo-gcp"),
    Mistake("role-of-another-account", "pods get a role of another account",
            edit(aws.IDENTITY, "ingest-role-ingest", put("roleArn", "arn:aws:iam::210987654321:role/ingest")), None,
            why=MADE),
    Mistake("two-other-names", "a name stands for two others",
            edit(RECORDS, "google-apis-all",
                 put("rrdatas", ["private.googleapis.com.", "restricted.googleapis.com."])), "refusal:gcp-dns",
            stack="demo-gcp"),
]  # fmt: skip

TAKEN = [
    Mistake("of-ones-own-node", "a service leads to pods of the caller's own node",
            edit(SERVICE, "mlflow-service", put("spec.internalTrafficPolicy", "Local")), "programs-never"),
    Mistake("gate-that-stays-shut", "pods wait for a balancer's word, and there is none",
            edit(DEPLOYMENT, SERVER,
                 put(f"{POD}.readinessGates", [{"conditionType": "target-health.elbv2.k8s.aws/mlflow"}])),
            "reference-readiness-gate"),
    Mistake("key-for-a-certificate", "the private key stands for the certificate",
            edit(DEPLOYMENT, SERVER, of_argument("--uvicorn-opts=", "--ssl-certfile=/etc/mlflow/auth/tls.crt",
                                                 "--ssl-certfile=/etc/mlflow/auth/tls.key")), "programs-key-file"),
    Mistake("figures-without-tls", "figures are asked for without TLS",
            edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].scheme", "http")),
            "reference-monitor-path", stack="large-aws"),
    Mistake("board-of-another-label", "a board has another value of its label",
            edit(CONFIG_MAP, "monitoring-trainyard-cost", put("metadata.labels.grafana_dashboard", "true")),
            "reference-sidecar"),
    Mistake("endpoints-of-one-zone", "endpoints let the nodes of one zone in",
            edit(aws.INGRESS, "network-endpoints-https", put("cidrIpv4", "10.0.0.0/19")), "paths-endpoint-closed"),
    Mistake("trusted-elsewhere", "a role is for pods of another cluster",
            edit(aws.ROLE, "team-vision-role", in_json("assumeRolePolicy", lambda p: p["Statement"][0]["Condition"][
                "StringEquals"].update({"aws:RequestTag/eks-cluster-arn":
                                        "arn:aws:eks:us-east-1:123456789012:cluster/acme-prod"}))),
            "rights-binding-untrusted"),
    Mistake("metadata-of-the-machine", "pods of a pool are the node's account",
            edit(POOL, "cluster-cpu", put("nodeConfig.workloadMetadataConfig.mode", "GCE_METADATA")),
            "rights-no-workload-identity", stack="large-gcp"),
    Mistake("directory-left-out", "the policy of a file system leaves one directory out",
            edit(aws.FILES_POLICY, "globex-production-shared-policy",
                 in_json("policy", lambda p: p["Statement"][0]["Condition"]["StringEquals"][
                     "elasticfilesystem:AccessPointArn"].pop())), None, why=EITHER, stack="large-aws"),
    Mistake("key-for-another-region", "a key may be used by way of another region",
            edit(aws.KEY, "data-key", in_json("policy", lambda p: p["Statement"][2]["Condition"]["StringEquals"].update(
                {"kms:ViaService": ["s3.eu-central-1.amazonaws.com"]}))), "rights-key"),
    Mistake("bucket-of-another-network", "a bucket lets in pods of another network",
            edit(aws.BUCKET_POLICY, "acme-demo-checkpoints-policy", in_json("policy", lambda p: [
                one["Condition"]["StringNotEquals"].update({"aws:SourceVpc": "vpc-0123456789abcdef0"})
                for one in p["Statement"] if one["Sid"] == "DenyPodsOutsideNetwork"])), "rights-volume"),
    Mistake("no-gpu-at-all", "a team's quota has no GPU",
            edit(QUOTA, "teams-vision-quota", put("spec.hard.requests~nvidia~com/gpu", "0")), "reference-quota"),
    Mistake("pool-without-figures", "nothing tells figures of a pool's GPUs",
            values("gpu-dcgm-exporter", "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                   "nodeSelectorTerms[0].matchExpressions[0].values", ["dev", "train"]), "placement-exporter"),
    Mistake("folder-that-nobody-makes", "a team's folder is made by nobody",
            edit(JOB, "folders-home", lambda i: i["spec"]["template"]["spec"]["containers"][0]["command"].remove(
                "teams/perception")), "reference-team-folder", stack="large-gcp"),
    Mistake("names-that-are-blocked", "names of Amazon's services are not allowed",
            edit(aws.DNS_LIST, "dns-allowed", lambda i: i["domains"].remove("*.amazonaws.com")),
            "paths-name-blocked"),
    Mistake("ten-of-nothing", "a time has no unit",
            values("autoscaler-release", "extraArgs.scale-down-unneeded-time", "10"), "charts-flag"),
]  # fmt: skip

MISTAKES = [*REFUSED, *TAKEN]
