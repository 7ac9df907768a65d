"""Jobs whose pods never end: beside the work runs something that serves or sends on for ever.

Source: Kubernetes documentation, "Sidecar Containers" and "Jobs" (a pod has succeeded once all containers have; an
init container with `restartPolicy: Always` is ended with them), 2026-11; what the programs do, as generally known.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import follow, known_texts
from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_SERVERS: Final = re.compile(
    r"(?:^|/)(?:[\w-]*fluent-?bit|fluentd|vector|promtail|alloy|filebeat|envoy(?:proxy)?|nginx(?:-unprivileged)?|haproxy|"
    r"cloud-sql-proxy|gce-proxy|opentelemetry-collector[\w-]*|otel-collector[\w-]*|aws-otel-collector|redis|memcached|"
    r"statsd-exporter|node-exporter|dcgm-exporter|pushgateway|oauth2-proxy|squid|tensorboard|gcs-fuse-csi-driver[\w-]*)"
    r"(?=[:@]|$)"
)
"""Images of programs that serve or send on until they are ended."""
_FOR_EVER: Final = re.compile(
    r"\bsleep (?:infinity|inf)\b|\btail -[fF] |\bwhile (?:true|:) *;|\bhttp\.server\b|\bmlflow (?:ui|server)\b"
    r"|(?:^|[;&|\n] *|\bexec |\s-m |sh -\w*c )(?:[\w./-]*/)?tensorboard\b"
)
"""Commands that serve or wait for ever; TensorBoard where it is run, for trainers are told to report to it."""
_BEHIND: Final = re.compile(
    r"\bwhile (?:true|:) *;(?:(?!\bdone\b).)*\bdone *&(?![&>\d])"
    r"|(?:\bsleep |\btail -[fF] |\bhttp\.server\b|\btensorboard\b|\bmlflow )(?:[^;&|\n]|>&)*(?<!>)&(?![&>\d])",
    re.DOTALL,
)
"""What a shell leaves behind as it goes on; its container ends without it, unless the shell waits for all."""
_WAITS: Final = re.compile(r"\bwait\b(?! *[\"'$%\d])")
_ENDS: Final = re.compile(
    r"\b(?:break|exit|trap|timeout|kill|pkill|quitquitquit|--exit-zero-on-sigterm|max-sigterm-delay|-version|--version)\b"
)
"""By which a container may end with the work after all."""
_KINDS: Final = ("Job", "CronJob", "JobSet", "TrainJob")


def check(cluster: Cluster) -> None:
    """Every pod of a job that has several containers."""
    for pod in cluster.pods:
        kind = pod.view.text("kind") or ""
        if kind == "JobSet" and pod.containers_are_known:
            _awaited(pod)
        if kind not in _KINDS or not pod.containers_are_known or pod.spec.get("shareProcessNamespace"):
            continue
        own = [one for one in pod.containers if not one.is_init]
        stays = [one for one in own if _stays(one)]
        if len(own) > 1 and 0 < len(stays) < len(own) and not follow(pod.view.inputs, "spec", "successPolicy"):
            _tell(pod, stays[0])


def _awaited(pod: Pod) -> None:
    """A job of a set that others wait for to be complete, and that serves."""
    for path, entry in pod.view.items("spec.replicatedJobs"):
        for here, other in pod.view.items(f"{path}.dependsOn"):
            if other.get("name") != pod.job or other.get("status") != "Complete":
                continue
            stays = [one for one in pod.containers if not one.is_init and _stays(one)]
            if stays:
                pod.view.error(
                    "programs-companion", f"{here}.status",
                    f"is Complete, and {pod.job} serves until it is ended: {entry.get('name')} never starts",
                    allowed="Ready",
                )  # fmt: skip


def _tell(pod: Pod, container: Container) -> None:
    pod.view.error(
        "programs-companion", container.path,
        f"{container.name or 'a container'} runs on when the work is done: {pod.title} never ends, and keeps its nodes",
        allowed="an init container with restartPolicy Always, which is ended with the others",
    )  # fmt: skip


def _stays(container: Container) -> bool:
    words = " ".join(text for key in ("command", "args") for _, text in known_texts(container.body.get(key)))
    if has_unknown(container.body.get("command")) or has_unknown(container.body.get("args")) or _ENDS.search(words):
        return False
    image = container.body.get("image")
    served = _SERVERS.search(image.partition("@")[0]) if isinstance(image, str) else None
    stays = words if _WAITS.search(words) else _BEHIND.sub("", words)
    return _FOR_EVER.search(stays) is not None or (served is not None and _serves(served[0].strip("/"), container))


def _serves(name: str, container: Container) -> bool:
    """Whether a container of a server's image runs the server: its own command may be another program of the image."""
    command = listed(container.body.get("command"))
    program = PurePosixPath(str(command[0])).name.replace("_", "-") if command else name
    return program in (name, f"{name}-server")
