"""The eleventh set of mistakes of Google Cloud's resources: what is left of our components' corners."""

from __future__ import annotations

from typing import Final

from tests.rehearsal.works.aws_changes import refer
from tests.rehearsal.works.mistakes import Mistake, drop, edit, put
from tests.rehearsal.works.mistakes_gcp_ninth import (
    API,
    BUDGET,
    DEMO,
    FIREWALL,
    LARGE,
    POLICY,
    ROLE,
    RUN,
    SERVICE,
    SINK,
    SMALL,
    TEMPLATE,
    VOLUME,
    less,
    made,
)
from tests.rehearsal.works.mistakes_gcp_tenth import LOGIN, LUSTRE, PROJECT, filtered_otherwise

QUOTA = "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"
KEPT = "gcp:backupdisasterrecovery/backupPlanAssociation:BackupPlanAssociation"
AUDIT = "gcp:projects/iAMAuditConfig:IAMAuditConfig"
CONNECTION = "gcp:servicenetworking/connection:Connection"
CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
KEY = "gcp:kms/cryptoKey:CryptoKey"

REFUSED: Final = (
    Mistake(
        "ceiling-of-no-metric",
        "a ceiling of a metric that is called otherwise",
        edit(
            QUOTA,
            "ceilings-custom_model_training_nvidia_h100_gpus",
            put("metric", "aiplatform.googleapis.com%2Fcustom_model_training_nvidia_h100_gpu"),
        ),
        "policy:jobs-without-ceilings",
        stack=SMALL,
    ),
    Mistake(
        "kept-as-a-machine",
        "homes given to a plan of files as a machine's",
        edit(KEPT, "northwind-production-shared-backups", put("resourceType", "compute.googleapis.com/Instance")),
        "gcp-backup",
        stack=LARGE,
    ),
    Mistake(
        "login-with-a-password",
        "a password for a login by IAM",
        edit(LOGIN, "tracking-server-login", put("passwordWo", "x"), put("passwordWoVersion", 1)),
        "gcp-sql-user",
        stack=RUN,
    ),
    Mistake(
        "five-gigabytes",
        "five gigabytes for an editor (ten are the least)",
        edit(TEMPLATE, "editors-e2-standard-4", put("dataPersistentDiskSpec.diskSizeGb", "5")),
        "gcp-disk",
        stack=SMALL,
    ),
    Mistake(
        "exempt-without-kind",
        "somebody exempt from the record by the address alone",
        edit(AUDIT, "record-storage", put("auditLogConfigs[1].exemptedMembers", ["backup@acme.example"])),
        "gcp-member",
        stack=DEMO,
    ),
    Mistake(
        "peering-with-nobody",
        "private services by a service that is called otherwise",
        edit(CONNECTION, "network-private-services", put("service", "servicenetwork.googleapis.com")),
        "gcp-peering",
        stack=DEMO,
    ),
    Mistake(
        "lustre-in-a-region",
        "a file system of a zone in a region",
        edit(LUSTRE, "northwind-production-lustre", put("location", "us-east4")),
        "gcp-lustre",
        stack=LARGE,
    ),
)

SILENT: Final = (
    Mistake(
        "no-api-to-sign",
        "programs that sign tokens by an API that is not switched on",
        drop(API, "services-iamcredentials"),
        "rights-api-off",
        stack=RUN,
    ),
    Mistake(
        "failed-of-figures",
        "an alarm on lines of jobs by the kind that figures have",
        edit(POLICY, "managed-jobs-failed", filtered_otherwise('"ml_job"', '"cloudml_job"')),
        "programs-filter",
        stack=SMALL,
    ),
    Mistake(
        "disks-by-the-data-key",
        "disks of a class by a key that Compute Engine may not use",
        refer(CLASS, "disks-class", "parameters.disk-encryption-kms-key", KEY, "acme-demo-gcp-data"),
        "rights-key",
        stack=DEMO,
    ),
    Mistake(
        "homes-at-lustre",
        "homes mounted from the address of the other file system (a neighbour's line copied)",
        edit(VOLUME, "volumes-perception-home-volume", put("spec.csi.volumeAttributes.ip", "10.104.104.107")),
        "reference-file-system",
        stack=LARGE,
    ),
    Mistake(
        "sink-of-another-region",
        "a sink to a bucket of logs in a region where there is none",
        edit(
            SINK,
            "record-sink",
            put("destination", "logging.googleapis.com/projects/acme-ml/locations/us-east1/buckets/acme-demo-gcp"),
        ),
        "programs-sink",
        stack=DEMO,
    ),
    Mistake(
        "budget-of-another-project",
        "a budget of another project's number",
        edit(BUDGET, "budget-budget", put("budgetFilter.projects", ["projects/555512345678"])),
        "programs-budget",
        stack=DEMO,
    ),
    Mistake(
        "another-port",
        "a server asked on a port that it does not listen on",
        edit(SERVICE, "tracking-server-service", put("template.containers[0].ports.containerPort", 8081)),
        "run-port",
        stack=RUN,
    ),
    Mistake(
        "kubelets-shut",
        "a rule that shuts the control plane out of kubelets",
        made(
            FIREWALL,
            "network-hardening",
            FIREWALL,
            {
                "network": "projects/acme-ml/global/networks/network-vpc",
                "direction": "INGRESS",
                "priority": 900,
                "denies": [{"protocol": "tcp", "ports": ["10250", "10255"]}],
                "sourceRanges": ["0.0.0.0/0"],
            },
        ),
        "flows-kubelet",
        stack=DEMO,
    ),
    Mistake(
        "runs-without-executions",
        "jobs that may change runs and make none",
        edit(ROLE, "managed-jobs", less("permissions", "aiplatform.executions.create")),
        None,
        "Vertex AI Experiments keeps runs as contexts; whether a program makes executions beside is its own affair",
        stack=SMALL,
    ),
    Mistake(
        "jobs-without-role",
        "jobs whose account has no role in the project",
        drop(PROJECT, "managed-jobs"),
        "rights-job",
        stack=SMALL,
    ),
)
