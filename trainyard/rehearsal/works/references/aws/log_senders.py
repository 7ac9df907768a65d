"""Log groups that a collector in the cluster sends to: one that is not there is not made where nobody lets it.

Source: Fluent Bit's manual, "Amazon CloudWatch" (`auto_create_group`, off unless it is set), 2026-11. A group that this
stack makes none of may be somebody else's; so it is told beside one of the same folder that nothing of the stack names:
for sure where the names are nearly alike, in our own stacks, where all groups are the stack's, as a warning besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.types import CONFIG_MAP, LOG_GROUP
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_OUTPUT: Final = re.compile(r"^\s*\[OUTPUT\]\s*$", re.IGNORECASE | re.MULTILINE)
_FILLED: Final = "/aws/"
"""How names of groups begin that services of AWS fill themselves, as EKS and RDS do."""


def check(stack: Stack) -> None:
    """Every configuration of Fluent Bit that names groups of CloudWatch Logs."""
    groups = {view.text("name"): view for view in stack.of_type(LOG_GROUP) if not view.resource.read}
    if not groups or None in groups:
        return
    for view in stack.of_type(CONFIG_MAP):
        for key, text in view.mapping("data").items():
            named = dict.fromkeys(outputs(text)) if isinstance(text, str) else {}
            for name in dict.fromkeys(one.group for one in named if not one.makes):
                _is_there(view, f"data.{key}", name, [str(one) for one in groups], text)


@dataclass(frozen=True, slots=True)
class Output:
    """One output of Fluent Bit to CloudWatch Logs."""

    group: str
    region: str  # empty: that of its surroundings
    makes: bool  # whether it makes a group that is not there


def outputs(text: str) -> Iterator[Output]:
    """The outputs to CloudWatch Logs that a configuration in Fluent Bit's classic form has."""
    for block in _OUTPUT.split(text)[1:] if "cloudwatch" in text else ():
        keys = {
            parts[0].lower(): parts[1].strip()
            for line in block.splitlines()
            if len(parts := line.strip().split(None, 1)) > 1
        }
        if group := keys.get("log_group_name", ""):
            makes = keys.get("auto_create_group", "").lower() in ("true", "on", "yes")
            yield Output(group, keys.get("region", ""), makes)


def _is_there(view: View, path: str, name: str, groups: list[str], text: str) -> None:
    if name in groups or "$" in name:
        return
    folder = name.rpartition("/")[0]
    beside = sorted(
        one
        for one in groups
        if folder and one.startswith(f"{folder}/") and one not in text and not one.startswith(_FILLED)
    )
    near = nearest_of(name, beside)
    if near:
        view.error(
            "reference-log-group", path,
            f"sends to log group {show(name)}, which the stack does not make, and may not make it: every line is lost",
            allowed=f"{' or '.join(beside)}, or auto_create_group", hint=f"did you mean {near}?",
        )  # fmt: skip
    elif beside and view.stack.context.ours:
        view.warning(
            "reference-log-group", path,
            f"sends to log group {show(name)}, which the stack does not make, and nothing sends to {beside[0]}: unless "
            "another one makes it, every line is lost", allowed=f"{' or '.join(beside)}, or auto_create_group",
        )  # fmt: skip
