"""Log groups that a collector in the cluster sends to: one that is not there is not made where nobody lets it.

Source: Fluent Bit's manual, "Amazon CloudWatch" (`auto_create_group`, off unless it is set), 2026-11. A group that this
stack makes none of may be somebody else's; so it is told beside one of the same folder that nothing of the stack names.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.types import CONFIG_MAP, LOG_GROUP
from trainyard.rehearsal.context import Stack, View, show

_GROUP: Final = re.compile(r"^[ \t]*log_group_name[ \t]+(\S+)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MAKES: Final = re.compile(r"^[ \t]*auto_create_group[ \t]+(?:true|on|yes)\b", re.MULTILINE | re.IGNORECASE)


def check(stack: Stack) -> None:
    """Every configuration of Fluent Bit that names groups of CloudWatch Logs."""
    groups = {view.text("name"): view for view in stack.of_type(LOG_GROUP) if not view.resource.read}
    if not groups or None in groups:
        return
    for view in stack.of_type(CONFIG_MAP):
        for key, text in view.mapping("data").items():
            if isinstance(text, str) and "cloudwatch_logs" in text and not _MAKES.search(text):
                for name in dict.fromkeys(_GROUP.findall(text)):
                    _is_there(view, f"data.{key}", name, groups, text)


def _is_there(view: View, path: str, name: str, groups: dict[str | None, View], text: str) -> None:
    if name in groups or "$" in name:
        return
    folder = name.rpartition("/")[0]
    beside = [one for one in groups if folder and str(one).startswith(f"{folder}/") and str(one) not in text]
    if beside:
        view.error(
            "reference-log-group", path,
            f"sends to log group {show(name)}, which the stack does not make, and may not make it: every line is lost",
            allowed=f"{' or '.join(sorted(map(str, beside)))}, or auto_create_group",
        )  # fmt: skip
