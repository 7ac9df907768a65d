"""Log groups that wait for what nobody writes there: a service names its own group after the thing it logs.

Source: EKS user guide, "Send control plane logs to CloudWatch Logs", and RDS user guide, "Publishing database logs to
Amazon CloudWatch Logs" (2026-11). A group that is not there is made by the service: kept for ever, without a key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import DATABASE, EKS_CLUSTER, LOG_GROUP
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_QUERY: Final = "aws:cloudwatch/queryDefinition:QueryDefinition"


@dataclass(frozen=True, slots=True)
class _Logging:
    group: re.Pattern[str]  # with the name of the thing that is logged
    type: str
    name: str  # input that holds the name
    switch: str  # list of what it logs
    word: str
    example: str


_LOGGING: Final = (
    _Logging(re.compile(r"/aws/eks/([^/]+)/cluster"), EKS_CLUSTER, "name", "enabledClusterLogTypes", "cluster",
             "/aws/eks/{}/cluster"),
    _Logging(re.compile(r"/aws/rds/instance/([^/]+)/[a-z-]+"), DATABASE, "identifier", "enabledCloudwatchLogsExports",
             "database", "/aws/rds/instance/{}/postgresql"),
)  # fmt: skip


def check(stack: Stack) -> None:
    """A group of a name that nothing in the stack has, beside a thing that logs and has no group of its own."""
    groups = stack.of_type(LOG_GROUP)
    for logging in _LOGGING:
        things = [view for view in stack.of_type(logging.type) if not view.resource.read]
        names = [view.text(logging.name) for view in things]
        if not things or None in names:
            continue
        named = [(group, found[1]) for group in groups if (found := logging.group.fullmatch(group.text("name") or ""))]
        _asked(stack, logging, {str(name) for name in names})
        kept = {name for _, name in named}
        alone = [view for view in things if view.text(logging.name) not in kept and view.entries(logging.switch)]
        for group, name in named:
            if name not in names and alone:
                _tell(group, name, alone[0], logging)
            elif name not in names and (near := nearest_of(name, {str(one) for one in names})):
                group.warning(
                    "reference-log-group", "name", f"the stack makes no {logging.word} {show(name)}",
                    hint=f"did you mean {near}?",
                )  # fmt: skip
            else:
                _kinds(group, [view for view in things if view.text(logging.name) == name], logging)


def _kinds(group: View, things: list[View], logging: _Logging) -> None:
    """A database writes a log of each kind that it exports, under the kind's own name."""
    kind = (group.text("name") or "").rpartition("/")[2]
    for thing in things if logging.type == DATABASE else ():
        written = thing.texts(logging.switch)
        if written and kind not in written and not thing.blurred(logging.switch):
            group.error(
                "reference-log-group", "name", f"{thing.name} exports no log {show(kind)}: nothing is written there",
                allowed=f"one of {', '.join(written)}", hint=nearest(kind, written),
            )  # fmt: skip


def _asked(stack: Stack, logging: _Logging, names: set[str]) -> None:
    for query in stack.of_type(_QUERY):
        for index, text in enumerate(query.entries("logGroupNames")):
            found = logging.group.fullmatch(text) if isinstance(text, str) else None
            if (
                found is not None
                and found[1] not in names
                and not any(group.text("name") in (None, text) for group in stack.of_type(LOG_GROUP))
            ):
                query.warning(
                    "reference-log-group",
                    f"logGroupNames[{index}]",
                    f"the stack makes no {logging.word} {show(found[1])}, and asks for its logs",
                    allowed=" or ".join(logging.example.format(name) for name in sorted(names)),
                )


def _tell(group: View, name: str, thing: View, logging: _Logging) -> None:
    own = logging.example.format(thing.text(logging.name))
    group.warning(
        "reference-log-group",
        "name",
        f"the stack makes no {logging.word} {show(name)}; {thing.name} logs to {own}, which the service makes by "
        "itself: kept for ever, and without a key",
        allowed=own,
    )
