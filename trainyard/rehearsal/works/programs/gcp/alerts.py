"""Alerts of Cloud Monitoring and the metrics from logs that they watch.

Source: Cloud Logging documentation, "Log-based metrics" (`logging.googleapis.com/user/NAME`), and "Logging query
language" (2026-11). A filter that means no entry counts nothing, and nobody refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number, known_texts
from trainyard.recorded.types import GCP_ALERT_POLICY, GCP_LOG_METRIC, GCP_NOTIFICATION_CHANNEL, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.programs.gcp import audit_logs, resource_labels
from trainyard.rehearsal.works.programs.gcp.monitored import LABELS, LOGGED_KIND
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_NEAR: Final = 0.85
_MANY: Final = 10
"""Periods in a row: what is written as often as that is no event, but a state."""
_USER: Final = re.compile(r"logging\.googleapis\.com/user/([\w./-]+)")
_OTHER: Final = re.compile(
    r"((?:custom|external|workload|prometheus)\.googleapis\.com|logging\.googleapis\.com)/(?!user/)([\w.-]+)"
)
_ANY_VARIABLE: Final = re.compile(r"\$\{([^}]+)\}")
_WITH_KEY: Final = (
    "log.extracted_label", "metadata.system_label", "metadata.user_label", "metric.label", "metric_or_resource.label",
    "policy.user_label", "resource.label",
)  # fmt: skip
_VARIABLES: Final = frozenset(
    (
        "condition.name", "condition.display_name", "metric.type", "metric.display_name", "metric_or_resource.labels",
        "policy.name", "policy.display_name", "project", "resource.type", "resource.project",
        *(f"{one}." for one in _WITH_KEY),
    )
)  # fmt: skip
"""What a message may say (Cloud Monitoring, "Annotate notifications with user-defined documentation", variables,
2026-11); with a dot at the end, what has a key of its own. A filter's `resource.labels.KEY` is none of them."""
_LABEL: Final = re.compile(r"(cluster_name|namespace_name|location|container_name)\"?\s*=\s*\"([^\"]+)\"")
_OF_LOGS_ALONE: Final = frozenset(
    (
        "audited_resource", "bigquery_resource", "dataflow_step", "dns_query", "folder", "gce_firewall_rule",
        "gce_network", "gce_route", "gce_subnetwork", "iam_role", "logging_sink", "organization", "project",
        "service_account", "threat_detector",
    )
)  # fmt: skip
"""Kinds of resources that Cloud Logging has and Cloud Monitoring has not: a metric from such entries is of another kind
there, as of `dataflow_job` from `dataflow_step` (both services' lists of monitored resources, as generally known,
2026-11)."""
_OF_RESOURCE: Final = re.compile(r"\$\{resource\.label\.(\w+)\}")
_VARIABLE: Final = re.compile(r"\$\{metric\.label\.(\w+)\}")
_ONE_OR_OTHER: Final = re.compile(r"\bOR\b|\bNOT\b|[()]")
PODS_BY_NAME: Final = re.compile(r"pod_name\"?\s*=~\s*\"\^?([a-z0-9-]+)")
_SYSTEM_LOGS: Final = re.compile(r"namespace_name\"?\s*=\s*\"(?:kube-system|gke-|gmp-)")
_SYSTEM: Final = ("kube-", "gke-", "gmp-", "default", "config-management-system", "istio-")


def check(stack: Stack) -> None:
    """Every alert and every metric from logs of a stack that makes clusters or metrics."""
    resource_labels.autoscalers(stack)
    metrics = {view.text("name") for view in stack.of_type(GCP_LOG_METRIC)}
    for alert in stack.of_type(GCP_ALERT_POLICY):
        for path, text in known_texts(alert.mapping("") or dict(alert.inputs)):
            for name in _USER.findall(text) if path.endswith(("filter", "query")) else ():
                if metrics and None not in metrics and name not in metrics:
                    known = sorted(str(one) for one in metrics)
                    alert.error(
                        "programs-alert",
                        path,
                        f"watches the metric {show(name)}, which the stack does not make: the alert sees nothing",
                        allowed=f"one of {', '.join(known)}",
                        hint=nearest(name, known),
                    )
            if path.endswith(("filter", "query")):
                _by_kind(alert, path, text, metrics)
            if path.endswith("filter"):
                _never(alert, path.removesuffix(".filter"))
                _labels(alert, path, text, stack)
                resource_labels.check(alert, path, text)
                audit_logs.check(alert, path, text)
        _kinds(alert, stack)
        _variables(alert)
        _sparse(alert, stack)
        _channels(alert, stack)
    _contradicted(stack)
    clusters = stack.of_type(GKE_CLUSTER)
    unsaid = [one for one in clusters if _keeps_no_logs(one)]
    for metric in stack.of_type(GCP_LOG_METRIC) if clusters and len(unsaid) == len(clusters) else ():
        kind = LOGGED_KIND.search(metric.text("filter") or "")
        if kind is not None and kind[1] == "k8s_container" and not _SYSTEM_LOGS.search(metric.text("filter") or ""):
            metric.error(
                "programs-filter", "filter", f"counts entries of containers, and {unsaid[0].name} sends none of those "
                "that are not of the system: loggingConfig.enableComponents has no WORKLOADS", allowed="WORKLOADS",
            )  # fmt: skip
    for metric in stack.of_type(GCP_LOG_METRIC):
        _labels(metric, "filter", metric.text("filter") or "", stack)
        audit_logs.check(metric, "filter", metric.text("filter") or "")


def _by_kind(alert: View, path: str, text: str, metrics: set[str | None]) -> None:
    """A metric from logs that is asked for as one of another kind."""
    for kind, name in _OTHER.findall(text):
        if name in metrics:
            alert.error(
                "programs-alert", path,
                f"watches {kind}/{name}, and {name} is a metric from logs: the alert sees nothing",
                allowed=f"logging.googleapis.com/user/{name}",
            )  # fmt: skip


def _variables(alert: View) -> None:
    """A message's variables, of which one that there is not becomes nothing."""
    for path in ("documentation.content", "documentation.subject"):
        for name in _ANY_VARIABLE.findall(alert.text(path) or ""):
            if name not in _VARIABLES and not name.startswith(tuple(f"{one}." for one in _WITH_KEY)):
                near = nearest(name, [one for one in _VARIABLES if not one.endswith(".")])
                keyed = nearest(name.rpartition(".")[0], _WITH_KEY)
                hint = near or (f"{keyed}.{name.rpartition('.')[2]}" if keyed else "")
                words = f"says ${{{name}}}, which Cloud Monitoring does not know: nothing stands there"
                tell = (
                    alert.error if hint and not name.isupper() else alert.warning
                )  # a shell's, in what is to be typed
                tell("programs-alert", path, words, hint=hint)
    _resource_labels(alert)


def _resource_labels(alert: View) -> None:
    """Labels of what is watched that a message says: of one that none of its kinds has nothing stands there."""
    filters = [
        asked.get("filter")
        for _, one in alert.items("conditions")
        for asked in one.values()
        if isinstance(asked, Mapping)
    ]
    kinds = {kind for text in filters for kind in LOGGED_KIND.findall(str(text))}
    if not kinds or not kinds <= LABELS.keys() or not all(LOGGED_KIND.search(str(text)) for text in filters):
        return
    labels = {label for kind in kinds for label in LABELS[kind]}
    for path in ("documentation.content", "documentation.subject"):
        for name in _OF_RESOURCE.findall(alert.text(path) or ""):
            if name not in labels:
                words = f"says ${{resource.label.{name}}}, and {' and '.join(sorted(kinds))} has no such label"
                allowed = f"one of {', '.join(sorted(labels))}"
                alert.error("programs-alert", path, words, allowed=allowed, hint=nearest(name, labels))


def _keeps_no_logs(cluster: View) -> bool:
    components = cluster.texts("loggingConfig.enableComponents")
    known = cluster.has("loggingConfig.enableComponents") and not cluster.blurred("loggingConfig.enableComponents")
    return known and "WORKLOADS" not in components


def _never(alert: View, path: str) -> None:
    """Entries are counted: there are never fewer than none."""
    below = alert.text(f"{path}.comparison") in ("COMPARISON_LT", "COMPARISON_LE")
    least, asked = _threshold(alert, path), alert.text(f"{path}.filter") or ""
    limit = 0 if alert.text(f"{path}.comparison") == "COMPARISON_LT" else -1
    if below and _USER.search(asked) and least is not None and least <= limit:
        alert.error(
            "programs-alert", f"{path}.comparison", f"waits for fewer than {least:g} entries, and there never are",
            allowed="COMPARISON_GT",
        )  # fmt: skip


def _threshold(alert: View, path: str) -> float | None:
    """What a condition compares with: 0 where it says nothing, None where that is not known."""
    at = f"{path}.thresholdValue"
    return 0 if alert.lacks(at) else alert.number(at)


def _contradicted(stack: Stack) -> None:
    """Where any line is bad news, the silence of these or of some of them is none: one of both always fires."""
    bad: list[tuple[frozenset[str], str]] = []
    for alert in stack.of_type(GCP_ALERT_POLICY):
        for path, _ in alert.items("conditions"):
            base = f"{path}.conditionThreshold"
            asked = alert.text(f"{base}.filter") or ""
            over = alert.text(f"{base}.comparison") == "COMPARISON_GT" and _threshold(alert, base) == 0
            if over and _USER.search(asked):
                bad.append((_terms(asked), alert.name))
    for alert in stack.of_type(GCP_ALERT_POLICY):
        for path, _ in alert.items("conditions"):
            where = f"{path}.conditionAbsent.filter"
            asked = alert.text(where) or ""
            by = next((name for terms, name in bad if terms <= _terms(asked)), None)
            for name in _USER.findall(asked) if by is not None else ():
                alert.error(
                    "programs-alert", where,
                    f"tells when {name} has no line, and {by} tells of every line: one of both always does",
                    allowed="a metric of lines that come while all is well",
                )  # fmt: skip


def _terms(text: str) -> frozenset[str]:
    """What a filter asks, all of it at once; a filter that asks one thing or another is one term."""
    text = " ".join(text.split())
    return frozenset([text] if _ONE_OR_OTHER.search(text) else text.split(" AND "))


def _sparse(alert: View, stack: Stack) -> None:
    """Lines that are told apart by labels come now and then: a series that has one in every period has none."""
    told_apart = {view.text("name") for view in stack.of_type(GCP_LOG_METRIC) if view.mapping("labelExtractors")}
    for path, _ in alert.items("conditions"):
        base = f"{path}.conditionThreshold"
        names = _USER.findall(alert.text(f"{base}.filter") or "")
        if not told_apart.intersection(names) or _threshold(alert, base) != 0:
            continue
        holds = _seconds(alert.text(f"{base}.duration"))
        periods = [_seconds(alert.text(f"{at}.alignmentPeriod")) for at, _ in alert.items(f"{base}.aggregations")]
        longest = max((one for one in periods if one is not None), default=60)
        if alert.text(f"{base}.comparison") == "COMPARISON_GT" and holds is not None and holds > _MANY * longest:
            alert.error(
                "programs-alert", f"{base}.duration",
                f"waits for a line of {names[0]} in each of {holds / longest:g} periods on end, by the same labels: a "
                "line that is written once is never told", allowed="0s",
            )  # fmt: skip


def _seconds(text: str | None) -> float | None:
    return as_number(text.removesuffix("s")) if text is not None and text.endswith("s") else None


def _channels(alert: View, stack: Stack) -> None:
    """A channel that is nearly one of the stack's: the policy is taken back, or tells nobody."""
    channels = stack.of_type(GCP_NOTIFICATION_CHANNEL)
    made = {str(view.resource.outputs.get("name") or view.resource.id) for view in channels}
    path = "notificationChannels"
    if channels and (alert.lacks(path) or alert.value(path) == []):
        alert.warning(
            "programs-alert", path, "names no channel, and the stack makes some: an incident that nobody is told of",
            allowed=f"one of {', '.join(sorted(view.name for view in channels)[:4])}",
        )  # fmt: skip
    for view in channels:
        theirs, own, known = view.text("project"), alert.text("project"), _names_of(view)
        if theirs and own and theirs != own and known & set(alert.texts(path)):
            view.error(
                "programs-alert", "project", f"is {theirs}, and {alert.name}, which names it, is of {own}: refused",
                allowed=own,
            )  # fmt: skip
    for index, name in enumerate(alert.texts("notificationChannels")):
        if name not in made and (hint := nearest(name, made, cutoff=_NEAR)):
            alert.error(
                "programs-alert",
                f"notificationChannels[{index}]",
                f"the stack makes no channel {show(name)}",
                hint=hint,
            )


def _names_of(view: View) -> set[str]:
    return {str(text) for text in (view.resource.id, view.resource.outputs.get("name")) if text}


def _kinds(alert: View, stack: Stack) -> None:
    """A metric from logs is of the kind of resource that its own filter says, and has the labels that it declares."""
    made = {str(view.text("name")): view for view in stack.of_type(GCP_LOG_METRIC)}
    named: list[View] = []
    for path, condition in alert.items("conditions"):
        for kind in ("conditionThreshold", "conditionAbsent"):
            asked = condition.get(kind)
            text = str(asked.get("filter")) if isinstance(asked, Mapping) else ""
            views = [made[name] for name in _USER.findall(text) if name in made]
            named += views
            wanted = LOGGED_KIND.search(text)
            for view in views:
                given = LOGGED_KIND.search(view.text("filter") or "")
                if wanted is None or given is None or given[1] in _OF_LOGS_ALONE:
                    continue
                if wanted[1] != given[1]:
                    alert.error(
                        "programs-alert",
                        f"{path}.{kind}.filter",
                        f"watches {show(wanted[1])}, and {view.text('name')} counts entries of {show(given[1])}: the "
                        "alert sees nothing",
                        allowed=given[1],
                    )
    labels = {str(one.get("key")) for view in named for _, one in view.items("metricDescriptor.labels")}
    for key in ("documentation.content", "documentation.subject"):
        for name in _VARIABLE.findall(alert.text(key) or "") if labels else ():
            if name not in labels:
                alert.error(
                    "programs-alert", key, f"says ${{metric.label.{name}}}, and the metric has no such label",
                    allowed=f"one of {', '.join(sorted(labels))}", hint=nearest(name, labels),
                )  # fmt: skip


def _labels(view: View, path: str, text: str, stack: Stack) -> None:
    clusters = {one.text("name") for one in stack.of_type(GKE_CLUSTER)}
    if not clusters or None in clusters:
        return
    objects = stack.once(Cluster)
    places = {one.text("location") for one in stack.of_type(GKE_CLUSTER)}
    namespace = ""
    for key, value in _LABEL.findall(text):
        known: set[str | None] = set()
        if key == "cluster_name":
            known = clusters
        elif key == "location" and "cluster_name" in text:
            known = places
        elif key == "namespace_name":
            namespace = value
            if not value.startswith(_SYSTEM) and not objects.is_rendered_elsewhere:
                known = set(objects.labels_of_namespaces)
        if known and None not in known and value not in known:
            names = sorted(str(one) for one in known)
            view.error(
                "programs-filter",
                path,
                f"means entries with {key} {show(value)}, and the stack has none: nothing is counted",
                allowed=f"one of {', '.join(names[:12])}",
                hint=nearest(value, names),
            )
    for prefix in PODS_BY_NAME.findall(text):
        _of_pods(view, path, prefix.rstrip("-"), namespace, objects)


def _of_pods(view: View, path: str, prefix: str, namespace: str, objects: Cluster) -> None:
    """Pods by the beginning of their names, where every pod of the namespace is known."""
    made = {str(pod.view.text("metadata.name")) for pod in objects.pods_by_namespace.get(namespace, ())}
    near = nearest(prefix, made)
    charted = any((release.text("namespace") or "") == namespace for release in objects.releases)
    if (
        made
        and not any(one.startswith(prefix) or prefix.startswith(f"{one}-") for one in made)
        and (near or not charted)
    ):
        view.error(
            "programs-filter", path, f"means pods whose names begin with {show(prefix)}, and there are none",
            allowed=f"one of {', '.join(sorted(made)[:12])}", hint=near,
        )  # fmt: skip
