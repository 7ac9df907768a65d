"""Alerts of Cloud Monitoring that their figures never cross, or always do, and that nobody is told of.

Sources: Cloud Monitoring API v3, `notificationPrompts`, `Trigger` and `EvaluationMissingData`; "Google Cloud metrics"
and "Kubernetes metrics" (units), as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import GCP_ALERT_POLICY, GCP_NOTIFICATION_CHANNEL
from trainyard.rehearsal.context import Stack, View

_SHARES: Final = re.compile(r"metric\.type\s*=\s*\"(kubernetes\.io/\w+/accelerator/[\w/]*(?:utilization|duty_cycle))\"")
"""Metrics in per cent, 0 to 100 ("Google Cloud metrics", unit `%`)."""
_FRACTIONS: Final = re.compile(
    r"metric\.type\s*=\s*\"((?:compute|cloudsql|run|lustre)\.googleapis\.com/[\w/]*utilizations?"
    r"|kubernetes\.io/(?:node|pod/volume)/[\w/]*utilization)\""
)
"""Metrics from 0 to 1 (there, unit `10^2.%`)."""
NEVER_BELOW: Final = re.compile(
    r"metric\.type\s*=\s*\"(?:kubernetes\.io|compute\.googleapis\.com|cloudsql\.googleapis\.com)/"
)
"""Figures that are never below 0, by how their names begin; `monitored` tells of the others that it knows."""
_OF_CHANGES: Final = ("ALIGN_PERCENT_CHANGE", "ALIGN_DELTA")
"""What a threshold is compared with is then how a figure changes: below 0 where it sinks, and in another unit."""
_BELOW: Final = ("COMPARISON_LT", "COMPARISON_LE")


def check(stack: Stack) -> None:
    """Alerts and channels: who is told of nothing when it begins, or waits for more series than there are."""
    _mail(stack)
    for view in stack.of_type(GCP_ALERT_POLICY):
        path = "alertStrategy.notificationPrompts"
        prompts = view.texts(path)
        if prompts and "OPENED" not in prompts and not view.blurred(path):
            words = f"{', '.join(prompts)}: nobody is told while it lasts"
            view.warning("programs-alert", path, words, allowed="OPENED beside it")
        for at, condition in view.items("conditions"):
            if condition.get("conditionThreshold") is not None:
                _figures(view, f"{at}.conditionThreshold")
            for kind in ("conditionThreshold", "conditionAbsent"):
                count = view.number(f"{at}.{kind}.trigger.count")
                if kind not in condition or count is None or count <= 1:
                    continue
                last = [each for _, each in view.items(f"{at}.{kind}.aggregations")][-1:]
                one = any(
                    each.get("crossSeriesReducer") not in (None, "REDUCE_NONE") and not each.get("groupByFields")
                    for each in last
                )
                if one or (stack.context.ours and count > 10):
                    words = f"{count:g} series at once; " + ("they are joined to one" if one else "one is an alert")
                    view.warning("programs-alert", f"{at}.{kind}.trigger.count", words, allowed="1")


def _figures(view: View, path: str) -> None:
    """A threshold in the unit of its metric, and one that figures cross."""
    asked, comparison = view.text(f"{path}.filter") or "", view.text(f"{path}.comparison")
    limit = 0.0 if view.lacks(f"{path}.thresholdValue") else view.number(f"{path}.thresholdValue")
    if limit is None:
        return
    if not any(each.get("perSeriesAligner") in _OF_CHANGES for _, each in view.items(f"{path}.aggregations")):
        _threshold(view, f"{path}.thresholdValue", asked, comparison, limit)
    missing = f"{path}.evaluationMissingData"
    gone = view.text(missing) == "EVALUATION_MISSING_DATA_ACTIVE" and comparison in _BELOW
    if gone and re.search(r"resource\.type\s*=\s*\"k8s_(container|pod)\"", asked):
        words = "a pod that has ended has no figures, and is told as one that is idle for ever"
        view.warning("programs-alert", missing, words, allowed="EVALUATION_MISSING_DATA_INACTIVE")


def _threshold(view: View, where: str, asked: str, comparison: str | None, limit: float) -> None:
    """A threshold of the figures themselves, in their unit."""
    share, fraction = _SHARES.search(asked), _FRACTIONS.search(asked)
    if share and 0 < limit < 1:
        words = f"{limit:g} of {share[1]}, which is in per cent: 0 to 100"
        view.warning("programs-alert", where, words, allowed=f"{limit * 100:g} for {limit * 100:g} %")
    elif fraction and limit > 1.5:
        words = f"{limit:g} of {fraction[1]}, which is a share: 0 to 1"
        view.warning("programs-alert", where, words, allowed=f"{limit / 100:g} for {limit:g} %")
    elif NEVER_BELOW.search(asked) and comparison in _BELOW and limit <= (0 if comparison == _BELOW[0] else -1):
        view.error("programs-alert", where, f"waits for less than {limit:g}, and there never is", allowed="above 0")


def _mail(stack: Stack) -> None:
    """A mail's domain that is a slip away from the one that most of the stack's people have."""
    domains = Counter(
        text.rpartition("@")[2].lower()
        for view in stack.views
        for path in ("labels.email_address", "member", "authenticatorGroupsConfig.securityGroup")
        if (text := view.text(path)) is not None and "@" in text and not text.endswith(".gserviceaccount.com")
    )
    for view in stack.of_type(GCP_NOTIFICATION_CHANNEL):
        own = (view.text("labels.email_address") or "").rpartition("@")[2].lower()
        others = [name for name, count in domains.items() if count >= 2 and name != own]
        if own and domains[own] == 1 and (meant := nearest(own, others, 0.85)):
            words = f"nobody else here is of {own}: nobody reads it perhaps"
            view.warning("programs-channel", "labels.email_address", words, allowed=meant, hint=meant)
