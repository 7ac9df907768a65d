"""Mistakes in what programs, alarms and volumes are told of other things: each accepted, and nothing comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import Mistake, edit, in_json, put

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
DATABASE = "aws:rds/instance:Instance"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
RELEASE = "kubernetes:helm.sh/v3:Release"
REQUEST = "tls:index/certRequest:CertRequest"
SERVER = "mlflow-deployment"


def swapped(old: str, new: str, *way: str | int) -> Callable[[dict[str, Any]], None]:
    """Replaces a part of the one text at a path."""

    def into(inputs: dict[str, Any]) -> None:
        target: Any = inputs
        for part in way[:-1]:
            target = target[part]
        assert old in target[way[-1]], way
        target[way[-1]] = target[way[-1]].replace(old, new)

    return into


def spoken(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Replaces a part of what a deployment's first container is told."""

    def into(inputs: dict[str, Any]) -> None:
        container = inputs["spec"]["template"]["spec"]["containers"][0]
        said = [text.replace(old, new) for text in container["command"]]
        assert said != container["command"], old
        container["command"] = said

    return into


def unmounted(path: str) -> Callable[[dict[str, Any]], None]:
    """Takes a mount of a deployment's first container away."""

    def into(inputs: dict[str, Any]) -> None:
        container = inputs["spec"]["template"]["spec"]["containers"][0]
        container["volumeMounts"] = [one for one in container["volumeMounts"] if one["mountPath"] != path]

    return into


MISTAKES = [
    Mistake(
        "option",
        "the server is given an option that it has not",
        edit(DEPLOYMENT, SERVER, spoken("--serve-artifacts", "--artifact-root=s3://a")),
        "programs-option",
    ),
    Mistake(
        "database-name",
        "the database that is made is called otherwise than the server connects to",
        edit(DATABASE, "acme-demo-mlflow", put("dbName", "tracking")),
        "programs-database",
    ),
    Mistake(
        "database-port",
        "the database listens on another port than the server connects to",
        edit(DATABASE, "acme-demo-mlflow", put("port", 5433)),
        "programs-database",
    ),
    Mistake(
        "database-plain",
        "the server connects without TLS, and the database refuses that",
        edit(DEPLOYMENT, SERVER, spoken("sslmode=verify-full", "sslmode=disable")),
        "programs-database",
    ),
    Mistake(
        "bucket",
        "artifacts go to a bucket that the stack does not make",
        edit(DEPLOYMENT, SERVER, spoken("s3://acme-demo-artifacts-4ba31ff/", "s3://acme-demo-artifact-store/")),
        "programs-bucket",
    ),
    Mistake(
        "bucket-told",
        "a team is told of a bucket by the beginning of its name",
        edit(CONFIG_MAP, "teams-vision-storage", put("data.CHECKPOINTS_URI", "s3://acme-demo-checkpoints/teams/a")),
        "programs-bucket",
    ),
    Mistake(
        "squid-port",
        "the proxy's configuration listens on another port than its service leads to",
        edit(CONFIG_MAP, "egress-configuration", swapped("http_port 3128", "http_port 3129", "data", "squid.conf")),
        "programs-port",
    ),
    Mistake(
        "no-tmp",
        "the server's root is read-only, and nothing is mounted where it writes",
        edit(DEPLOYMENT, SERVER, unmounted("/tmp")),
        "programs-read-only",
    ),
    Mistake(
        "no-run",
        "the proxy's root is read-only, and nothing is mounted where it writes",
        edit(DEPLOYMENT, "egress-deployment", unmounted("/run")),
        "programs-read-only",
    ),
    Mistake(
        "metrics-elsewhere",
        "the server writes its figures beside the volume that is meant for them",
        edit(DEPLOYMENT, SERVER, spoken("--expose-prometheus=/run/metrics", "--expose-prometheus=/run/prometheus")),
        "programs-read-only",
    ),
    Mistake(
        "certificate",
        "the server's certificate is for a name that nobody calls it by",
        edit(
            REQUEST,
            "mlflow-certificate-request",
            put("dnsNames", ["mlflow.acme.example"]),
            put("subject.commonName", "mlflow.acme.example"),
        ),
        "programs-certificate",
    ),
    Mistake(
        "alarm-topic",
        "the alarm on silence looks at a topic by the beginning of its name",
        edit(ALARM, "watchdog-silent", put("dimensions.TopicName", "watchdog-topic")),
        "programs-alarm",
    ),
    Mistake(
        "alarm-metric",
        "the alarm on silence looks at a metric that nobody sends",
        edit(ALARM, "watchdog-silent", put("metricName", "MessagesPublished")),
        "programs-alarm",
    ),
    Mistake(
        "linked-directory",
        "the bucket is linked at another directory than pods mount",
        edit(LINK, "acme-demo-lustre-data", put("fileSystemPath", "/dataset")),
        "programs-directory",
    ),
    Mistake(
        "key-disabled",
        "the key of the data was switched off",
        edit("aws:kms/key:Key", "data-key", put("isEnabled", False)),
        "programs-key-disabled",
    ),
    Mistake(
        "policies-off",
        "the plug-in of the network enforces no policies any more",
        edit(
            "aws:eks/addon:Addon",
            "cluster-vpc-cni",
            in_json("configurationValues", lambda held: held.update(enableNetworkPolicy="false")),
        ),
        "programs-policies-off",
    ),
    Mistake(
        "log-region",
        "the collector of logs sends to another region",
        edit(
            CONFIG_MAP,
            "team-logs-configuration",
            swapped("region us-east-1", "region us-west-2", "data", "fluent-bit.conf"),
        ),
        "programs-log-group",
    ),
    Mistake(
        "topic",
        "alerts go to a topic that the stack does not make",
        edit(
            RELEASE,
            "monitoring-release",
            swapped(
                "budget-alerts-f29c925",
                "alerts-of-teams",
                "values",
                "alertmanager",
                "config",
                "receivers",
                1,
                "sns_configs",
                0,
                "topic_arn",
            ),
        ),
        "programs-topic",
    ),
    Mistake(
        "topic-region",
        "alerts are signed for another region than their topic is in",
        edit(
            RELEASE,
            "monitoring-release",
            put("values.alertmanager.config.receivers[1].sns_configs[0].sigv4.region", "eu-west-1"),
        ),
        "programs-topic",
    ),
]
