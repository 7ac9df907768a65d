"""Expressions and names that Prometheus does not read: the operator leaves the whole file of rules out, and says so in
an event alone where its webhook is off.

Source: Prometheus documentation, "Querying basics" and "Recording rules" (v3; a name is letters, digits, `_` and `:`),
2026-11. Nothing is parsed: brackets are counted, and an operator has something on both sides.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.watching.promql import tokens

_NAME: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_BINARY: Final = frozenset({"*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<=", "and", "or", "unless"})


def check(cluster: Cluster) -> None:
    """Every rule of a recorded file of rules."""
    for view in cluster.of("PrometheusRule.monitoring.coreos.com"):
        for path, group in view.items("spec.groups"):
            for index, rule in enumerate(listed(group.get("rules"))):
                if isinstance(rule, dict):
                    _rule(view, f"{path}.rules[{index}]", rule)


def _rule(view: View, path: str, rule: dict[str, object]) -> None:
    record, expression, labels = rule.get("record"), rule.get("expr"), rule.get("labels")
    if isinstance(record, str) and not _NAME.fullmatch(record):
        # Prometheus 3 takes any name in UTF-8, where it is told so, and its rules then quote it.
        view.warning("watching-syntax", f"{path}.record", f"{show(record)} is no name of a figure before Prometheus 3",
                   allowed="letters, digits, _ and :")  # fmt: skip
    for name in labels if isinstance(labels, dict) else ():
        if isinstance(name, str) and not _LABEL.fullmatch(name):
            view.warning("watching-syntax", f"{path}.labels", f"{show(name)} is no name of a label before Prometheus 3",
                       allowed="letters, digits and _")  # fmt: skip
    if isinstance(record, str) and isinstance(expression, str):
        words = tokens(expression)
        if record in words and not {"or", "unless", "absent"} & {word.lower() for word in words}:
            view.error(
                "watching-syntax", f"{path}.expr", f"asks for {record}, which this rule records: it never has a first",
                allowed="another figure, or one with `or` beside it",
            )  # fmt: skip
    if isinstance(expression, str) and (wrong := _wrong(expression)):
        view.error(
            "watching-syntax", f"{path}.expr", f"{wrong}: the operator leaves all rules of this object out",
            allowed="an expression of PromQL",
        )  # fmt: skip


def _wrong(expression: str) -> str:
    """What is wrong with an expression; empty where nothing is seen."""
    opened: list[str] = []
    words = tokens(expression)
    for word in words:
        if word in _PAIRS.values():
            opened.append(word)
        elif word in _PAIRS and (not opened or opened.pop() != _PAIRS[word]):
            return f"has a {word} that nothing opens"
    if opened:
        return f"has a {opened[-1]} that is never closed"
    ends = [word for word in (words[:1] if words[:1] and words[0] not in ("-", "+") else ()) if word.lower() in _BINARY]
    ends += [word for word in words[-1:] if word.lower() in _BINARY | {"+", "-"}]
    return f"has nothing beside {ends[0]}" if ends else ""
