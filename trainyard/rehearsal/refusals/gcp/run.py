"""Cloud Run: processors and memory of containers, probes, variables, times and numbers of services and jobs.

Source: Cloud Run documentation, "Configure memory limits", "Configure CPU limits", "Container runtime contract",
"Configure container health checks", "Set request timeout", "Set task timeout" and "Direct VPC egress"; descriptions in
pulumi_gcp 10.2.0; as generally known, 2026-11.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from trainyard.conventions import GPU_RESOURCE
from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE
from trainyard.problems import count
from trainyard.recorded.quantities import quantity
from trainyard.recorded.types import GCP_RUN_JOB, GCP_RUN_SERVICE
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

_PROCESSORS: Final = (1, 2, 4, 6, 8)
_MOST_MEMORY: Final = ((1, 4), (2, 8), (4, 16), (6, 24), (8, 32))
"""Processors, and the most GiB beside them."""
_LEAST_PROCESSORS_OF: Final = ((4, 2), (8, 4), (16, 6), (24, 8))
"""Above so many GiB, the least processors."""
_LEAST_MEMORY: Final = ((6, 4), (4, 2))
"""From so many processors on, the least GiB beside them."""
_LEAST_OF_GEN2: Final = GIBIBYTE // 2
_USUAL_MEMORY: Final = GIBIBYTE // 2
_OWN_OF_SERVICES: Final = ("PORT", "K_SERVICE", "K_REVISION", "K_CONFIGURATION")
_OWN_OF_JOBS: Final = (
    "CLOUD_RUN_JOB", "CLOUD_RUN_EXECUTION", "CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_ATTEMPT", "CLOUD_RUN_TASK_COUNT",
)  # fmt: skip
_NAME: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,47}[a-z0-9])?")
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)s")
_REQUEST_SECONDS: Final = (1, 3600)
_TASK_SECONDS: Final = (1, 7 * 24 * 3600)
_CONCURRENT: Final = (1, 1000)
_RETRIES: Final = (0, 10)
_TASKS: Final = (1, 10_000)
_PROBE_SECONDS: Final[Mapping[str, int]] = {"startupProbe": 240, "livenessProbe": 3600, "readinessProbe": 300}
"""The longest period of each, and the longest wait before a first startup."""
_STARTUP_SECONDS, _STARTUP_SECONDS_OF_GPU = 600, 1800
"""The longest that a startup probe may ask in all, without a GPU and with one."""
_BESIDE_GPU: Final[Mapping[str, tuple[int, int]]] = {"nvidia-l4": (4, 16), "nvidia-rtx-pro-6000": (20, 80)}
"""By GPU, the least processors and GiB of memory ("GPU support for services")."""
_CONNECTION: Final = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z]+:[a-z0-9-]+)?:[a-z]+-[a-z]+\d+:[a-z][a-z0-9-]*")
"""The connection name of an instance of Cloud SQL."""
_ACTIONS: Final = ("httpGet", "tcpSocket", "grpc")


def service(view: View) -> None:
    """A service: its revision's containers, its times and numbers."""
    _name(view)
    at = "template."
    _seconds(view, f"{at}timeout", _REQUEST_SECONDS, "a request")
    _between(view, f"{at}maxInstanceRequestConcurrency", _CONCURRENT)
    _least_and_most(view, f"{at}scaling.minInstanceCount", f"{at}scaling.maxInstanceCount")
    _least_and_most(view, "scaling.minInstanceCount", "scaling.maxInstanceCount")
    _network(view, at)
    _containers(view, at, _OWN_OF_SERVICES)
    _one_port(view, at)
    shares = [view.number(f"{path}.percent") for path, _ in view.items("traffics")]
    known = [one for one in shares if one is not None]
    if known and len(known) == len(shares) and sum(known) != 100:
        view.error("gcp-run", "traffics", f"{sum(known):g} % of requests in all", allowed="100 in all")


def job(view: View) -> None:
    """A job: its tasks' containers, its times and numbers."""
    _name(view)
    at = "template.template."
    _seconds(view, f"{at}timeout", _TASK_SECONDS, "a task")
    _between(view, f"{at}maxRetries", _RETRIES)
    _between(view, "template.taskCount", _TASKS)
    tasks, together = view.number("template.taskCount"), view.number("template.parallelism")
    if together is not None and together > (
        1 if tasks is None and view.lacks("template.taskCount") else tasks or together
    ):
        message = f"{together:g} tasks at a time, of {tasks or 1:g}"
        view.error("gcp-run", "template.parallelism", message, allowed="at most taskCount")
    if view.has("runExecutionToken") and view.has("startExecutionToken"):
        message = "a job is started and waited for (run), or started (start): one of the two"
        view.error(
            "gcp-run", "startExecutionToken", message, allowed="one of runExecutionToken and startExecutionToken"
        )
    _network(view, at)
    _containers(view, at, _OWN_OF_JOBS)
    for path, container in view.items(f"{at}containers"):
        for probe in ("livenessProbe", "readinessProbe"):
            if container.get(probe):
                view.error(
                    "gcp-run", f"{path}.{probe}", "a job's container takes a startup probe alone", allowed="none"
                )


def _name(view: View) -> None:
    name = view.text("name")
    if name is not None and "/" not in name and not _NAME.fullmatch(name):
        allowed = "1 to 49 of a-z, 0-9 and -, begins with a letter and does not end with -"
        view.error("gcp-name", "name", show(name), allowed=allowed)


def _seconds(view: View, path: str, bounds: tuple[int, int], what: str) -> None:
    text = view.text(path)
    found = _DURATION.fullmatch(text) if text is not None else None
    if found is not None and not bounds[0] <= float(found[1]) <= bounds[1]:
        view.error("gcp-run", path, f"{what} of {text}", allowed=f"{bounds[0]}s to {bounds[1]}s")


def _between(view: View, path: str, bounds: tuple[int, int]) -> None:
    number = view.number(path)
    if number is not None and not bounds[0] <= number <= bounds[1]:
        view.error("gcp-run", path, f"{number:g}", allowed=f"{bounds[0]} to {bounds[1]}")


def _least_and_most(view: View, least: str, most: str) -> None:
    low, high = view.number(least), view.number(most)
    if low is not None and high is not None and high > 0 and low > high:
        view.error("gcp-run", least, f"{low:g} at least and {high:g} at most", allowed=f"at most {high:g}")


def _network(view: View, at: str) -> None:
    path = f"{at}vpcAccess"
    if view.has(f"{path}.connector") and view.has(f"{path}.networkInterfaces"):
        message = "a connector and networkInterfaces: the way into the network is one of the two"
        view.error("gcp-run", f"{path}.connector", message, allowed="one of connector and networkInterfaces")


def _containers(view: View, at: str, own: tuple[str, ...]) -> None:
    volumes = {str(volume.get("name")) for _, volume in view.items(f"{at}volumes")}
    for where, _ in view.items(f"{at}volumes"):
        path = f"{where}.cloudSqlInstance.instances"
        for index, text in enumerate(view.texts(path)):
            if not _CONNECTION.fullmatch(text):
                view.error("gcp-run", f"{path}[{index}]", show(text), allowed="PROJECT:REGION:INSTANCE")
    names = Counter(str(container.get("name")) for _, container in view.items(f"{at}containers"))
    for path, container in view.items(f"{at}containers"):
        limits = container.get("resources", {}).get("limits") if isinstance(container.get("resources"), Mapping) else {}
        gpu = isinstance(limits, Mapping) and GPU_RESOURCE in limits
        if gpu:
            _beside_a_gpu(view, at, path)
        else:
            _limits(view, at, path)
        _variables(view, path, own)
        for probe, longest in _PROBE_SECONDS.items():
            if isinstance(container.get(probe), Mapping):
                _probe(view, f"{path}.{probe}", longest)
        if isinstance(container.get("startupProbe"), Mapping):
            _startup(view, f"{path}.startupProbe", _STARTUP_SECONDS_OF_GPU if gpu else _STARTUP_SECONDS)
        for where, mount in view.items(f"{path}.volumeMounts"):
            name = mount.get("name")
            if isinstance(name, str) and name not in volumes and not view.blurred(f"{at}volumes"):
                there = ", ".join(sorted(volumes)) or "none: there are no volumes"
                view.error("gcp-run", f"{where}.name", f"no volume {show(name)}", allowed=there)
        needed = listed(container.get("dependsOns"))
        for name in needed:
            if isinstance(name, str) and name not in names:
                view.error("gcp-run", f"{path}.dependsOns", f"no container {show(name)}", allowed="a container's name")
        if container.get("name") and names[str(container["name"])] > 1:
            view.error(
                "gcp-run", f"{path}.name", f"two containers {show(container['name'])}", allowed="a name of its own"
            )


def _one_port(view: View, at: str) -> None:
    """Requests go to one container, which a port says where there are several."""
    if view.blurred(f"{at}containers"):
        return
    containers = list(view.items(f"{at}containers"))
    with_port = [path for path, container in containers if container.get("ports")]
    if len(with_port) > 1:
        view.error("gcp-run", f"{with_port[1]}.ports", "requests go to one container", allowed="ports of one container")
    elif len(containers) > 1 and not with_port:
        message = f"{len(containers)} containers, and none has a port: to which do requests go?"
        view.error("gcp-run", f"{at}containers", message, allowed="ports of one container")


def _limits(view: View, at: str, path: str) -> None:
    limits = f"{path}.resources.limits"
    cpu, memory = quantity(view.value(f"{limits}.cpu")), quantity(view.value(f"{limits}.memory"))
    if cpu is None:
        cpu = 1.0 if view.lacks(f"{limits}.cpu") else None
    if cpu is None or view.lacks(limits):
        return
    if cpu >= 1 and cpu not in _PROCESSORS:
        view.error("gcp-run", f"{limits}.cpu", f"{cpu:g} processors", allowed="below 1, or 1, 2, 4, 6 or 8")
        return
    second = view.text(f"{at}executionEnvironment") == "EXECUTION_ENVIRONMENT_GEN2"
    if cpu < 1 and view.type == GCP_RUN_SERVICE:
        _part_of_a_processor(view, at, path, cpu, second)
    if memory is None:
        has_gpus = any("gpu" in str(key) for key in view.mapping(limits))  # beside which nobody says what is usual
        memory = float(_USUAL_MEMORY) if view.lacks(f"{limits}.memory") and cpu >= 4 and not has_gpus else None
    if memory is None:
        return
    least = next((gib for processors, gib in _LEAST_MEMORY if cpu >= processors), 0)
    if memory < least * GIBIBYTE:
        words = f"{memory / MEBIBYTE:g} MiB beside {cpu:g} processors"
        view.error("gcp-run", f"{limits}.memory", words, allowed=f"at least {least}Gi")
        return
    most = next(gib for processors, gib in _MOST_MEMORY if cpu <= processors) if cpu >= 1 else cpu * 4
    need = next((least for above, least in reversed(_LEAST_PROCESSORS_OF) if memory > above * GIBIBYTE), 1)
    if cpu < 1 and memory > GIBIBYTE:
        view.error(
            "gcp-run",
            f"{limits}.memory",
            f"{memory / GIBIBYTE:g} GiB beside {cpu:g} of a processor",
            allowed="at most 1Gi",
        )
    elif cpu >= 1 and (memory > most * GIBIBYTE or cpu < need):
        message = f"{memory / GIBIBYTE:g} GiB beside {cpu:g} processor{'s' if cpu > 1 else ''}"
        view.error(
            "gcp-run", f"{limits}.memory", message, allowed=f"at most {most:g}Gi beside {cpu:g}, or more processors"
        )
    elif second and memory < _LEAST_OF_GEN2:
        view.error(
            "gcp-run",
            f"{limits}.memory",
            f"{memory / MEBIBYTE:g} MiB in the second generation",
            allowed="512Mi or more",
        )


def _part_of_a_processor(view: View, at: str, path: str, cpu: float, second: bool) -> None:
    place = f"{path}.resources.limits.cpu"
    together = view.number(f"{at}maxInstanceRequestConcurrency")
    if together is not None and together > 1:
        message = f"{cpu:g} of a processor for {together:g} requests at a time"
        view.error("gcp-run", place, message, allowed="1 or more, or maxInstanceRequestConcurrency 1")
    elif second:
        view.error("gcp-run", place, f"{cpu:g} of a processor in the second generation", allowed="1 or more")
    elif view.flag(f"{path}.resources.cpuIdle") is False:
        message = f"{cpu:g} of a processor that is always there"
        view.error("gcp-run", place, message, allowed="1 or more, or cpuIdle: true")


def _beside_a_gpu(view: View, at: str, path: str) -> None:
    """Processors and memory beside a GPU, and processors that are there between requests too ("GPU support")."""
    kind = view.text(f"{at}nodeSelector.accelerator")
    least, gib = _BESIDE_GPU.get(kind or "", (0, 0))
    limits = view.mapping(f"{path}.resources.limits")
    cpu = quantity(str(limits.get("cpu", least)))
    memory = quantity(str(limits.get("memory", f"{gib}Gi")))
    if cpu is not None and cpu < least:
        words = f"{limits.get('cpu')} beside {kind}"
        view.error("gcp-run", f"{path}.resources.limits.cpu", words, allowed=f"at least {least}")
    if memory is not None and memory < gib * GIBIBYTE:
        words = f"{limits.get('memory')} beside {kind}"
        view.error("gcp-run", f"{path}.resources.limits.memory", words, allowed=f"at least {gib}Gi")
    if view.flag(f"{path}.resources.cpuIdle") and view.type == GCP_RUN_SERVICE:
        words = "processors that are there for requests alone, beside a GPU"
        view.error("gcp-run", f"{path}.resources.cpuIdle", words, allowed="false")


def _is_beside(view: View, path: str) -> bool:
    """Whether a container is not the one that requests go to: it has no port where another has."""
    containers = list(view.items(f"{path.rpartition('containers')[0]}containers"))
    return len(containers) > 1 and not view.has(f"{path}.ports") and any("ports" in each for _, each in containers)


def _variables(view: View, path: str, own: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for where, variable in view.items(f"{path}.envs"):
        name = variable.get("name")
        if not isinstance(name, str):
            continue
        if name in own and not (name == "PORT" and _is_beside(view, path)):
            view.error("gcp-run", f"{where}.name", f"Cloud Run sets {name} itself", allowed="another name")
        if name in seen:
            view.error("gcp-run", f"{where}.name", f"{name} is set twice", allowed="each name once")
        if variable.get("value") not in (None, "") and variable.get("valueSource"):
            view.error("gcp-run", where, f"{name} has a value and a valueSource", allowed="one of the two")
        seen.add(name)


def _number(view: View, path: str, default: float) -> float | None:
    return view.number(path) if view.has(path) else default


def _startup(view: View, path: str, longest: int) -> None:
    period, times = _number(view, f"{path}.periodSeconds", 10), _number(view, f"{path}.failureThreshold", 3)
    if period is not None and times is not None and period * times > longest:
        message = f"{count(period * times, 'second')} to start: periodSeconds times failureThreshold"
        view.error("gcp-run", f"{path}.failureThreshold", message, allowed=f"at most {longest} seconds")


def _probe(view: View, path: str, longest: int) -> None:
    period, wait = _number(view, f"{path}.periodSeconds", 10), _number(view, f"{path}.timeoutSeconds", 1)
    first, times = _number(view, f"{path}.initialDelaySeconds", 0), _number(view, f"{path}.failureThreshold", 3)
    for key, number, bounds in (
        ("periodSeconds", period, (1, longest)),
        ("timeoutSeconds", wait, (1, longest)),
        ("initialDelaySeconds", first, (0, longest)),
    ):
        if number is not None and not bounds[0] <= number <= bounds[1]:
            view.error("gcp-run", f"{path}.{key}", f"{count(number, 'second')}", allowed=f"{bounds[0]} to {bounds[1]}")
    if period is not None and wait is not None and wait > period:
        message = f"an answer is waited for {count(wait, 'second')}, and asked for every {period:g}"
        view.error("gcp-run", f"{path}.timeoutSeconds", message, allowed=f"at most {period:g}")
    if times is not None and times < 1:
        view.error("gcp-run", f"{path}.failureThreshold", f"{times:g}", allowed="1 or more")
    actions = [one for one in _ACTIONS if view.has(f"{path}.{one}")]
    if len(actions) > 1:
        view.error("gcp-run", path, f"{' and '.join(actions)}: a probe asks one way", allowed=", ".join(_ACTIONS))
    if path.endswith(".livenessProbe") and actions == ["tcpSocket"]:
        view.error("gcp-run", f"{path}.tcpSocket", "liveness is not asked by TCP", allowed="httpGet or grpc")
    asked = view.text(f"{path}.httpGet.path")
    if asked is not None and not asked.startswith("/"):
        view.error("gcp-run", f"{path}.httpGet.path", show(asked), allowed="begins with /")


RULES: Rules = {service: (GCP_RUN_SERVICE,), job: (GCP_RUN_JOB,)}
