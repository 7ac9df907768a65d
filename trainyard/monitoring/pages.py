"""The pages that people read: a runbook for every alert, and what is watched at all."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.conventions.monitoring import PLATFORM_NAMESPACES
from trainyard.monitoring.alerts import alerts_by_room, all_alerts
from trainyard.monitoring.dashboards.boards import dashboards
from trainyard.monitoring.model import Alert, page_name
from trainyard.monitoring.recordings import CHIPS, COUNTS, SUCCESS, USAGE, Target
from trainyard.monitoring.resource_costs import IDLE_CHIPS, RESOURCES
from trainyard.monitoring.thresholds import SOURCES, Thresholds
from trainyard.problems import count

ROOMS = {"gpu": "GPUs", "jobs": "Jobs", "checkpoints": "Checkpoints", "money": "Money", "platform": "The platform"}
"""What the alerts of each room are about."""
_WRITTEN = "<!-- Written by `make golden` from trainyard/monitoring. -->"


def runbook_page(alert: Alert) -> str:
    """The page of an alert: what it means, how to see it, what to do."""
    see = "\n".join(f"- {line}" for line in alert.runbook.see)
    act = "\n".join(f"{number}. {line}" for number, line in enumerate(alert.runbook.act, 1))
    return (
        f"# {alert.name}: {alert.title}\n\n{_WRITTEN}\n\n{alert.runbook.means}\n\n"
        f"## How to see it\n\n{see}\n\n## What to do\n\n{act}\n\n## When it fires\n\n{_when(alert)}\n\n"
        f"```promql\n{alert.expr}\n```\n"
    )


def runbook_pages() -> dict[str, str]:
    """The runbook of every alert by the name of its file, with the thresholds as they come."""
    alerts = all_alerts(Thresholds(), PLATFORM_NAMESPACES)
    return {page_name(alert.name): runbook_page(alert) for alert in alerts}


def _when(alert: Alert) -> str:
    sent = {
        "critical": "It is critical: sent at once, and again every four hours.",
        "warning": "It is a warning: sent with others of its name, and again every twelve hours.",
        "notice": "It is a notice: sent once, and again where it came back, or Alertmanager was started anew.",
        "info": "It is for information: shown, and sent to nobody.",
    }[alert.severity]
    held = "" if alert.lasts == "0m" else f" It has to hold for {alert.lasts}."
    setting = f" `monitoring.alerts.{_camel(alert.threshold)}` says from when." if alert.threshold else ""
    return f"{sent}{held}{setting}"


def monitoring_page() -> str:
    """What `docs/monitoring.md` says."""
    at = Thresholds()
    parts = [
        "# What a cluster is watched by",
        _WRITTEN,
        "Prometheus, Alertmanager and Grafana run in the namespace `monitoring`, on the system nodes. Nothing of it is "
        "open to the outside: `kubectl -n monitoring port-forward svc/monitoring-grafana 3000:80` opens the "
        "dashboards, "
        "and `kubectl -n monitoring get secret monitoring-grafana-login -o jsonpath='{.data.password}' | base64 -d` is "
        "the password of `admin`. Alerts leave by the environment's own topic (`alertTopic` of the stack's outputs), "
        "with the role of Alertmanager's service account; no password is anywhere. That alerts leave at all is watched "
        "from outside: an alarm of the account fires where the watchdog stops arriving. On Google Cloud alerts leave "
        "by a log that Cloud Monitoring reads, and GKE's exporter measures less of a GPU: alerts on XIDs, rows, links "
        "and clocks are not in the rules there (`docs/decisions/0051-alerts-leave-google-cloud-by-a-log.md`).",
        "## Success metrics",
        _table(
            ("metric", "target", "figure", "source"),
            [(target.title, target_text(target), f"`{target.recording.record}`", target.source) for target in SUCCESS],
        ),
        "## Alerts",
        "Whatever two replicas of a controller export twice is counted once. Every rule is played by `promtool` in the "
        "tests: a bad situation in which it fires in time, a good one and a rolling restart in which it does not.",
    ]
    for room, alerts in alerts_by_room(at, PLATFORM_NAMESPACES).items():
        rows = [
            (
                f"[{alert.name}](runbooks/{page_name(alert.name)})",
                alert.severity,
                alert.title,
                f"`{_camel(alert.threshold)}`: {_value(getattr(at, alert.threshold))}" if alert.threshold else "",
            )
            for alert in alerts
        ]
        parts += [f"### {ROOMS[room]}", _table(("alert", "severity", "what", "setting and default"), rows)]
    parts += [
        "### Backups",
        "That a backup of home directories or of the tracking database was not made, the cloud itself tells: rules of "
        "EventBridge and alerts of Cloud Monitoring on what AWS Backup, RDS, Backup and DR and Cloud SQL say. "
        "[A runbook](runbooks/backup-failed.md) says what to do.",
        "## Where the defaults are from",
        _table(
            ("setting below `monitoring.alerts`", "default", "source"),
            [(f"`{_camel(field)}`", _value(getattr(at, field)), source) for field, source in SOURCES.items()],
        ),
        "## Dashboards",
        "Panels and figures of TPU chips are there where a stack has TPU slices.",
        *(
            f"### {board.title}\n\n{board.what}\n\n"
            + "\n".join(dict.fromkeys(f"- {panel.title}: {panel.what}" for row in board.rows for panel in row.panels))
            for board in dashboards(chips=True)
        ),
        "## Recorded figures",
        _table(
            ("figure", "what"),
            [
                (f"`{recording.record}`", recording.what)
                for recording in (*USAGE, *CHIPS, *COUNTS, *RESOURCES, *IDLE_CHIPS)
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def target_text(target: Target) -> str:
    """`at least 70 %`: what a success metric is held to."""
    if target.value is None:
        return "the trend"
    sign = "at least" if target.at_least is not None else "at most"
    if target.unit == "percentunit":
        return f"{sign} {target.value * 100:g} %"
    return f"{sign} {count(target.value / 60, 'minute')}"


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
