"""Times that objects are given: schedules that come, zones that there are, ends that leave what they have to.

Sources: Kubernetes documentation, "CronJob" (a schedule is five fields of cron; fewer than 10 s of
`startingDeadlineSeconds` may never start a job, since the controller looks every 10 s) and "Pod Lifecycle" (the grace
period holds the `preStop` hook too), as generally known (2026-11).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from zoneinfo import available_timezones

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.clock import is_zone
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_DAYS: Final = {number: max(calendar.monthrange(year, number)[1] for year in (2023, 2024)) for number in range(1, 13)}
"""Days that a month has at most."""
_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_LOOKS_SECONDS: Final = 10
_GRACE_SECONDS: Final = 30
_SLEEP: Final = re.compile(r"^\s*(?:(?:/bin/)?sleep\s+)(\d+)s?\b")
_SHELL_SLEEP: Final = re.compile(r"(?:^|[;&|]\s*)sleep\s+(\d+)s?(?=\s*(?:$|[;&|]))")


def check(cluster: Cluster) -> None:
    """Every schedule, every grace period, every probe that outlives its pod."""
    for view in cluster.of("CronJob"):
        _schedule(view)
        _zone(view)
        seconds = view.number("spec.startingDeadlineSeconds")
        if seconds is not None and seconds < _LOOKS_SECONDS:
            view.error(
                "reference-schedule",
                "spec.startingDeadlineSeconds",
                f"is {seconds:g}: the controller looks every {_LOOKS_SECONDS} s, so that jobs are missed for ever",
                allowed=f"{_LOOKS_SECONDS} or more",
            )
    for pod in cluster.pods:
        _grace(pod)


def _schedule(view: View) -> None:
    """A day that no month of the schedule has. With a day of the week besides, that one comes."""
    fields = (view.text("spec.schedule") or "").split()
    if len(fields) != 5 or fields[4] not in ("*", "?"):
        return
    days, months = _numbers(fields[2], 1, 31), _numbers(fields[3], 1, 12)
    if days is None or months is None or not days or not months:
        return
    if not any(day <= _DAYS[month] for day in days for month in months):
        view.error(
            "reference-schedule",
            "spec.schedule",
            f"got {show(view.text('spec.schedule'))}: no such day ever comes",
            allowed="a day that one of its months has",
        )


def _numbers(field: str, least: int, most: int) -> set[int] | None:
    """What a field of cron stands for; None where it is not understood."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        if span in ("*", "?"):
            low, high = least, most
        else:
            first, _, last = span.partition("-")
            ends = [_MONTHS.get(one.lower(), int(one) if one.isdigit() else None) for one in (first, last or first)]
            if None in ends:
                return None
            low, high = (int(one or 0) for one in ends)
            if step and not last:
                high = most
        if step and (not step.isdigit() or not int(step)):
            return None
        found |= set(range(low, high + 1, int(step) if step else 1))
    return found


def _zone(view: View) -> None:
    zone = view.text("spec.timeZone")
    if zone is None or zone == "Local" or is_zone(zone):
        return
    view.error(
        "reference-time-zone",
        "spec.timeZone",
        f"there is no zone {show(zone)}",
        allowed="a zone of the IANA time zone database, as Asia/Dubai",
        hint=nearest(zone, available_timezones()),
    )


def _grace(pod: Pod) -> None:
    """A hook that takes as long as the pod is given: the program itself is killed."""
    given = pod.spec.get("terminationGracePeriodSeconds")
    grace = _GRACE_SECONDS if given is None else as_number(given)
    if given is UNKNOWN or grace is None:
        return
    for container in pod.containers:
        for path, seconds in _waits(container):
            if seconds >= grace:
                pod.view.error(
                    "reference-grace",
                    path,
                    f"waits {seconds:g} s, and the pods of {pod.title} get {grace:g} s to end: the program in "
                    f"{show(container.name)} is killed with nothing ended",
                    allowed=f"a terminationGracePeriodSeconds of more than {seconds:g}",
                )


def _waits(container: Container) -> Iterator[tuple[str, float]]:
    hook = follow(container.body, "lifecycle", "preStop")
    if not isinstance(hook, Mapping):
        return
    path = f"{container.path}.lifecycle.preStop"
    seconds = as_number(follow(hook, "sleep", "seconds"))
    if seconds is not None:
        yield f"{path}.sleep.seconds", seconds
    command: Any = follow(hook, "exec", "command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        words = " ".join(command)
        shell = len(command) > 2 and command[1] in ("-c", "-ec", "-lc")
        found = _SHELL_SLEEP.findall(command[2]) if shell else _SLEEP.findall(words)
        if found:
            yield f"{path}.exec.command", float(sum(map(int, found)))
