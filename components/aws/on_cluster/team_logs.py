"""What the teams' containers write to stdout and stderr, kept where a deleted pod does not take it along.

Fluent Bit on every node, of AWS's own build, reads the files that the container runtime writes and sends those of the
teams' namespaces, and no others, to one log group: a stream a container, named `pod.<namespace>.<pod>.<container>`. The
file's name says all of that, so it asks the Kubernetes API for nothing and has no token for it.

The managed add-on for CloudWatch is not used: it brings metrics of every container, paid by the observation, an
operator, and an exporter of GPU metrics beside the one that is there (docs/decisions/0028-what-is-on-record.md).
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_kubernetes.apps.v1 as apps
import pulumi_kubernetes.core.v1 as core

from trainyard.components.aws.policy_documents import allow
from trainyard.components.k8s.objects import service_account
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.aws import team_log_group

NAMESPACE = "kube-system"
NAME = "team-logs"
"""Name of DaemonSet, service account and configuration."""

_STATE = "/state"
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class TeamLogGroupArgs(TypedDict):
    """What `TeamLogGroup` needs."""

    cluster_name: str
    """Name of the cluster, which the group's name holds."""
    key_arn: pulumi.Input[str]
    """KMS key of the group."""
    retention_days: pulumi.Input[int]
    """Days that logs are kept; a value that CloudWatch knows, such as 365."""


class TeamLogGroup(pulumi.ComponentResource):
    """The log group of a cluster's team containers."""

    log_group_name: pulumi.Output[str]
    """Name of the group."""
    log_group_arn: pulumi.Output[str]
    """ARN of the group."""

    def __init__(self, name: str, args: TeamLogGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """It is there before the first line: a group that Fluent Bit makes has neither key nor retention."""
        super().__init__("trainyard:index:TeamLogGroup", name, None, opts)
        group = cloudwatch.LogGroup(
            name,
            name=team_log_group(args["cluster_name"]),
            retention_in_days=args["retention_days"],
            kms_key_id=args["key_arn"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.log_group_name = group.name
        self.log_group_arn = group.arn
        register(self)


def team_logs_policy(log_group_arn: pulumi.Input[str]) -> dict[str, Any]:
    """The rights of the agent: streams of the one group and lines in them, nothing to read."""
    streams = pulumi.Output.concat(log_group_arn, ":log-stream:*")
    group = pulumi.Output.concat(log_group_arn, ":*")
    return {
        "Version": "2012-10-17",
        "Statement": [allow("SendLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], [group, streams])],
    }


class TeamLogsArgs(TypedDict):
    """What `TeamLogs` needs."""

    namespaces: Sequence[str]
    """Namespaces whose containers are read, at least one."""
    log_group_name: pulumi.Input[str]
    """Log group that lines go to."""
    region: pulumi.Input[str]
    """Region of the log group."""
    image: str
    """Image of AWS for Fluent Bit, `image:tag@sha256:…`."""


class TeamLogs(pulumi.ComponentResource):
    """The agent on every node.

    Its service account gets its role from the caller (`team_logs_policy`), by an association that has to exist before
    the pods start (name it in `depends_on`).
    """

    service_account_name: str
    """Name of the agent's service account."""

    def __init__(self, name: str, args: TeamLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for no namespace, a name that is no DNS label, and an image without a digest."""
        super().__init__("trainyard:index:TeamLogs", name, {}, opts)
        if "@sha256:" not in args["image"]:
            raise ValueError(f"the image of {name} has to be pinned by its digest, got {args['image']}")
        wrong = [namespace for namespace in args["namespaces"] if not _DNS_LABEL.fullmatch(namespace)]
        if wrong or not args["namespaces"]:
            raise ValueError(f"{name}: namespaces must be names of namespaces, got {', '.join(wrong) or 'none'}")
        self.service_account_name = NAME
        before = prerequisites(opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=before)
        account = service_account(f"{name}-account", NAME, NAMESPACE, annotations={}, opts=child)
        text = pulumi.Output.all(args["log_group_name"], args["region"]).apply(
            lambda known: configuration(args["namespaces"], known[0], known[1])
        )
        settings = core.ConfigMap(
            f"{name}-configuration",
            metadata={"name": NAME, "namespace": NAMESPACE},
            data={"fluent-bit.conf": text},
            opts=child,
        )
        # A changed list of teams starts the agents anew: Fluent Bit reads its configuration once.
        digest = hashlib.sha256("\n".join(sorted(args["namespaces"])).encode()).hexdigest()[:16]
        apps.DaemonSet(
            name,
            metadata={"name": NAME, "namespace": NAMESPACE, "labels": _LABELS},
            spec=_daemon_set(args["image"], digest),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*before, account, settings]),
        )
        register(self)


_LABELS = {"app.kubernetes.io/name": NAME}


def configuration(namespaces: Sequence[str], log_group: str, region: str) -> str:
    """Fluent Bit's configuration: files of these namespaces' containers to one log group of a region."""
    paths = ",".join(f"/var/log/containers/*_{namespace}_*.log" for namespace in sorted(namespaces))
    return f"""\
[SERVICE]
    Flush 5
    Grace 30
    Log_Level warn
    Daemon off

[INPUT]
    Name tail
    Path {paths}
    Tag <namespace>.<pod>.<container>
    Tag_Regex (?<pod>[a-z0-9][-.a-z0-9]*)_(?<namespace>[^_]+)_(?<container>[-a-z0-9]+)-(?<id>[0-9a-f]{{64}})\\.log$
    multiline.parser cri
    DB {_STATE}/tail.db
    Mem_Buf_Limit 32MB
    Skip_Long_Lines On
    Refresh_Interval 5
    Rotate_Wait 30
    Read_from_Head On

[OUTPUT]
    Name cloudwatch_logs
    Match *
    region {region}
    log_group_name {log_group}
    log_stream_prefix pod.
    log_key log
    auto_create_group false
    retry_limit 5
"""


def _daemon_set(image: str, digest: str) -> apps.DaemonSetSpecArgsDict:
    return {
        "selector": {"match_labels": _LABELS},
        "update_strategy": {"type": "RollingUpdate", "rolling_update": {"max_unavailable": "10%"}},
        "template": {
            "metadata": {"labels": _LABELS, "annotations": {"checksum/namespaces": digest}},
            "spec": {
                "service_account_name": NAME,
                "automount_service_account_token": False,
                "enable_service_links": False,
                "priority_class_name": "system-node-critical",
                "tolerations": [{"operator": "Exists"}],  # GPU nodes are where the teams' containers run
                "termination_grace_period_seconds": 30,
                "security_context": {"seccomp_profile": {"type": "RuntimeDefault"}},
                "containers": [
                    {
                        "name": "fluent-bit",
                        "image": image,
                        "resources": {
                            "requests": {"cpu": "50m", "memory": "64Mi"},
                            "limits": {"memory": "256Mi"},
                        },
                        "security_context": {
                            # The runtime's files are root's and nobody else may read them; no capability is needed.
                            "run_as_user": 0,
                            "allow_privilege_escalation": False,
                            "read_only_root_filesystem": True,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "volume_mounts": [
                            {"name": "configuration", "mount_path": "/fluent-bit/etc", "read_only": True},
                            {"name": "logs", "mount_path": "/var/log", "read_only": True},
                            {"name": "state", "mount_path": _STATE},
                        ],
                    }
                ],
                "volumes": [
                    {"name": "configuration", "config_map": {"name": NAME}},
                    {"name": "logs", "host_path": {"path": "/var/log", "type": "Directory"}},
                    {"name": "state", "empty_dir": {"size_limit": "64Mi"}},
                ],
            },
        },
    }
