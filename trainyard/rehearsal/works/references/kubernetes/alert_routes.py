"""The routes of alerts: every field is one that Alertmanager knows, every receiver and interval is there.

Source: Prometheus documentation, "Alertmanager configuration" (v0.28, read 2026-11): with a route to a receiver that is
not there, or an unknown field, Alertmanager does not start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.yaml_text import read_yaml
from trainyard.rehearsal.context import View, by_name, listed, show
from trainyard.rehearsal.works.references.kubernetes import route_order
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_DEFAULT_ROUTES: Final[Mapping[str, Any]] = {
    "receivers": [{"name": "null"}],
    "route": {"receiver": "null", "routes": [{"receiver": "null"}]},
}
"""What kube-prometheus-stack gives where the values give nothing: mappings are merged, lists replaced."""
_TOP: Final = frozenset(
    {"global", "templates", "route", "inhibit_rules", "receivers", "mute_time_intervals", "time_intervals", "tracing"}
)
_ROUTE: Final = frozenset(
    {
        "receiver", "group_by", "group_wait", "group_interval", "repeat_interval", "match", "match_re", "matchers",
        "continue", "routes", "mute_time_intervals", "active_time_intervals",
    }
)  # fmt: skip
_INHIBIT: Final = frozenset(
    {
        "name", "target_match", "target_match_re", "target_matchers", "source_match", "source_match_re",
        "source_matchers", "equal",
    }
)  # fmt: skip
_SERVICES: Final = (
    "discord", "email", "incidentio", "jira", "mattermost", "msteams", "msteamsv2", "opsgenie", "pagerduty",
    "pushover", "rocketchat", "slack", "sns", "telegram", "victorops", "webex", "webhook", "wechat",
)  # fmt: skip
_RECEIVER: Final = frozenset({"name", *(f"{one}_configs" for one in _SERVICES)})
_OF_KINDS: Final = {
    "sns_configs": frozenset(
        {"send_resolved", "api_url", "sigv4", "topic_arn", "phone_number", "target_arn", "subject", "message",
         "attributes", "http_config"}
    ),
    "webhook_configs": frozenset(
        {"send_resolved", "url", "url_file", "http_config", "max_alerts", "timeout", "payload"}
    ),
}  # fmt: skip
"""Fields of the two kinds of receivers that environments here use; of others the service's own are not listed."""

_AT: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "kube-prometheus-stack": ("values.alertmanager.config", _DEFAULT_ROUTES),
    "alertmanager": ("values.config", {}),
}
"""Where a chart's values hold the configuration, and what it gives itself."""


def check(cluster: Cluster) -> None:
    """Every configuration of Alertmanager that is recorded."""
    for release in cluster.releases:
        chart = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
        if chart in _AT and not release.has("valueYamlFiles"):
            path, default = _AT[chart]
            _routes(release, path, release.value(path), default)
            if chart == "kube-prometheus-stack":
                _remembered(release, release.value(f"{path}.route"), f"{path}.route")
    for view in cluster.of("Secret", "ConfigMap"):
        for part in ("data", "stringData"):
            for key, text in view.mapping(part).items():
                if key in ("alertmanager.yaml", "alertmanager.yml") and isinstance(text, str):
                    _written(view, f"{part}.{key}", text)
    for view in cluster.of("AlertmanagerConfig.monitoring.coreos.com"):
        _known_receivers(
            view, "spec.route", view.value("spec.route"), _names_of(view.entries("spec.receivers")), "spec"
        )
        route_order.unreached(view, "spec.route", view.value("spec.route"))


def configurations(cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """Every configuration of Alertmanager that charts' values hold, with the chart's own where they give nothing."""
    for release in cluster.releases:
        chart = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
        if chart in _AT and not release.has("valueYamlFiles"):
            path, default = _AT[chart]
            yield {**default, **release.mapping(path)}


def _written(view: View, path: str, text: str) -> None:
    try:
        found = read_yaml(text)
    except yaml.YAMLError as error:
        view.error("reference-alert-route", path, f"is no YAML: {str(error).splitlines()[0]}")
        return
    if isinstance(found, Mapping):
        _routes(view, path, found, {})


def _routes(view: View, path: str, config: Any, default: Mapping[str, Any]) -> None:
    """What Alertmanager reads: every field it knows, every receiver and interval that a route names."""
    if not isinstance(config, Mapping) or not config:
        return
    root = config.get("route", default.get("route"))
    receivers = config.get("receivers", default.get("receivers", []))
    if root is UNKNOWN or receivers is UNKNOWN:
        return
    if isinstance(root, Mapping):
        root = {**default.get("route", {}), **root}
    _fields(view, path, config, _TOP)
    for index, receiver in enumerate(listed(receivers)):
        here = f"{path}.receivers[{index}]"
        if isinstance(receiver, Mapping):
            _fields(view, here, receiver, _RECEIVER)
            for kind, known in _OF_KINDS.items():
                for number, one in enumerate(listed(receiver.get(kind))):
                    if isinstance(one, Mapping):
                        _fields(view, f"{here}.{kind}[{number}]", one, known)
    for index, rule in enumerate(listed(config.get("inhibit_rules"))):
        if isinstance(rule, Mapping):
            _fields(view, f"{path}.inhibit_rules[{index}]", rule, _INHIBIT)
    _known_receivers(view, f"{path}.route", root, _names_of(receivers), path)
    route_order.check(view, f"{path}.route", root, receivers)
    _heard(view, path, config, root, receivers)
    intervals = [*listed(config.get("time_intervals")), *listed(config.get("mute_time_intervals"))]
    named = by_name(intervals)
    for here, route in _all(root, f"{path}.route"):
        _fields(view, here, route, _ROUTE)
        for key in ("group_interval", "repeat_interval"):
            if _span(route.get(key)) == 0:
                view.error(
                    "reference-alert-route", f"{here}.{key}", "cannot be zero: Alertmanager does not start",
                    allowed="a time such as 5m",
                )  # fmt: skip
        for key in ("mute_time_intervals", "active_time_intervals"):
            for name in listed(route.get(key)):
                if isinstance(name, str) and name not in named and not has_unknown(intervals):
                    view.error(
                        "reference-alert-route",
                        f"{here}.{key}",
                        f"no time interval is named {show(name)}: Alertmanager does not start",
                        hint=nearest(name, named),
                    )


_URGENT: Final = re.compile(r"\s*severity\s*=~?\s*\"?(?:\^?\(?)?(critical|page|emergency)\b[^,]*")
"""A matcher that means what is urgent, and nothing beside."""


def _heard(view: View, path: str, config: Mapping[str, Any], root: Any, receivers: Any) -> None:
    """What is urgent gets to a receiver that tells somebody, and what always fires mutes nothing.

    One alert that a cloud's control plane makes false is sent nowhere by its name and severity: only all of a severity
    is told of.
    """
    named = by_name(receivers)
    silent = {name for name, one in named.items() if not set(one) - {"name"}}
    others = set(named) - silent
    wanted = {here: _matchers(route) for here, route in _all(root, f"{path}.route")}
    for here, route in _all(root, f"{path}.route"):
        said = wanted[here]
        is_urgent = len(said) == 1 and _URGENT.fullmatch(said[0]) is not None
        is_narrowed = any(wanted[above] for above in wanted if here.startswith(f"{above}.routes["))
        if (
            is_urgent
            and not is_narrowed
            and str(route.get("receiver")) in silent
            and others
            and not route.get("routes")
            and not route.get("continue")
        ):
            view.warning(
                "reference-alert-route", f"{here}.receiver",
                f"gives what is urgent ({said[0]}) to {show(route['receiver'])}, which tells nobody",
                allowed=f"one of {', '.join(sorted(map(str, others)))}",
            )  # fmt: skip
    for index, rule in enumerate(listed(config.get("inhibit_rules"))):
        sources = listed(rule.get("source_matchers")) if isinstance(rule, Mapping) else []
        if any(re.fullmatch(r"alertname\s*=\s*\"?Watchdog\"?", str(one)) for one in sources):
            view.error(
                "reference-alert-route", f"{path}.inhibit_rules[{index}].source_matchers",
                "means the alert Watchdog, which always fires: the targets are never told",
            )  # fmt: skip


_SPAN: Final = re.compile(r"(\d+)(ms|s|m|h|d|w)")
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def _span(text: Any) -> float | None:
    """Seconds of a span such as `1h30m`; None where it is none."""
    if not isinstance(text, str) or not re.fullmatch(f"(?:{_SPAN.pattern})+", text):
        return None
    return sum(int(count) * _SECONDS[unit] for count, unit in _SPAN.findall(text))


def _remembered(release: View, root: Any, path: str) -> None:
    """What was told is forgotten after the retention: an alert that is to be told more seldom is told that often."""
    kept = _span(release.text("values.alertmanager.alertmanagerSpec.retention") or "120h")
    for here, route in _all(root, path):
        every = _span(route.get("repeat_interval"))
        if kept is not None and every is not None and every > kept:
            release.warning(
                "reference-alert-route", f"{here}.repeat_interval",
                f"is {route['repeat_interval']}, and Alertmanager forgets what it told after "
                f"{kept / 3600:g} hours (alertmanagerSpec.retention): it tells it again then",
                allowed="less than the retention",
            )  # fmt: skip


def _matchers(route: Mapping[str, Any]) -> list[str]:
    """All that a route asks of an alert, whichever way it is written."""
    equal, like = route.get("match"), route.get("match_re")
    return [
        *map(str, listed(route.get("matchers"))),
        *(f'{key}="{value}"' for key, value in (equal.items() if isinstance(equal, Mapping) else ())),
        *(f'{key}=~"{value}"' for key, value in (like.items() if isinstance(like, Mapping) else ())),
    ]


def _names_of(receivers: Any) -> set[Any]:
    """The names of receivers; UNKNOWN among them where one cannot be told."""
    if not isinstance(receivers, list):
        return set() if receivers is None else {UNKNOWN}
    named = (one.get("name") if isinstance(one, Mapping) else UNKNOWN for one in receivers)
    return {name if isinstance(name, str) else UNKNOWN for name in named}


def _known_receivers(view: View, path: str, root: Any, known: set[Any], where: str) -> None:
    if UNKNOWN in known or not isinstance(root, Mapping):
        return
    for here, route in _all(root, path):
        name = route.get("receiver")
        if isinstance(name, str) and name not in known:
            view.error(
                "reference-alert-route",
                f"{here}.receiver",
                f"no receiver is named {show(name)}: Alertmanager does not start, and nobody is told of anything",
                allowed=f"one of {', '.join(sorted(map(str, known)))}" if known else f"a receiver of {where}.receivers",
                hint=nearest(name, [str(one) for one in known]),
            )
        elif here == path and "receiver" not in route and where != "spec":
            view.error("reference-alert-route", here, "has no receiver", allowed="the name of one")


def _all(route: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(route, Mapping):
        yield path, route
        for index, one in enumerate(listed(route.get("routes"))):
            yield from _all(one, f"{path}.routes[{index}]")


def _fields(view: View, path: str, given: Mapping[str, Any], known: frozenset[str]) -> None:
    for key in given:
        if key not in known:
            view.error(
                "reference-alert-route",
                f"{path}.{key}",
                f"Alertmanager knows no {show(key)} here, and does not start with it",
                allowed=f"one of {', '.join(sorted(known))}",
                hint=nearest(str(key), known),
            )
