"""Filters of log entries, wherever one stands: metrics, sinks, exclusions, views, alerts on lines of a log.

Source: Cloud Logging, "Logging query language" (operators are in capitals, a text with anything but letters, digits and
a few marks is quoted, `--` begins a comment), as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.conventions.gcp import LOG_SEVERITIES
from trainyard.problems import nearest
from trainyard.recorded.types import GCP_ALERT_POLICY, GCP_LOG_EXCLUSIONS, GCP_LOG_METRIC, GCP_LOG_SINKS, GCP_LOG_VIEW
from trainyard.rehearsal.context import View, expand
from trainyard.rehearsal.refusals.rules import Rules

_RULE: Final = "gcp-log-filter"
_WHERE: Final[Mapping[str, tuple[str, ...]]] = {
    GCP_ALERT_POLICY: ("conditions[].conditionMatchedLog.filter",),
    **dict.fromkeys((GCP_LOG_METRIC, GCP_LOG_VIEW, *GCP_LOG_EXCLUSIONS), ("filter",)),
    **dict.fromkeys(GCP_LOG_SINKS, ("filter", "exclusions[].filter")),
}
"""By type: where a filter of entries stands."""
_TEXT_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![^\s()])--[^\n]*')
_OPERATORS: Final = re.compile(r'(?<![\w."])(and|or|not)(?![\w."])')
_SEVERITY: Final = re.compile(r'severity\s*(?:=|!=|>=|<=|>|<|:)\s*"?([A-Za-z]+)')


def filters(view: View) -> None:
    """What Cloud Logging cannot read of a filter."""
    for where in _WHERE[view.type]:
        for path, text in expand(view.inputs, where):
            if isinstance(text, str):
                _filter(view, path, text)


def _filter(view: View, path: str, text: str) -> None:
    bare = _TEXT_OR_COMMENT.sub(lambda found: '""' if found[0].startswith('"') else "", text)
    if bare.count('"') % 2:
        view.error(_RULE, path, "a quotation mark is left open", allowed='like severity>="ERROR"')
    elif bare.count("(") != bare.count(")"):
        view.error(_RULE, path, "brackets do not pair", allowed="as many ( as )")
    elif match := _OPERATORS.search(bare):
        view.error(_RULE, path, f"{match[1]} is no operator", allowed=match[1].upper())
    for level in _SEVERITY.findall(text):
        if level.upper() not in LOG_SEVERITIES:
            hint = nearest(level.upper(), LOG_SEVERITIES)
            view.error(_RULE, path, f"severity {level}", allowed=", ".join(LOG_SEVERITIES), hint=hint)


RULES: Rules = {filters: tuple(_WHERE)}
