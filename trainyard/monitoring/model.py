"""What a rule is: an alert with its runbook, a recorded figure, and how both are written for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["critical", "warning", "notice", "info"]
"""`critical`: somebody has to act now; `warning`: today; `notice`: it is told once; `info`: shown and sent nowhere."""


@dataclass(frozen=True, slots=True)
class Runbook:
    """What somebody needs who is told of an alert; whole sentences."""

    means: str
    see: tuple[str, ...]
    """How to see what is going on; what stands in backticks is a command or an expression."""
    act: tuple[str, ...]
    """What to do, in order."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. Whatever replicas of a program export twice is taken once by its expression."""

    name: str
    title: str
    expr: str
    severity: Severity
    summary: str
    """One line with what it is about; `{{ $labels.x }}` and `{{ $value }}` are filled in by Prometheus."""
    runbook: Runbook
    lasts: str = "0m"
    """How long it has to hold."""
    threshold: str = ""
    """The setting that says from when, below `monitoring.alerts`; empty: there is nothing to choose."""

    def rule(self, runbooks: str) -> dict[str, Any]:
        """As Prometheus has it; `runbooks` is the address that the runbooks' pages are below."""
        return {
            "alert": self.name,
            "expr": self.expr,
            "for": self.lasts,
            "labels": {"severity": self.severity},
            "annotations": {
                "summary": self.summary,
                "description": self.runbook.means,
                "runbook_url": f"{runbooks}/{page_name(self.name)}",
            },
        }


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded figure."""

    record: str
    expr: str
    what: str
    """What it says, for people."""
    labels: Mapping[str, str] = field(default_factory=dict)

    def rule(self) -> dict[str, Any]:
        """As Prometheus has it."""
        return {"record": self.record, "expr": self.expr, **({"labels": dict(self.labels)} if self.labels else {})}


def group(name: str, rules: Sequence[Mapping[str, Any]], interval: str = "1m") -> dict[str, Any]:
    """A group of rules, evaluated one after the other."""
    return {"name": name, "interval": interval, "rules": [dict(rule) for rule in rules]}


def page_name(alert: str) -> str:
    """The file of an alert's runbook: `GpuIdle` is `gpu-idle.md`."""
    spaced = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in alert)
    return f"{spaced.lstrip('-')}.md"
