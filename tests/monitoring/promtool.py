"""What promtool says of our rules: each case plays series into them and asks which alerts fire."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainyard.conventions.monitoring import PLATFORM_NAMESPACES
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import Thresholds

NAMESPACES = PLATFORM_NAMESPACES
MEMBERS = {"team-vision": ("vision", 4), "team-nlp": ("nlp", 2)}
RULES = rules(Thresholds(), namespaces=NAMESPACES, members=MEMBERS, runbooks="https://example.com/runbooks")

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)"
)


@dataclass(frozen=True)
class Case:
    """What is played, and how many alerts of that name fire then."""

    alert: str
    what: str
    series: dict[str, str]
    fires: dict[str, int]
    """Time to how many fire then: `{"30m": 0, "40m": 1}`."""
    every: str = "1m"
    step: str = "1m"
    """How often the rules are evaluated."""


@dataclass(frozen=True)
class Figure:
    """What is played, and what an expression is then."""

    what: str
    series: dict[str, str]
    expr: str
    at: str
    value: float
    every: str = "1m"
    labels: str = field(default="{}")
    step: str = "1m"


def check_rules(groups: dict[str, Any], folder: Path) -> str:
    """What promtool finds wrong with rules; empty: nothing."""
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump(groups, sort_keys=False))
    done = subprocess.run(["promtool", "check", "rules", str(file)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def failures(cases: Sequence[Case | Figure], folder: Path, groups: dict[str, Any] = RULES) -> dict[str, str]:
    """By the number of a case, what promtool says against it.

    promtool evaluates every rule of its file at every step, so each run has only those that a case is about, and what
    these read; the cases of a run are those of one alert, or of one figure, at one step.
    """
    runs: dict[tuple[str, str], list[int]] = {}
    for number, case in enumerate(cases):
        about = case.alert if isinstance(case, Case) else case.expr
        runs.setdefault((about, case.step), []).append(number)
    found: dict[str, str] = {}
    for run, ((about, step), numbers) in enumerate(runs.items()):
        here = folder / str(run)
        here.mkdir()
        found |= _run({str(number): cases[number] for number in numbers}, about, step, here, groups)
    return found


def _run(
    cases: dict[str, Case | Figure], about: str, step: str, folder: Path, groups: dict[str, Any]
) -> dict[str, str]:
    wanted = needed(groups, about)
    (folder / "rules.yaml").write_text(yaml.safe_dump(wanted, sort_keys=False))
    played = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": step,
        # Else promtool evaluates the groups in a random order, and an alert that comes before what it reads finds the
        # value of the step before: at a step of an hour that is older than Prometheus looks back.
        "group_eval_order": [group["name"] for group in wanted["groups"]],
        "tests": [_test(name, case) for name, case in cases.items()],
    }
    file = folder / "tests.yaml"
    file.write_text(yaml.safe_dump(played))
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return {}
    text = done.stdout + done.stderr
    named = {match.group(1): part for part in text.split("FAILED:") if (match := re.search(r"name: (\d+)", part))}
    return named or dict.fromkeys(cases, text)


def needed(groups: dict[str, Any], about: str) -> dict[str, Any]:
    """The rules that are needed for an alert of that name, or for an expression: with what they read."""
    every = {rule.get("record") or rule["alert"]: rule["expr"] for group in groups["groups"] for rule in group["rules"]}
    wanted, text = set[str](), [every.get(about, about)]
    wanted |= {about} & set(every)
    while text:
        expr = text.pop()
        for name in every.keys() - wanted:
            if re.search(rf"(?<![\w:]){re.escape(name)}(?![\w:])", expr):
                wanted.add(name)
                text.append(every[name])
    kept = [
        {**group, "rules": [rule for rule in group["rules"] if (rule.get("record") or rule["alert"]) in wanted]}
        for group in groups["groups"]
    ]
    return {"groups": [group for group in kept if group["rules"]]}


def _test(name: str, case: Case | Figure) -> dict[str, Any]:
    if isinstance(case, Figure):
        expected = [{"labels": case.labels, "value": case.value}]
        asked = [{"expr": case.expr, "eval_time": case.at, "exp_samples": expected}]
    else:
        firing = f'count(ALERTS{{alertname="{case.alert}", alertstate="firing"}}) or vector(0)'
        asked = [
            {"expr": firing, "eval_time": at, "exp_samples": [{"labels": "{}", "value": count}]}
            for at, count in case.fires.items()
        ]
    series = [{"series": name, "values": values} for name, values in case.series.items()]
    return {"name": name, "interval": case.every, "input_series": series, "promql_expr_test": asked}


def kueue(series: str, labels: str, values: str, follower: str | None = None) -> dict[str, str]:
    """A series of Kueue's manager, which two replicas export; `follower`: what the second one has, else the same."""
    own = labels + ", " if labels else ""
    return {
        f'{series}{{{own}replica_role="leader", pod="kueue-1", instance="10.0.0.1:8443"}}': values,
        f'{series}{{{own}replica_role="follower", pod="kueue-2", instance="10.0.0.2:8443"}}': follower or values,
    }


def restarted(
    series: str, labels: str, values: str, minutes: int, lasts: int, *, away: int = 1, **more: str
) -> dict[str, str]:
    """A series whose exporter starts anew after some minutes, under another address, with what it then says.

    Args:
        away: minutes for which there is none; less than 0: for so long both are there, as in a Deployment's rollout.
        more: labels by which the two differ besides: `pod="prometheus-{}"`.
    """
    first, rest = values.split("|")
    own = labels + ", " if labels else ""

    def named(which: int) -> str:
        others = "".join(f', {key}="{value.format(which)}"' for key, value in more.items())
        return f'{series}{{{own}instance="10.0.0.{which}:1"{others}}}'

    return {
        named(1): f"{first}x{minutes} stale",
        named(2): f"_x{minutes + away} {rest}x{lasts - minutes}",
    }


def two_managers_restarted(series: str, labels: str, values: str, minutes: int, lasts: int) -> dict[str, str]:
    """A series of Kueue's manager whose two replicas start anew one after the other, and change their roles."""
    leader = restarted(series, f'{labels}, replica_role="leader"', values, minutes, lasts, away=-3)
    follower = restarted(series, f'{labels}, replica_role="follower"', values, minutes + 4, lasts, away=-3)
    return leader | follower
