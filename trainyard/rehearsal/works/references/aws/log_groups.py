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

_STREAMS: Final = {
    "api": ("kube-apiserver-",), "audit": ("kube-apiserver-audit-",), "authenticator": ("authenticator-",),
    "controllerManager": ("kube-controller-manager-", "cloud-controller-manager-"), "scheduler": ("kube-scheduler-",),
}  # fmt: skip
"""How the names of streams begin, by the kind of log (EKS User Guide, "Send control plane logs to CloudWatch Logs")."""
_LIKE: Final = re.compile(r"filter\s+@logStream\s+like\s+/((?:[^/\\]|\\.)+)/")


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
        for query in stack.of_type(_QUERY) if logging.type == EKS_CLUSTER else ():
            _streams(query, things)
        kept = {name for _, name in named}
        of_names = [view for view in things if view.text(logging.name) not in kept and view.entries(logging.switch)]
        for group, name in named:
            alone = of_names or _unkept(group, things, {str(one.value("name")) for one in groups}, logging)
            if name not in names and alone:
                _tell(group, name, alone[0], logging)
            elif name not in names and (near := nearest_of(name, {str(one) for one in names})):
                group.warning(
                    "reference-log-group", "name", f"the stack makes no {logging.word} {show(name)}",
                    hint=f"did you mean {near}?",
                )  # fmt: skip
            else:
                _kinds(group, [view for view in things if view.text(logging.name) == name], logging)


def _unkept(group: View, things: list[View], names: set[str], logging: _Logging) -> list[View]:
    """Databases that export a log of the group's kind, and have no group for it."""
    kind = (group.text("name") or "").rpartition("/")[2]
    return [
        thing
        for thing in things
        if logging.type == DATABASE
        and kind in thing.texts(logging.switch)
        and f"/aws/rds/instance/{thing.text(logging.name)}/{kind}" not in names
    ]


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


def _streams(query: View, clusters: list[View]) -> None:
    """A filter on names of streams that none of what a cluster logs has: EKS names a stream after the kind of its log.

    Only a query over logs of clusters alone, whose kinds are all known.
    """
    groups = query.entries("logGroupNames")
    names = {cluster.text("name") for cluster in clusters}
    of_clusters = [_LOGGING[0].group.fullmatch(one) if isinstance(one, str) else None for one in groups]
    if not groups or any(found is None or found[1] not in names for found in of_clusters):
        return
    mine = [one for one in clusters if one.text("name") in {found[1] for found in of_clusters if found is not None}]
    kinds = {kind for one in mine for kind in one.texts("enabledClusterLogTypes")}
    if any(one.blurred("enabledClusterLogTypes") for one in mine) or not kinds:
        return
    streams = [f"{stream}{'0' * 32}" for kind in sorted(kinds) for stream in _STREAMS.get(kind, ())]
    for pattern in _LIKE.findall(query.text("queryString") or ""):
        try:
            found_any = any(re.search(pattern.replace(r"\/", "/"), stream) for stream in streams)
        except re.error:
            continue
        if streams and not found_any:
            query.warning(
                "reference-log-stream", "queryString",
                f"asks for streams like {show(pattern)}, and none of {', '.join(sorted(kinds))} has such: it "
                "finds nothing", allowed=f"one of {', '.join(sorted({one.rstrip('0') for one in streams}))}",
            )  # fmt: skip


def _tell(group: View, name: str, thing: View, logging: _Logging) -> None:
    own = logging.example.format(thing.text(logging.name))
    if logging.type == DATABASE:
        own = f"{own.rpartition('/')[0]}/{(group.text('name') or '').rpartition('/')[2]}"
    group.warning(
        "reference-log-group",
        "name",
        f"the stack makes no {logging.word} {show(name)}; {thing.name} logs to {own}, which the service makes by "
        "itself: kept for ever, and without a key",
        allowed=own,
    )
