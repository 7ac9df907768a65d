"""Mutants that somebody meant well with: shortcuts of a debugging session, a saving, a favour to a colleague."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

from tests.policies.mutants import CLUSTER, DEPLOYMENT, RELEASE, Change, Mutant, Resources, drop, edit, put
from tests.policies.mutants_subtle import BUCKET, BUCKET_POLICY, without
from trainyard.recorded.model import RecordedResource

KEY = "aws:kms/key:Key"
ROLE = "aws:iam/role:Role"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
EFS_BACKUPS = "aws:efs/backupPolicy:BackupPolicy"
SHARED = {"storage": {"sharedFileSystem": True}}
SUBSCRIPTION = "aws:sns/topicSubscription:TopicSubscription"
OTHER_ACCOUNT = "444455556666"
POD = ("spec", "template", "spec")
SERVER = (*POD, "containers", 0)
AKIA = "AKIA" + "IOSFODNN7EXAMPLE"  # AWS's own example, in two parts for scanners of this repository


def stating(type_: str, name: str, **statement: Any) -> Change:
    """Adds a statement to a policy, where the document is known."""

    def into(inputs: dict[str, Any]) -> None:
        if isinstance(inputs["policy"], str):
            document = json.loads(inputs["policy"])
            document["Statement"].append({"Effect": "Allow", "Resource": "*", **statement})
            inputs["policy"] = json.dumps(document)

    return edit(type_, name, into)


def env(name: str, **value: Any) -> Change:
    """Gives the tracking server another environment variable."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": name, **value})

    return edit(DEPLOYMENT, "mlflow-deployment", into)


def of_a_team(**spec: Any) -> Change:
    """Opens what a team's pods may talk to."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["spec"] |= spec

    return edit(NETWORK_POLICY, "teams-language-allow-within-team", into)


def manager(old: str, new: str) -> Change:
    """Tells Kueue's manager something else."""

    def into(inputs: dict[str, Any]) -> None:
        config = inputs["values"]["managerConfig"]
        assert old in config["controllerManagerConfigYaml"]
        config["controllerManagerConfigYaml"] = config["controllerManagerConfigYaml"].replace(old, new)

    return edit(RELEASE, "kueue-release", into)


def goes_with_the_stack(resources: Resources) -> list[RecordedResource]:
    """The environment's key is deleted by a destroy."""
    return [replace(found, retain_on_delete=False) if found.type == KEY else found for found in resources]


def without_readers(resources: Resources) -> list[RecordedResource]:
    """Nobody subscribes to the alerts, and no address is told."""
    found = []
    for resource in resources:
        if resource.type == "aws:budgets/budget:Budget":
            inputs = copy.deepcopy(dict(resource.inputs))
            for alert in inputs["notifications"]:
                alert["subscriberEmailAddresses"] = []
            resource = replace(resource, inputs=inputs)
        if resource.type != SUBSCRIPTION:
            found.append(resource)
    return found


UNSAFE = (
    Mutant("budget-without-alerts", "a topic that nobody hears", {"alertEmails": []}),
    Mutant("budget-without-alerts", "the last subscriber went", change=without_readers),
    Mutant(
        "resource-open-to-everybody",
        "a key for all",
        change=stating(KEY, "platform-key", Principal="*", Action="kms:Decrypt"),
    ),
    Mutant(
        "resource-open-to-everybody",
        "a key for all, through S3",
        change=stating(
            KEY,
            "platform-key",
            Principal={"AWS": ["*"]},
            Action=["kms:Decrypt"],
            Condition={"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}},
        ),
    ),
    Mutant(
        "other-account-in-charge",
        "a bucket for another account",
        change=stating(
            BUCKET_POLICY,
            "acme-demo-data-policy",
            Principal={"AWS": f"arn:aws:iam::{OTHER_ACCOUNT}:root"},
            Action="s3:*",
        ),
    ),
    Mutant(
        "other-account-in-charge",
        "a key for another account",
        change=stating(KEY, "platform-key", Principal={"AWS": OTHER_ACCOUNT}, Action="kms:*"),
    ),
    Mutant("team-namespace-open", "everything in", change=of_a_team(ingress=[{}])),
    Mutant(
        "team-namespace-open", "every namespace in", change=of_a_team(ingress=[{"from": [{"namespaceSelector": {}}]}])
    ),
    Mutant("team-namespace-open", "everything out", change=of_a_team(egress=[{}])),
    Mutant("secret-in-the-clear", "a password", change=env("DB_PASSWORD", value="hunter2")),
    Mutant("secret-in-the-clear", "an API key", change=env("WANDB_API_KEY", value="abc")),
    Mutant("secret-in-the-clear", "a key by its shape", change=env("WHATEVER", value=AKIA)),
    Mutant(
        "secret-in-the-clear",
        "an address with a password",
        change=env("BACKEND", value="postgresql://mlflow:hunter2@db.internal:5432/mlflow"),
    ),
    Mutant(
        "secret-in-the-clear",
        "in a chart's values",
        change=edit(RELEASE, "kueue-release", put("values", "env", value=[{"name": "API_TOKEN", "value": "abc"}])),
    ),
    Mutant("key-in-the-stack-file", "keys of AWS", others={"aws:accessKey": AKIA, "aws:secretKey": "x" * 40}),
    Mutant(
        "key-in-the-stack-file", "a kubeconfig", others={"kubernetes:kubeconfig": '{"users":[{"user":{"token":"x"}}]}'}
    ),
    Mutant(
        "pod-as-root",
        "root",
        change=edit(DEPLOYMENT, "mlflow-deployment", put(*POD, "securityContext", "runAsUser", value=0)),
    ),
    Mutant(
        "pod-as-root",
        "a container as root",
        change=edit(DEPLOYMENT, "mlflow-deployment", put(*SERVER, "securityContext", "runAsUser", value=0)),
    ),
    Mutant(
        "needless-api-token",
        "a token",
        change=edit(DEPLOYMENT, "mlflow-deployment", put(*POD, "automountServiceAccountToken", value=True)),
    ),
    Mutant(
        "container-without-limits",
        "no limit of memory",
        change=edit(DEPLOYMENT, "mlflow-deployment", without(*SERVER, "resources", "limits", "memory")),
    ),
    Mutant(
        "jobs-outside-the-queue",
        "jobs without a queue run",
        change=manager("manageJobsWithoutQueueName: true", "manageJobsWithoutQueueName: false"),
    ),
    Mutant("jobs-outside-the-queue", "nothing said", change=manager("manageJobsWithoutQueueName: true\n", "")),
    Mutant(
        "file-system-without-backups",
        "backups off",
        SHARED,
        change=edit(EFS_BACKUPS, "acme-demo-shared-backup", put("backupPolicy", "status", value="DISABLED")),
    ),
    Mutant("file-system-without-backups", "no backups", SHARED, change=drop(EFS_BACKUPS, "acme-demo-shared-backup")),
    Mutant(
        "flow-logs-incomplete",
        "what was refused",
        change=edit("aws:ec2/flowLog:FlowLog", "network-flow-log", put("trafficType", value="REJECT")),
    ),
    Mutant("key-gone-before-its-data", "deleted with the stack", change=goes_with_the_stack),
    Mutant(
        "stateful-resource-unprotected",
        "the cluster",
        change=edit(CLUSTER, "cluster-cluster", put("deletionProtection", value=False)),
    ),
    Mutant(
        "stateful-resource-unprotected",
        "one bucket",
        change=edit(BUCKET, "acme-demo-data", lambda inputs: None, protect=False),
    ),
    Mutant(
        "database-without-backups",
        "none at all",
        change=edit("aws:rds/instance:Instance", "acme-demo-mlflow", put("backupRetentionPeriod", value=0)),
    ),
)
