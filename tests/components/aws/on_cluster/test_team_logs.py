"""TeamLogs: what the agent reads, what it may do, and what it is not given."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.components.aws.api_shape import KEY_ARN, inputs_of
from tests.pulumi_harness import Recording, record
from trainyard.components.aws.on_cluster.team_logs import TeamLogGroup, TeamLogs, configuration
from trainyard.recorded.types import CONFIG_MAP, LOG_GROUP, SERVICE_ACCOUNT

IMAGE = "public.ecr.aws/aws-observability/aws-for-fluent-bit:2@sha256:" + "0" * 64
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


def logs(**changes: Any) -> Recording:
    arguments: Any = {
        "namespaces": ["team-vision", "team-language"],
        "log_group_name": "/trainyard/acme/team-logs",
        "region": "us-east-1",
        "image": IMAGE,
        **changes,
    }
    return record(lambda: TeamLogs("team-logs", arguments))


def pod(made: Recording) -> dict[str, Any]:
    return inputs_of(made.one(DAEMON_SET))["spec"]["template"]["spec"]


def test_it_reads_the_teams_namespaces_and_no_other() -> None:
    text = inputs_of(logs().one(CONFIG_MAP))["data"]["fluent-bit.conf"]
    (paths,) = re.findall(r"^ +Path (.*)$", text, re.MULTILINE)
    assert paths == "/var/log/containers/*_team-language_*.log,/var/log/containers/*_team-vision_*.log"
    assert "auto_create_group false" in text  # a group of its making has neither key nor retention


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("train-0-0-abc12_team-vision_trainer", ("train-0-0-abc12", "team-vision", "trainer")),
        ("run.1_team-vision_side-car", ("run.1", "team-vision", "side-car")),
    ],
)
def test_a_stream_is_named_by_what_the_file_is_called(file: str, found: tuple[str, ...]) -> None:
    text = configuration(["team-vision"], "/group", "us-east-1")
    (expression,) = re.findall(r"^ +Tag_Regex (.*)$", text, re.MULTILINE)
    match = re.search(expression.replace("(?<", "(?P<"), f"/var/log/containers/{file}-{'0f' * 32}.log")
    assert match is not None
    assert match.group("pod", "namespace", "container") == found


def test_it_is_on_every_node_and_has_no_token_and_no_capability() -> None:
    made = logs()
    spec = pod(made)
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["automountServiceAccountToken"] is False
    assert inputs_of(made.one(SERVICE_ACCOUNT))["automountServiceAccountToken"] is False
    (container,) = spec["containers"]
    context = container["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert (context["allowPrivilegeEscalation"], context["readOnlyRootFilesystem"]) == (False, True)
    host = [volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume]
    assert host == ["/var/log"]
    assert [mount["readOnly"] for mount in container["volumeMounts"] if mount["name"] == "logs"] == [True]
    assert not any(key in spec for key in ("hostNetwork", "hostPID", "hostIPC"))


def test_another_team_starts_the_agents_anew() -> None:
    def digest(*namespaces: str) -> str:
        template = inputs_of(logs(namespaces=namespaces).one(DAEMON_SET))["spec"]["template"]
        return str(template["metadata"]["annotations"]["checksum/namespaces"])

    assert digest("team-a", "team-b") == digest("team-b", "team-a") != digest("team-a")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"namespaces": []}, "got none"),
        ({"namespaces": ["team_vision"]}, "got team_vision"),
        ({"namespaces": ["*"]}, "must be names"),
        ({"image": "fluent/fluent-bit:5"}, "pinned by its digest"),
    ],
)
def test_what_would_read_more_or_something_else(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        logs(**changes)


def test_the_group_has_a_key_and_an_end() -> None:
    made = record(lambda: TeamLogGroup("g", {"cluster_name": "acme", "key_arn": KEY_ARN, "retention_days": 365}))
    group = inputs_of(made.one(LOG_GROUP))
    assert (group["name"], group["retentionInDays"], group["kmsKeyId"]) == ("/trainyard/acme/team-logs", 365, KEY_ARN)
