"""What Cloud Monitoring and Logging know of figures and of what they are of: the kind of resource, its labels, the
unit, and which alignment goes with which kind of figure.

Sources: Cloud Monitoring, "Google Cloud metrics" and "Kubernetes metrics" (`inventories/google_metrics.csv`) and
"Monitored resource types", as generally known in 2026-11; Monitoring API v3, `Aggregation.Aligner`, whose description
says which kinds and values of figures each takes (discovery document of google-api-python-client 2.202.0). There are
many more figures and labels than these: of others nothing is said.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from trainyard.problems import nearest, nearest_word
from trainyard.recorded.types import GCP_ALERT_POLICY, GCP_LOG_METRIC, GCP_LOG_SINK
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.programs.gcp.figures import NEVER_BELOW

LOGGED_KIND: Final = re.compile(r"resource\.type\"?\s*=\s*\"([^\"]+)\"")

_TYPE: Final = re.compile(r"metric\.type\s*=\s*\"([^\"]+)\"")
_LABEL: Final = re.compile(r"resource\.labels?\.\"?([a-z_]+)")
_MANY: Final = re.compile(r"\bOR\b|\bNOT\b|(?<![\w\"])-\w|!=")
_PROJECT: Final = ("project_id",)
_CLUSTER: Final = (*_PROJECT, "location", "cluster_name")
_POD: Final = (*_CLUSTER, "namespace_name", "pod_name")
LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "audited_resource": (*_PROJECT, "service", "method"),
    "bigquery_dataset": (*_PROJECT, "dataset_id"),
    "bigquery_resource": _PROJECT,
    "build": (*_PROJECT, "build_id", "build_trigger_id"),
    "cloud_function": (*_PROJECT, "function_name", "region"),
    "cloud_run_job": (*_PROJECT, "job_name", "location"),
    "cloud_run_revision": (*_PROJECT, "service_name", "revision_name", "location", "configuration_name"),
    "cloud_scheduler_job": (*_PROJECT, "location", "job_id"),
    "cloud_tasks_queue": (*_PROJECT, "queue_id", "target_type", "location"),
    "cloudml_job": (*_PROJECT, "job_id", "task_name"),
    "cloudsql_database": (*_PROJECT, "database_id", "region"),
    "consumed_api": (*_PROJECT, "service", "method", "version", "location", "credential_id"),
    "consumer_quota": (*_PROJECT, "service", "location"),
    "dataflow_job": (*_PROJECT, "job_name", "region"),
    "filestore_instance": (*_PROJECT, "location", "instance_name"),
    "gce_disk": (*_PROJECT, "disk_id", "zone"),
    "gce_instance": (*_PROJECT, "instance_id", "zone"),
    "gce_router": (*_PROJECT, "region", "router_id"),
    "gce_subnetwork": (*_PROJECT, "location", "subnetwork_id", "subnetwork_name"),
    "gcs_bucket": (*_PROJECT, "bucket_name", "location"),
    "generic_node": (*_PROJECT, "location", "namespace", "node_id"),
    "generic_task": (*_PROJECT, "location", "namespace", "job", "task_id"),
    "gke_cluster": _CLUSTER,
    "gke_nodepool": (*_CLUSTER, "nodepool_name"),
    "global": _PROJECT,
    "instance_group": (*_PROJECT, "instance_group_id", "instance_group_name", "location"),
    "k8s_cluster": _CLUSTER,
    "k8s_container": (*_POD, "container_name"),
    "k8s_control_plane_component": (*_CLUSTER, "component_name", "component_location"),
    "k8s_node": (*_CLUSTER, "node_name"),
    "k8s_pod": _POD,
    "k8s_service": (*_CLUSTER, "namespace_name", "service_name"),
    "ml_job": (*_PROJECT, "job_id", "task_name"),
    "nat_gateway": (*_PROJECT, "region", "router_id", "gateway_name"),
    "project": _PROJECT,
    "prometheus_target": (*_PROJECT, "location", "cluster", "namespace", "job", "instance"),
    "pubsub_subscription": (*_PROJECT, "subscription_id"),
    "pubsub_topic": (*_PROJECT, "topic_id"),
    "redis_instance": (*_PROJECT, "region", "instance_id", "node_id"),
    "service_account": (*_PROJECT, "email_id", "unique_id"),
    "uptime_url": (*_PROJECT, "host"),
    "vpn_gateway": (*_PROJECT, "gateway_id", "region"),
}
"""Labels of what is monitored, by its kind."""

_TAKES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "ALIGN_DELTA": (("CUMULATIVE", "DELTA"), ()),
    "ALIGN_RATE": (("CUMULATIVE", "DELTA"), ("INT64", "DOUBLE")),
    "ALIGN_INTERPOLATE": (("GAUGE",), ("INT64", "DOUBLE")),
    "ALIGN_NEXT_OLDER": (("GAUGE",), ()),
    "ALIGN_MIN": (("GAUGE", "DELTA"), ("INT64", "DOUBLE")),
    "ALIGN_MAX": (("GAUGE", "DELTA"), ("INT64", "DOUBLE")),
    "ALIGN_MEAN": (("GAUGE", "DELTA"), ("INT64", "DOUBLE", "DISTRIBUTION")),
    "ALIGN_COUNT_TRUE": (("GAUGE",), ("BOOL",)),
    "ALIGN_COUNT_FALSE": (("GAUGE",), ("BOOL",)),
    "ALIGN_FRACTION_TRUE": (("GAUGE",), ("BOOL",)),
    "ALIGN_PERCENTILE_99": (("GAUGE", "DELTA"), ("DISTRIBUTION",)),
    "ALIGN_PERCENTILE_95": (("GAUGE", "DELTA"), ("DISTRIBUTION",)),
    "ALIGN_PERCENTILE_50": (("GAUGE", "DELTA"), ("DISTRIBUTION",)),
    "ALIGN_PERCENTILE_05": (("GAUGE", "DELTA"), ("DISTRIBUTION",)),
}
"""Kinds of figures that an alignment takes, and what values; none: any."""

_SMALL: Final[Mapping[str, tuple[float, str]]] = {
    "ms": (10, "milliseconds"),
    "us": (1000, "microseconds"),
    "ns": (100_000, "nanoseconds"),
    "By": (1000, "bytes"),
}
"""Units with what nobody waits for less of, and their names: a threshold below it is in a larger unit."""
_OF_LOGS: Final = "logging.googleapis.com/user/"
"""What figures that are made of lines of a log are called, with their name after it."""
_DAYS_LEFT: Final = "d"
"""Unit of what counts down, below 0 too."""
_QUARTER: Final = 90 * 86_400
"""Seconds above which a figure of seconds is taken for one of another unit."""
_FIGURES_ALONE: Final = {"cloudml_job": "ml_job", "prometheus_target": "k8s_container"}
"""Kinds of resources of figures alone, and what lines of the same things are of."""
_GROWS: Final = ("uptime", "uptime_total")
"""Figures of seconds that grow for as long as something runs."""
_ALL: Final = 100
_NEAR: Final = 0.9


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of Google's."""

    resources: tuple[str, ...]  # kinds of what it is of; empty: many
    kind: str
    value: str
    unit: str


@cache
def figures() -> Mapping[str, Figure]:
    """Every figure of the inventory, by its name."""
    text = files("trainyard.rehearsal.works.inventories").joinpath("google_metrics.csv").read_text(encoding="utf-8")
    return {
        row["metric"]: Figure(tuple(row["resources"].split()), row["kind"], row["value"], row["unit"])
        for row in csv.DictReader(text.splitlines())
    }


def check(stack: Stack) -> None:
    """Every alert, and every filter of lines."""
    for type_ in (GCP_LOG_METRIC, GCP_LOG_SINK):
        for view in stack.of_type(type_):
            _labels(view, "filter", view.text("filter") or "", (view.text("filter") or "",))
            _lines(view, "filter", view.text("filter") or "")
    for view in stack.of_type(GCP_ALERT_POLICY):
        for at, _ in view.items("conditions"):
            for kind in ("conditionThreshold", "conditionAbsent"):
                text = view.text(f"{at}.{kind}.filter")
                if text is not None:
                    _condition(view, f"{at}.{kind}", text)
            lines = view.text(f"{at}.conditionMatchedLog.filter") or ""
            _labels(view, f"{at}.conditionMatchedLog.filter", lines, (lines,))
            _lines(view, f"{at}.conditionMatchedLog.filter", lines)


def _lines(view: View, path: str, text: str) -> None:
    """A kind of resource that figures have and no line of a log."""
    kinds = set(LOGGED_KIND.findall(text))
    for kind, instead in _FIGURES_ALONE.items() if len(kinds) == 1 and not _MANY.search(text) else ():
        if kind in kinds:
            words = f"no line of a log is of {kind}, which figures alone are of: nothing is meant"
            view.error("programs-filter", path, words, allowed=instead)


def _condition(view: View, path: str, text: str) -> None:
    grouped = [name for at, _ in view.items(f"{path}.aggregations") for name in view.texts(f"{at}.groupByFields")]
    _labels(view, f"{path}.filter", text, (text, *grouped))
    names, kinds = _TYPE.findall(text), LOGGED_KIND.findall(text)
    if len(names) != 1 or _MANY.search(text):
        return
    name, figure = names[0], figures().get(names[0])
    aggregations = list(view.items(f"{path}.aggregations"))
    own = _own(view.stack, name)
    if own is not None:
        if aggregations:
            _aligned(view, aggregations[0][0], name, own)
        return
    if figure is None:
        family, _, last = name.rpartition("/")
        others = [one.rpartition("/")[2] for one in figures() if one.rpartition("/")[0] == family]
        near = nearest_word(last, others, _NEAR)
        _family(view, f"{path}.filter", name, kinds)
        if near:
            words = f"no figure is called {show(name)}: nothing is seen"
            view.warning(
                "programs-figure", f"{path}.filter", words, allowed=f"{family}/{near}", hint=f"did you mean {near}?"
            )
        return
    if figure.resources and kinds and kinds[0] not in figure.resources:
        words = f"{name} is of {' or '.join(figure.resources)}, not of {show(kinds[0])}: nothing is seen"
        view.error("programs-figure", f"{path}.filter", words, allowed=", ".join(figure.resources))
    if aggregations:
        _aligned(view, aggregations[0][0], name, figure)
    if path.endswith("conditionThreshold"):
        _threshold(view, path, name, figure, aggregations)


def _own(stack: Stack, name: str) -> Figure | None:
    """A figure that the stack makes of lines of a log: so many of them, unless it says otherwise."""
    called = name.removeprefix(_OF_LOGS)
    if called == name:
        return None
    for metric in stack.of_type(GCP_LOG_METRIC):
        if metric.text("name") == called and not metric.is_unknown("metricDescriptor"):
            kind, value = metric.text("metricDescriptor.metricKind"), metric.text("metricDescriptor.valueType")
            return Figure((), kind or "DELTA", value or "INT64", "")
    return None


def _family(view: View, path: str, name: str, kinds: list[str]) -> None:
    """A figure that is not known, of a family that is of another kind of resource: a topic's of a subscription."""
    service, _, rest = name.partition("/")
    family, families = rest.partition("/")[0], dict[str, set[str]]()
    for known, figure in figures().items():
        if known.startswith(f"{service}/"):
            families.setdefault(known.split("/")[1], set()).update(figure.resources)
    of = families.get(family, set())
    elsewhere = set().union(*families.values()) - of
    if kinds and of and kinds[0] in elsewhere:
        words = f"{name} is of {' or '.join(sorted(of))}, not of {show(kinds[0])}: nothing is seen"
        view.error("programs-figure", path, words, allowed=", ".join(sorted(of)))


def _aligned(view: View, path: str, name: str, figure: Figure) -> None:
    """An alignment that the figure's kind takes: Cloud Monitoring refuses another."""
    aligner = view.text(f"{path}.perSeriesAligner") or ""
    kinds, values = _TAKES.get(aligner, ((), ()))
    if kinds and figure.kind not in kinds:
        words = f"{aligner} of {name}, a {figure.kind}"
        view.error("programs-aligner", f"{path}.perSeriesAligner", words, allowed=f"for one of {', '.join(kinds)}")
    elif values and figure.value not in values:
        words = f"{aligner} of {name}, whose values are {figure.value}"
        view.error("programs-aligner", f"{path}.perSeriesAligner", words, allowed=f"for one of {', '.join(values)}")


def _threshold(
    view: View, path: str, name: str, figure: Figure, aggregations: list[tuple[str, Mapping[str, object]]]
) -> None:
    limit = 0.0 if view.lacks(f"{path}.thresholdValue") else view.number(f"{path}.thresholdValue")
    comparison, where = view.text(f"{path}.comparison"), f"{path}.thresholdValue"
    aligners = {str(one.get("perSeriesAligner")) for _, one in aggregations}
    if limit is None or view.blurred(f"{path}.aggregations") or aligners & {"ALIGN_PERCENT_CHANGE", "ALIGN_DELTA"}:
        return
    below = comparison in ("COMPARISON_LT", "COMPARISON_LE")
    told_there = NEVER_BELOW.search(view.text(f"{path}.filter") or "")
    if below and not told_there and figure.unit != _DAYS_LEFT and limit <= (0 if comparison == "COMPARISON_LT" else -1):
        view.error("programs-alert", where, f"waits for less than {limit:g}, and there never is", allowed="above 0")
    counted = any("COUNT" in str(value) for _, one in aggregations for value in one.values())
    is_share = not view.lacks(f"{path}.denominatorFilter")  # of two figures, whatever the unit of each
    if counted or is_share or "ALIGN_RATE" in aligners or figure.kind == "CUMULATIVE":
        return
    if figure.unit == "s" and limit > _QUARTER and not below and name.rpartition("/")[2] not in _GROWS:
        words = f"{limit:g} of {name}, which is in seconds: never so long"
        view.warning("programs-alert", where, words, allowed="so many seconds")
    summed = "REDUCE_SUM" in {str(one.get("crossSeriesReducer")) for _, one in aggregations}
    if figure.unit == "%" and limit >= _ALL and comparison == "COMPARISON_GT" and not summed:
        words = f"waits for more than {limit:g} %, and there never is"
        view.error("programs-alert", where, words, allowed="below 100")
    least, words = _SMALL.get(figure.unit, (0.0, ""))
    if 0 < limit < least and not below:
        told = f"{limit:g} of {name}, which is in {words}"
        view.warning("programs-alert", where, told, allowed=f"so many {words}")


def _labels(view: View, path: str, text: str, texts: tuple[str, ...]) -> None:
    """Labels that the kind of resource has not: a filter by one means nothing, and Cloud Monitoring refuses it."""
    kinds = set(LOGGED_KIND.findall(text))
    if len(kinds) != 1 or _MANY.search(text):
        return
    known = LABELS.get(next(iter(kinds)))
    for label in dict.fromkeys(label for one in texts for label in _LABEL.findall(one)) if known else ():
        if known is not None and label not in known:
            words = f"{next(iter(kinds))} has no label {show(label)}: nothing is meant"
            view.error("programs-filter", path, words, allowed=", ".join(known), hint=nearest(label, known))
