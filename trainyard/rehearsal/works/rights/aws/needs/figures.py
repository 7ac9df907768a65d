"""Figures that Amazon Managed Service for Prometheus keeps: who writes them there, and who asks for them.

Sources, read 2026-11: Amazon Managed Service for Prometheus user guide, "Set up ingestion from a new Prometheus server"
and "IAM permissions and policies"; Prometheus documentation, `remote_write` (with `sigv4` alone it signs as its pod's
role).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.recorded.monitoring import CHART
from trainyard.recorded.types import AMP_WORKSPACE
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.recorded_pods import RecordedPod
from trainyard.rehearsal.works.workloads.model import Workload

_WORKSPACE: Final = re.compile(r"https://aps-workspaces\.[a-z0-9-]+\.amazonaws\.com/workspaces/(?P<id>ws-[\w-]+)/")
_OWN_CREDENTIALS: Final = ("accessKey", "secretKey", "profile", "roleArn")
_READS: Final = ("aps:QueryMetrics", "aps:GetSeries", "aps:GetLabels", "aps:GetMetricMetadata")
_OWN_READER: Final = "keepers.figures_reader"
"""The program that asks on everybody's behalf: it is told the workspace's address."""


def needs(places: Places, bindings: Bindings, made: Sequence[Workload], pods: Sequence[RecordedPod]) -> Iterator[Need]:
    """What recorded Prometheuses that write to a workspace of the stack need, and what asks it."""
    workspaces = {str(view.resource.id): arn_of(view.resource) for view in places.stack.of_type(AMP_WORKSPACE)}
    if not workspaces:
        return
    for workload in made:
        view = places.stack.view_of(workload.resource)
        if workload.origin != "chart" or workload.name != "prometheus" or _chart(view) != CHART:
            continue
        account = str(workload.spec.get("serviceAccountName", ""))
        for path, url in _written(view):
            yield from _of(bindings, (view, path, url), (workload.namespace, account), ("aps:RemoteWrite",), workspaces)
    for pod in pods:
        if not any(_OWN_READER in text for _, text in pod.words):
            continue
        for path, text in pod.words:
            yield from _of(bindings, (pod.view, path, text), (pod.namespace, pod.account), _READS, workspaces)


def _chart(view: View) -> str:
    return (view.text("chart") or "").rpartition("/")[2]


def _written(view: View) -> Iterator[tuple[str, str]]:
    """Addresses that Prometheus writes to with its own role."""
    for path, each in view.items("values.prometheus.prometheusSpec.remoteWrite"):
        signs = each.get("sigv4")
        url = view.text(f"{path}.url")
        if url is not None and isinstance(signs, dict) and not any(key in signs for key in _OWN_CREDENTIALS):
            yield f"{path}.url", url


def _of(
    bindings: Bindings,
    asked: tuple[View, str, str],
    account: tuple[str, str],
    actions: Sequence[str],
    workspaces: dict[str, str],
) -> Iterator[Need]:
    view, path, text = asked
    found = _WORKSPACE.search(text)
    arn = workspaces.get(found["id"], "") if found else ""
    if not arn or not account[1]:
        return
    identity = bindings.identity(*account)
    if identity.state in ("unknown", "refused"):
        return
    purpose = "hand figures on" if actions == ("aps:RemoteWrite",) else "ask for figures"
    who = f"{account[0]}/{account[1]}"
    if identity.caller is None:
        view.error(
            "rights-program-no-role",
            path,
            f"{who} has no role: it cannot {purpose}",
            hint=f"a Pod Identity association for {who}",
        )
        return
    deeds = tuple(Deed(action, arn) for action in actions)
    yield Need(view, path, "rights-program-lacks", (identity.caller,), who, purpose, deeds)
