"""What recorded pods say of themselves: their service account, claims, commands and environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.queues import LOCAL_QUEUE
from trainyard.recorded.read import follow, known_texts, value_at
from trainyard.recorded.types import HELM_RELEASE, SERVICE_ACCOUNT
from trainyard.rehearsal.context import Stack, View, listed
from trainyard.rehearsal.works.workloads.model import Workload


@dataclass(frozen=True, slots=True)
class RecordedPod:
    """Pods that a recorded object makes, and what they say."""

    view: View
    workload: Workload
    account: str  # empty where it is not known
    on_host: bool
    claims: tuple[str, ...]
    words: tuple[tuple[str, str], ...]  # commands, arguments and environment, each with its path
    variables: Mapping[str, str]  # of the environment; empty where the value is not known
    has_more_variables: bool  # taken whole from elsewhere: they may be anything
    config_maps: tuple[str, ...]  # mounted ones

    @property
    def namespace(self) -> str:
        """Where they are."""
        return self.workload.namespace

    def __str__(self) -> str:
        """The pods in words."""
        return self.workload.told()


def recorded(stack: Stack, made: Sequence[Workload]) -> list[RecordedPod]:
    """The pods of every recorded object that makes some as they are told."""
    return [
        _read(stack.view_of(workload.resource), workload)
        for workload in made
        if workload.origin == "object" and not workload.is_template
    ]


def templates(stack: Stack, made: Sequence[Workload]) -> list[RecordedPod]:
    """The pods of every recorded runtime, which the jobs that name it fill in: in no namespace where any may."""
    return [
        _read(stack.view_of(workload.resource), workload)
        for workload in made
        if workload.origin == "object" and workload.is_template
    ]


def that_mount(
    stack: Stack, runtimes: Sequence[RecordedPod], namespace: str, claim: str
) -> Iterator[tuple[RecordedPod, str]]:
    """The runtimes whose jobs mount a claim of a namespace, with who these are and what they run as, in words.

    Jobs of a namespace are made of a runtime where it has a queue, or where the runtime is its own. A runtime that
    names no account may leave that to its jobs, and is left out.
    """
    for runtime in runtimes:
        if claim not in runtime.claims or not runtime.account or "serviceAccountName" not in runtime.workload.spec:
            continue
        if runtime.namespace == namespace if runtime.namespace else _has_queue(stack, namespace):
            yield runtime, f"jobs of {runtime.workload.name} in {namespace}, as {runtime.account},"


def _has_queue(stack: Stack, namespace: str) -> bool:
    return any(
        value_at(queue.inputs, "metadata", "namespace", default="default", unknown="") == namespace
        for queue in stack.resources.of(LOCAL_QUEUE)
    )


def _read(view: View, workload: Workload) -> RecordedPod:
    words, variables, more = [], {}, False
    for at, container in workload.containers():
        for key in ("command", "args"):
            words += [(workload.at(f"{at}.{where}"), text) for where, text in known_texts(container.get(key), key)]
        for index, variable in enumerate(listed(container.get("env"))):
            name, value = follow(variable, "name"), follow(variable, "value")
            if isinstance(name, str):
                variables[name] = value if isinstance(value, str) else ""
            if isinstance(value, str):
                words.append((workload.at(f"{at}.env[{index}].value"), value))
        more = more or bool(container.get("envFrom"))
    account = workload.spec.get("serviceAccountName")
    return RecordedPod(
        view,
        workload,
        account if isinstance(account, str) else "" if account is UNKNOWN else "default",
        workload.spec.get("hostNetwork") is True,
        _names(workload, "persistentVolumeClaim", "claimName"),
        tuple(words),
        variables,
        more,
        _names(workload, "configMap", "name"),
    )


def _names(workload: Workload, *path: str) -> tuple[str, ...]:
    volumes = listed(workload.spec.get("volumes"))
    return tuple(name for volume in volumes if isinstance(name := follow(volume, *path), str))


def accounts_of(stack: Stack, namespace: str) -> list[str]:
    """The recorded service accounts of a namespace; none where a chart may make more, or a name is not known."""
    if any(view.text("namespace") in (namespace, None) for view in stack.of_type(HELM_RELEASE)):
        return []
    names = [
        view.text("metadata.name")
        for view in stack.of_type(SERVICE_ACCOUNT)
        if (view.text("metadata.namespace") or "default") == namespace
    ]
    return sorted(name for name in names if name) if None not in names else []
