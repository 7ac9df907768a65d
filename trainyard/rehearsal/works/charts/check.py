"""The room: looks at every Helm release and every managed add-on.

That a value exists and is of the right kind is told by `rehearsal.refusals.kubernetes.charts`. What a program needs to
start, and which flags it knows, stands in `programs.yaml` with its source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.catalog import known_kubernetes_versions
from trainyard.catalog.tables import tree
from trainyard.catalog.versions import ChartPin, add_on_pins, pins
from trainyard.problems import nearest
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import ADD_ON, EKS_CLUSTER, HELM_RELEASE
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.works.charts.counters import check_counters
from trainyard.rehearsal.works.charts.device_lists import check_device_lists
from trainyard.rehearsal.works.charts.gpus import check_cloud, check_driver, check_network, check_runtimes
from trainyard.rehearsal.works.charts.identifiers import check_identifiers
from trainyard.rehearsal.works.charts.managers import check_leaders, check_ports
from trainyard.rehearsal.works.charts.own_state import check_state, check_tags
from trainyard.rehearsal.works.charts.values import check_budgets, check_choices, check_patterns

_NEAR: Final = 0.8
"""How like a known flag one that is unknown has to be: versions bring new ones."""


_PARTS: Final = {
    "gpu-operator": {
        "devicePlugin": "nvidia-device-plugin", "dcgmExporter": "dcgm-exporter", "gfd": "gpu-feature-discovery",
        "nfd": "node-feature-discovery",
    },
    "kube-prometheus-stack": {"grafana": "grafana", "nodeExporter": "prometheus-node-exporter",
                              "kubeStateMetrics": "kube-state-metrics"},
    "kubeflow-trainer": {"jobset": "jobset"},
}  # fmt: skip
"""Parts that a chart brings unless its values say no, and the charts of the same programs (their values files)."""
_SWITCHES: Final = {"jobset": "install"}
"""How a part is switched, where it is not by `enabled`."""
_DURATION: Final = re.compile(r"0|(\d+(\.\d+)?(ns|us|ms|s|m|h))+")


@cache
def _programs() -> Mapping[str, Any]:
    return tree(files(__package__).joinpath("programs.yaml"))


def check(stack: Stack) -> None:
    """Notes what a release or an add-on would not do, or do elsewhere."""
    recorded = next((one.text("version") or "" for one in stack.of_type(EKS_CLUSTER)), "")
    for release in stack.of_type(HELM_RELEASE):
        chart = (release.text("chart") or "").rpartition("/")[2]
        known = _programs().get(chart, {})
        _required(release, known.get("required", ()))
        _place(release, known.get("region"), stack.context.region)
        _told(release, known.get("told-region"), stack.context.region)
        _cluster(release, known.get("cluster"), stack)
        check_identifiers(release, known, stack)
        _flags(release, known.get("flags", {}), _listed(known.get("inventory")))
        check_leaders(release, known)
        check_ports(release, known)
        _limits(release, release.mapping("values"), "values")
        check_choices(release, known.get("choices", {}))
        check_patterns(release, known.get("patterns", {}))
        check_budgets(release, release.mapping("values"))
        check_driver(release, chart, stack)
        check_cloud(release, chart, stack)
        check_device_lists(release, chart, stack)
        check_counters(release, chart)
        check_runtimes(release, chart, stack)
        check_network(release, chart, stack)
        check_state(release, chart)
        check_tags(release, chart, recorded)
        if stack.context.ours:
            _pinned(release, chart)
        else:
            _repository(release)
    _twice(stack)
    for add_on in stack.of_type(ADD_ON):
        _arguments(add_on)
        if stack.context.ours:
            _add_on(add_on, stack.context.kubernetes_version)


def _twice(stack: Stack) -> None:
    """Programs that a chart brings as a part, and another release of the stack as well: both offer the same devices."""
    charts = {(one.text("chart") or "").rpartition("/")[2]: one for one in stack.of_type(HELM_RELEASE)}
    for chart, parts in _PARTS.items():
        release = charts.get(chart)
        if release is None or release.is_unknown("values"):
            continue
        for part, other in parts.items():
            switch = f"values.{part}.{_SWITCHES.get(part, 'enabled')}"
            if other in charts and release.flag(switch) is not False and not release.is_unknown(switch):
                release.warning(
                    "charts-twice", switch,
                    f"brings what release {charts[other].name} brings too: on each node two of them run, and what they "
                    "offer and measure is there twice", allowed="false, or the other release goes",
                )  # fmt: skip


def _required(release: View, required: Sequence[Mapping[str, Any]]) -> None:
    for need in required:
        unless = need.get("unless")
        if unless is not None and release.value(f"values.{unless['path']}") in unless["is"]:
            continue
        paths = [f"values.{path}" for path in need["one_of"]]
        if release.is_unknown("values") or any(release.is_unknown(path) for path in paths):
            continue
        if not any(release.value(path) for path in paths):
            release.error(
                "charts-required-value",
                paths[0],
                f"is missing: {need['why']}",
                allowed=" or ".join(need["one_of"]),
            )


def _told(release: View, path: str | None, region: str) -> None:
    """A region that a program learns of its node where nobody tells it."""
    given = release.text(f"values.{path}") if path is not None else None
    if given and region and given != region:
        release.error(
            "charts-region", f"values.{path}", f"got {show(given)}", allowed=f"{region}, as the stack's provider"
        )


def _place(release: View, path: str | None, region: str) -> None:
    """A region that a program is told, by the values or by the chart itself, is the stack's."""
    if path is None or not region or release.text("values.cloudProvider") not in (None, "aws"):
        return
    given = release.text(f"values.{path}")
    default = str(_programs().get("default-region", ""))
    if given is not None and given != region:
        release.error(
            "charts-region", f"values.{path}", f"got {show(given)}", allowed=f"{region}, as the stack's provider"
        )
    elif given is None and release.lacks(f"values.{path}") and not release.is_unknown("values") and default != region:
        release.error(
            "charts-region", f"values.{path}", f"is missing: the chart's default is {default}", allowed=region
        )


def _cluster(release: View, path: str | None, stack: Stack) -> None:
    """The cluster whose groups a program looks for is the one that it runs in."""
    given = release.text(f"values.{path}") if path is not None else None
    names = {name for cluster in stack.of_type(EKS_CLUSTER) if (name := cluster.text("name")) is not None}
    unnamed = any(cluster.text("name") is None for cluster in stack.of_type(EKS_CLUSTER))
    if given is not None and names and not unnamed and given not in names:
        release.error(
            "charts-cluster",
            f"values.{path}",
            f"the stack makes no cluster {show(given)}",
            allowed=f"one of {', '.join(sorted(names))}",
            hint=nearest(given, names),
        )


@cache
def _listed(inventory: str | None) -> frozenset[str]:
    """Every flag of a program, where its own documents list them; empty where none do."""
    if inventory is None:
        return frozenset()
    folder = files("trainyard.rehearsal.works.inventories")
    return frozenset(json.loads(folder.joinpath(f"{inventory}.json").read_text())["flags"])


def _flags(release: View, known: Mapping[str, Any], listed_flags: frozenset[str]) -> None:
    """Flags of a program: one that it does not know ends it."""
    for path, flags in known.items():
        what, dashes = ("feature gate ", "") if path.endswith("featureGates") else ("flag ", "--")
        for place, flag, value in _given(release, f"values.{path}"):
            if flag not in flags and flag.replace("_", "-") not in listed_flags:
                every = listed_flags | set(flags)
                hint = nearest(flag, every, cutoff=_NEAR)
                if hint or listed_flags:
                    release.error(
                        "charts-flag", place, f"the program has no {what}{dashes}{flag}, and would not start",
                        allowed=hint or "a flag of its own",
                    )  # fmt: skip
            if flag not in flags:
                continue
            kind = flags[flag]
            if isinstance(kind, list) and isinstance(value, str):
                unknown = [part for part in value.split(",") if part not in kind]
                if unknown:
                    release.error("charts-flag", place, f"--{flag} is {show(value)}", allowed=f"of {', '.join(kind)}")
            elif kind == "bool" and value is not None and str(value).lower() not in ("true", "false"):
                release.error(
                    "charts-flag",
                    place,
                    f"{dashes}{flag} is {show(value)}",
                    allowed="true or false",
                )
            elif kind == "share" and isinstance(value, (str, int, float)) and not _is_share(value):
                release.error("charts-flag", place, f"--{flag} is {show(value)}", allowed="a share: 0 to 1")
            elif kind == "count" and isinstance(value, (str, float)) and re.fullmatch(r"-?\d+", f"{value}") is None:
                release.error("charts-flag", place, f"--{flag} is {show(value)}", allowed="a whole number")
            elif kind == "duration" and isinstance(value, str) and not _DURATION.fullmatch(value):
                release.error(
                    "charts-flag", place, f"--{flag} is {show(value)}", allowed="a duration with its unit: 10m"
                )


def _is_share(value: str | float) -> bool:
    number = as_number(value)
    return number is not None and 0 <= number <= 1


def _arguments(add_on: View) -> None:
    """Arguments that an add-on's configuration gives its program."""
    known = _programs().get(add_on.text("addonName") or "", {}).get("arguments", {})
    try:
        told = json.loads(add_on.text("configurationValues") or "{}") if known else {}
    except ValueError:
        return  # told by the check of the format
    for path, flags in known.items():
        for text in listed(follow(told, *path.split("."))) if isinstance(told, Mapping) else ():
            name, _, value = str(text).removeprefix("--").partition("=")
            if flags.get(name) == "duration" and not _DURATION.fullmatch(value):
                add_on.error(
                    "charts-flag", "configurationValues", f"{path}: --{name} is {show(value)}",
                    allowed="a duration with its unit: 15s",
                )  # fmt: skip
            hint = nearest(name, flags, cutoff=_NEAR) if name not in flags else ""
            if str(text).startswith("--") and hint:
                add_on.error(
                    "charts-flag", "configurationValues",
                    f"{path}: the program has no flag --{name}, and would not start", allowed=hint,
                )  # fmt: skip


def _given(release: View, path: str) -> Iterator[tuple[str, str, Any]]:
    """Place, name and value of each flag in a map of them or in a list of texts."""
    for name, value in release.mapping(path).items():
        yield f"{path}.{name}", str(name), value
    for index, text in enumerate(release.entries(path)):
        if isinstance(text, str) and text.startswith("--"):
            name, sign, value = text.removeprefix("--").partition("=")
            yield f"{path}[{index}]", name, value if sign else None
        elif isinstance(text, Mapping) and isinstance(text.get("name"), str):  # as Prometheus' operator takes them
            yield f"{path}[{index}].name", text["name"], text.get("value")


def _limits(release: View, values: Any, path: str) -> None:
    """A limit below its request: the API server refuses each pod, and the release waits until it fails."""
    if isinstance(values, Mapping):
        requests, limits = follow(values, "requests"), follow(values, "limits")
        if isinstance(requests, Mapping) and isinstance(limits, Mapping):
            for name, request in requests.items():
                low, high = quantity(request), quantity(limits.get(name))
                if low is not None and high is not None and low > high:
                    release.error(
                        "charts-limit",
                        f"{path}.limits.{name}",
                        f"{limits[name]} is below the request of {request}: no pod would be made",
                        allowed=f"{request} or more",
                    )
        for key, value in values.items():
            _limits(release, value, f"{path}.{key}")
    elif isinstance(values, list):
        for index, value in enumerate(values):
            _limits(release, value, f"{path}[{index}]")


def _pinned(release: View, chart: str) -> None:
    """Every chart of ours is pinned: another version is one that nobody has looked at."""
    pinned = {pin.chart.rpartition("/")[2]: pin for _, pin in pins().charts}
    known = {name: pin.version for name, pin in pinned.items()}
    version = release.text("version")
    if chart and chart not in known:
        release.error(
            "charts-unknown", "chart", f"{show(chart)} is pinned nowhere", allowed="a chart of catalog/versions.yaml",
            hint=nearest(chart, known),
        )  # fmt: skip
    elif chart and version is not None and version.removeprefix("v") != known[chart].removeprefix("v"):
        release.error(
            "charts-version", "version", f"got {version}: what it knows and does is known for {known[chart]} only",
            allowed=known[chart],
        )  # fmt: skip

    if chart in pinned and release.text("chart") is not None:
        _source(release, pinned[chart].at(release.stack.context.chart_mirror))


def _source(release: View, pin: ChartPin) -> None:
    """A chart is found where it is published, or at the mirror that the settings name, and nowhere else."""
    if not pin.repository:
        if release.text("chart") != pin.chart:
            release.error("charts-repository", "chart", f"got {release.text('chart')}", allowed=pin.chart)
    elif release.lacks("repositoryOpts.repo") and release.text("chart") == pin.chart:
        release.error(
            "charts-repository", "repositoryOpts.repo", f"is missing: {pin.chart} would be a folder here",
            allowed=pin.repository,
        )  # fmt: skip
    elif (given := release.text("repositoryOpts.repo")) is not None and given.rstrip("/") != pin.repository.rstrip("/"):
        release.error(
            "charts-repository", "repositoryOpts.repo", f"{given} is not where {pin.chart} is published",
            allowed=pin.repository,
        )  # fmt: skip


def _repository(release: View) -> None:
    """An address begins with its scheme; without one it is a name of Helm's own list, which holds no slash."""
    given = release.text("repositoryOpts.repo")
    if given is not None and "/" in given and "://" not in given:
        release.error(
            "charts-repository", "repositoryOpts.repo", f"got {show(given)}", allowed=f"https://{given.lstrip('/')}"
        )


def _add_on(add_on: View, version: str) -> None:
    name, given = add_on.text("addonName"), add_on.text("addonVersion")
    if name is None or version not in known_kubernetes_versions():
        return
    known = {pin.name: pin.version for pin in add_on_pins(version)[0]}
    if name not in known:
        add_on.error(
            "charts-unknown", "addonName", f"{show(name)} is pinned nowhere",
            allowed=f"one of {', '.join(sorted(known))}", hint=nearest(name, known),
        )  # fmt: skip
    elif given is not None and given != known[name]:
        add_on.error(
            "charts-version", "addonVersion", f"got {given}: EKS sells {known[name]} for Kubernetes {version}",
            allowed=known[name],
        )  # fmt: skip
