"""Words for what differs: short, and never a secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainyard.problems import count
from trainyard.recorded.model import SECRET_TEXT, UNKNOWN, RecordedResource, Secret, has_secret
from trainyard.rehearsal.change.model import Difference, Operation, Step, without_indices

_LONGEST: Final = 60
"""Characters of a value that is shown whole: a policy or a program is not."""
_MOST: Final = 3
_TEXT: Final = "a text"


def shown(found: Difference) -> str:
    """One difference: `scalingConfig.maxSize 2 -> 3`."""
    if isinstance(found.before, Secret) or isinstance(found.after, Secret):
        return f"{found.path} {SECRET_TEXT} -> another"
    if found.after is UNKNOWN and found.of:
        return f"{found.path} comes from {name_of(found.of)}, which is another"
    before, after = _value(found.before), _value(found.after)
    return f"{found.path} is another text" if before == after == _TEXT else f"{found.path} {before} -> {after}"


def several(found: Sequence[Difference]) -> str:
    """The first of them, each input of a list once, and how many more there are."""
    firsts = list({without_indices(each.path): each for each in reversed(found)}.values())[::-1]
    more = f" and {len(firsts) - _MOST} more" if len(firsts) > _MOST else ""
    return ", ".join(map(shown, firsts[:_MOST])) + more


def why(step: Step) -> str:
    """What makes a step necessary: what forces it, or what differs."""
    forced = [each for each in step.differences if each.path in step.forced_by]
    if forced:
        return several(forced)
    if step.made_with:
        return f"goes with {name_of(step.made_with)}"
    if step.operation is Operation.REPLACE:
        return ", ".join(step.forced_by)
    return several(step.differences)


def verb(step: Step) -> str:
    """What becomes of it, after "would be"."""
    return {
        Operation.REPLACE: f"replaced ({why(step)})",
        Operation.DELETE: "deleted",
        Operation.UPDATE: f"changed ({why(step)})",
        Operation.CREATE: "made",
        Operation.SAME: "left alone",
    }[step.operation]


def name_of(urn: str) -> str:
    """A resource's own name, of its URN."""
    return urn.rpartition("::")[2]


def where(resource: RecordedResource) -> str:
    """A resource with its components: `network/network-vpc`."""
    return f"{resource.component}/{resource.name}" if resource.component else resource.name


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    if value is UNKNOWN:
        return "not known"
    if has_secret(value):
        return SECRET_TEXT
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "several values" if value else "nothing in it"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else _TEXT


def minutes(seconds: float) -> str:
    """A length of time as a person would say it, from what is published of how long things take."""
    if seconds < 90:
        return "a minute or less" if seconds <= 60 else "two minutes"
    if seconds < 5400:
        return f"{count(round(seconds / 60), 'minute')}"
    return f"{count(round(seconds / 3600), 'hour')}"
