"""Topics and log groups that programs send to: they are there, and in the region that the program is told."""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import LOG_GROUP, SNS_TOPIC
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.works.programs.told import told
from trainyard.rehearsal.works.references.aws.log_senders import outputs
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_TOPIC: Final = re.compile(r"arn:aws[\w-]*:sns:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):(?P<name>[\w-]+(?:\.fifo)?)")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every topic by its ARN, every log group of Fluent Bit."""
    topics = {str(view.resource.outputs.get("arn") or view.resource.id) for view in stack.of_type(SNS_TOPIC)}
    accounts = {found["account"] for topic in topics if (found := _TOPIC.fullmatch(topic))}
    for view, path, text in told(cluster) if topics else ():
        for found in _TOPIC.finditer(text):
            if found["account"] in accounts and found[0] not in topics:
                view.error(
                    "programs-topic",
                    path,
                    f"sends to the topic {show(found['name'])} in {found['region']}, which the stack does not make",
                    allowed=f"one of {', '.join(sorted(topic.rpartition(':')[2] for topic in topics))}",
                    hint=nearest(found[0], topics),
                )
    for release in cluster.releases:
        for path, receiver in _receivers(release):
            _signed(release, path, receiver)
    groups = {view.text("name") for view in stack.of_type(LOG_GROUP)}
    for view in cluster.of("ConfigMap"):
        for key, text in view.mapping("data").items():
            if isinstance(text, str):
                _sends_logs(view, f"data.{key}", text, groups, stack.context.region)


def _receivers(release: View) -> list[tuple[str, dict[str, object]]]:
    found = []
    for base in ("values.alertmanager.config.receivers", "values.config.receivers"):
        for path, receiver in release.items(base):
            for index, one in enumerate(listed(receiver.get("sns_configs"))):
                if isinstance(one, dict):
                    found.append((f"{path}.sns_configs[{index}]", one))
    return found


def _signed(release: View, path: str, receiver: dict[str, object]) -> None:
    """Alertmanager signs for the region that it is told, and SNS takes signatures for its own."""
    region = release.text(f"{path}.sigv4.region")
    found = _TOPIC.fullmatch(str(receiver.get("topic_arn")))
    if found is not None and region is not None and region != found["region"]:
        release.error(
            "programs-topic", f"{path}.sigv4.region", f"signs for {region}, and the topic is in {found['region']}",
            allowed=found["region"],
        )  # fmt: skip


def _sends_logs(view: View, path: str, text: str, groups: set[str | None], region: str) -> None:
    for output in outputs(text):
        if output.group in groups and region and output.region and output.region != region:
            view.error(
                "programs-log-group", path,
                f"sends to {output.group} in {output.region}, and the stack makes it in {region}", allowed=region,
            )  # fmt: skip
