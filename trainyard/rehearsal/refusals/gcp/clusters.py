"""GKE clusters: versions, windows of maintenance, exclusions, what the control plane is reached by, components.

Source: Google's documentation of maintenance windows and exclusions and of versions as generally known (autumn 2026);
validators of the provider (2026-08-21). The newest version that is asked for, `trainyard/catalog/versions.yaml`.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from typing import Final

from trainyard.catalog.versions import known_kubernetes_versions
from trainyard.problems import count
from trainyard.recorded.types import GKE_CLUSTER, GKE_NODE_POOL
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.gcp.networks import OWN
from trainyard.rehearsal.refusals.gcp.values import is_moment
from trainyard.rehearsal.refusals.rules import Rules

_VERSION: Final = re.compile(r"(\d+)\.(\d+)(\.\d+(-gke\.\d+)?)?")
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_RULE_PARTS: Final = (
    "FREQ",
    "BYDAY",
    "INTERVAL",
    "COUNT",
    "UNTIL",
    "BYMONTH",
    "BYMONTHDAY",
    "BYSETPOS",
    "WKST",
    "BYHOUR",
)
_SHORTEST_WINDOW: Final = datetime.timedelta(hours=4)
_LEAST_IN_32_DAYS: Final = datetime.timedelta(hours=48)
_LONGEST_EXCLUSION: Final = {"NO_UPGRADES": 90, "NO_MINOR_UPGRADES": 180, "NO_MINOR_OR_NODE_UPGRADES": 180}
"""Days that an exclusion with an end may last; a minor one, as long as the version is supported at most."""


def newest() -> tuple[int, int]:
    """The newest minor version of Kubernetes that the catalogue knows of."""
    return max((int(first), int(second)) for first, second in (text.split(".") for text in known_kubernetes_versions()))


def version(view: View) -> None:
    """A version as GKE writes it, and one that there is."""
    for path in ("minMasterVersion", "nodeVersion", "version"):
        text = view.text(path)
        if text is None or text in ("latest", "-", ""):
            continue
        match = _VERSION.fullmatch(text)
        if match is None:
            view.error("gke-version", path, show(text), allowed="like 1.35, 1.35.2 or 1.35.2-gke.1000, or latest")
            continue
        ahead = int(match[2]) - newest()[1]
        if (int(match[1]), int(match[2])) > newest() and (ahead > 1 or int(match[1]) != newest()[0]):
            allowed = f"at most {newest()[0]}.{newest()[1] + 1}"
            view.error("gke-version", path, f"{show(text)} is not there yet", allowed=allowed)


def maintenance(view: View) -> None:
    """A window that is long enough, often enough, and exclusions that end after they began."""
    base = "maintenancePolicy.recurringWindow"
    rule = view.text(f"{base}.recurrence")
    if rule is not None:
        for words, allowed in _recurrence(rule):
            view.error("gke-maintenance", f"{base}.recurrence", words, allowed=allowed)
    start, end = _moment(view.text(f"{base}.startTime")), _moment(view.text(f"{base}.endTime"))
    if start is not None and end is not None:
        length = end - start
        if not _SHORTEST_WINDOW <= length <= datetime.timedelta(days=1):
            hours = length.total_seconds() / 3600
            view.error(
                "gke-maintenance", f"{base}.endTime", f"{count(hours, 'hour')} after startTime", allowed="4 to 24 hours"
            )
        elif rule is not None and not list(_recurrence(rule)):
            often = _often(rule)
            if often is not None and length * often < _LEAST_IN_32_DAYS:
                hours = length.total_seconds() / 3600
                words = f"{count(often, 'window')} of {count(hours, 'hour')} in 32 days"
                view.error("gke-maintenance", base, words, allowed="48 hours in 32 days")
    names = []
    for path, entry in view.items("maintenancePolicy.maintenanceExclusions"):
        _exclusion(view, path)
        name = entry.get("exclusionName")
        if isinstance(name, str) and name in names:
            view.error("gke-maintenance", f"{path}.exclusionName", show(name), allowed="each name once")
        names.append(name)


def _recurrence(rule: str) -> list[tuple[str, str]]:
    like = "like FREQ=WEEKLY;BYDAY=SA,SU"
    parts = [part.partition("=") for part in rule.removeprefix("RRULE:").split(";") if part]
    found: list[tuple[str, str]] = []
    keys = [key for key, _, _ in parts]
    if "FREQ" not in keys:
        found.append((f"{show(rule)} has no FREQ", like))
    for key, _, value in parts:
        if key not in _RULE_PARTS:
            found.append((f"{show(key)} in {show(rule)}", f"{like}: {', '.join(_RULE_PARTS)}"))
        elif key == "FREQ" and value not in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY"):
            found.append((f"FREQ={value}", "DAILY, WEEKLY, MONTHLY"))
        elif key == "BYDAY":
            odd = [day for day in value.split(",") if not re.fullmatch(rf"[+-]?\d*({'|'.join(_DAYS)})", day)]
            if odd:
                found.append((f"BYDAY={value}", ", ".join(_DAYS)))
    return found[:1]


def _often(rule: str) -> float | None:
    """Windows in 32 days; None where the rule says it in other words than these."""
    parts = dict(part.partition("=")[::2] for part in rule.removeprefix("RRULE:").split(";") if part)
    if set(parts) - {"FREQ", "BYDAY", "BYMONTHDAY"}:
        return None
    if parts["FREQ"] in ("MONTHLY", "YEARLY"):
        # SA is every Saturday of the month, or of the year. A day with a number, as 1SA, is one a month, and of two
        # months one may lie within 32 days; of a year it is one, and a day of the month is one in each (RFC 5545).
        listed = (parts.get("BYDAY") or parts.get("BYMONTHDAY") or "1").split(",")
        weekly = [day for day in listed if day in _DAYS]
        if parts["FREQ"] == "YEARLY" and not weekly and "BYMONTHDAY" not in parts:
            return len(listed)
        return 32 / 7 * len(weekly) + (len(listed) - len(weekly)) + 1
    if "BYMONTHDAY" in parts:
        return None
    days = len(parts["BYDAY"].split(",")) if "BYDAY" in parts else None
    if parts["FREQ"] == "DAILY":
        return 32 if days is None else 32 / 7 * days
    if parts["FREQ"] == "WEEKLY":
        return 32 / 7 * (days or 1)
    return None


def _exclusion(view: View, path: str) -> None:
    starts, ends = view.text(f"{path}.startTime"), view.text(f"{path}.endTime")
    start, end = _moment(starts), _moment(ends)
    scope = view.text(f"{path}.exclusionOptions.scope") or "NO_UPGRADES"
    until_end = view.text(f"{path}.exclusionOptions.endTimeBehavior")
    if start is not None and end is not None and end <= start:
        view.error("gke-maintenance", f"{path}.endTime", f"{ends} is not after {starts}", allowed="after startTime")
    elif start is not None and end is not None and scope in _LONGEST_EXCLUSION:
        days = (end - start).days
        if days > _LONGEST_EXCLUSION[scope]:
            allowed = f"at most {_LONGEST_EXCLUSION[scope]} days"
            view.error("gke-maintenance", f"{path}.endTime", f"{count(days, 'day')} of {scope}", allowed=allowed)
    if until_end is not None and scope == "NO_UPGRADES":
        where, allowed = f"{path}.exclusionOptions.endTimeBehavior", "an endTime: patches cannot wait for ever"
        view.error("gke-maintenance", where, f"{until_end} of NO_UPGRADES", allowed=allowed)
    open_end = view.lacks(f"{path}.endTime") and view.lacks(f"{path}.exclusionOptions.endTimeBehavior")
    if open_end and view.has(path) and not view.is_unknown(f"{path}.exclusionOptions"):
        allowed = "a time, or endTimeBehavior UNTIL_END_OF_SUPPORT"
        view.error("gke-maintenance", f"{path}.endTime", "is missing", allowed=allowed)


def _moment(text: str | None) -> datetime.datetime | None:
    if text is None or not is_moment(text):
        return None
    return datetime.datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text))


def reached(view: View) -> None:
    """A private control plane has private nodes, networks that may reach it, and a range that is private."""
    base = "privateClusterConfig"
    if view.flag(f"{base}.enablePrivateEndpoint"):
        if view.flag(f"{base}.enablePrivateNodes") is False:
            view.error("gke-private", f"{base}.enablePrivateNodes", "with enablePrivateEndpoint", allowed="true")
        if view.lacks("masterAuthorizedNetworksConfig"):
            allowed = "a block, if an empty one, with enablePrivateEndpoint"
            view.error("gke-private", "masterAuthorizedNetworksConfig", "is missing", allowed=allowed)
    text = view.text(f"{base}.masterIpv4CidrBlock")
    try:
        network = ipaddress.IPv4Network(text) if text else None
    except ValueError:
        network = None
    if network is not None and not any(network.subnet_of(each) for each in OWN):
        view.warning(
            "gke-control-range",
            f"{base}.masterIpv4CidrBlock",
            f"{network} is not private",
            allowed="like 172.16.0.0/28",
        )
    names = [view.text(f"ipAllocationPolicy.{what}SecondaryRangeName") for what in ("cluster", "services")]
    if names[0] is not None and names[0] == names[1]:
        path = "ipAllocationPolicy.servicesSecondaryRangeName"
        view.error("gke-ranges", path, f"{show(names[0])} is the pods' range too", allowed="a range of its own")
    dns, ip = (
        "controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic",
        "controlPlaneEndpointsConfig.ipEndpointsConfig.enabled",
    )
    if view.flag(dns) is False and view.flag(ip) is False:
        view.error("gke-endpoints", ip, "neither the DNS endpoint nor addresses", allowed="one of both")


def components(view: View) -> None:
    """Logs and metrics of the system come before all others; what grows by itself has bounds."""
    for path in ("loggingConfig.enableComponents", "monitoringConfig.enableComponents"):
        found = view.texts(path)
        if found and "SYSTEM_COMPONENTS" not in found and not view.blurred(path):
            view.error("gke-components", path, f"{', '.join(found)} alone", allowed="SYSTEM_COMPONENTS beside them")
        for index, name in enumerate(found):
            if name in found[:index]:
                view.error("gke-components", f"{path}[{index}]", f"{name} is there twice", allowed="each once")
    if view.flag("clusterAutoscaling.enabled") and view.lacks("clusterAutoscaling.resourceLimits"):
        allowed = "limits of cpu and memory, with node auto-provisioning"
        view.error("gke-autoscaling", "clusterAutoscaling.resourceLimits", "is missing", allowed=allowed)
    for path, limit in view.items("clusterAutoscaling.resourceLimits"):
        low, high = view.number(f"{path}.minimum"), view.number(f"{path}.maximum")
        if low is not None and high is not None and low > high:
            view.error("gke-autoscaling", f"{path}.minimum", show(limit.get("minimum")), allowed=f"at most {high:.0f}")
    topic = view.text("notificationConfig.pubsub.topic")
    if topic is not None and not re.fullmatch(r"projects/[^/]+/topics/[^/]+", topic):
        view.error(
            "gke-notification", "notificationConfig.pubsub.topic", show(topic), allowed="projects/PROJECT/topics/TOPIC"
        )


RULES: Rules = {
    version: (GKE_CLUSTER, GKE_NODE_POOL),
    maintenance: (GKE_CLUSTER,),
    reached: (GKE_CLUSTER,),
    components: (GKE_CLUSTER,),
}
