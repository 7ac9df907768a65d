"""Statements that grant nothing: their actions are done on other things than the resources that they name.

Sources: `refusals/data/iam_resources.json`, which names its own; the IAM User Guide, "IAM JSON policy elements:
Resource" (read 2026-11): an action that takes no resource is granted on `*` alone; the Amazon S3 User Guide, "Bucket
policies".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from trainyard.recorded.policy_documents import statements, texts_of, title_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import BUCKET, ROLE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.rights.aws.all_documents import OF_IDENTITIES
from trainyard.rehearsal.works.rights.aws.patterns import names_action
from trainyard.rehearsal.works.rights.aws.recorded_policies import GUARDED, arn_of

_VARIABLE: Final = re.compile(r"\$\{(?P<name>[^}]*)\}")
_WITHOUT_RESOURCE: Final = ("ecr:getauthorizationtoken", "ec2:describe", "autoscaling:describe")
"""Beginnings of actions that surely take no resource. Of others the reference says so too, and AWS's own policies name
some: `s3:ListAllMyBuckets` on `arn:aws:s3:::*`, `logs:DescribeLogGroups` on a log group, `iam:ListRoles` on roles."""


@cache
def _table() -> tuple[Mapping[str, Mapping[str, Sequence[str]]], Mapping[str, Mapping[str, str]]]:
    text = files("trainyard.rehearsal.refusals.data").joinpath("iam_resources.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table["actions"], table["arns"]


def check(stack: Stack) -> None:
    """Notes them."""
    for type_ in OF_IDENTITIES:
        for view in stack.of_type(type_):
            _check(view, ("policy",), "policy")
    for view in stack.of_type(ROLE):
        for path, _ in view.items("inlinePolicies"):
            index = int(path.rpartition("[")[2].rstrip("]"))
            _check(view, ("inlinePolicies", index, "policy"), f"{path}.policy")
    for guarded, (type_, key) in GUARDED.items():
        for view in stack.of_type(type_):
            place = stack.referred(view.resource, key, guarded)
            if place is not None and (arn := arn_of(place.resource)):
                _check_place(view, arn, each_action=guarded == BUCKET)


def _check(view: View, way: tuple[str | int, ...], path: str) -> None:
    try:
        found = statements(view.resource.inputs, *way)
    except UnreadableInput:
        return
    every = [_effects(statement) for statement in found]
    granted = {
        action
        for effects, statement in zip(every, found, strict=True)
        for action, works in effects.items()
        if works and statement.get("Effect") == "Allow"
    }
    for index, (statement, effects) in enumerate(zip(found, every, strict=True)):
        vain = [action for action, works in effects.items() if not works]
        if not vain:
            continue
        where = f"{path}.Statement[{index}]"
        verb = "denies" if statement.get("Effect") == "Deny" else "allows"
        told = f"{title_of(statement, index)} {verb}"
        if len(vain) == len(effects) and statement.get("Effect") == "Allow":
            view.error(
                "rights-statement-nothing",
                where,
                f"{told} nothing: {', '.join(vain)} is not done on {_shown(statement)}",
                allowed=_done_on(vain[0]),
            )
        elif missing := [action for action in vain if verb == "denies" or action not in granted]:
            view.warning(
                "rights-statement-nothing",
                where,
                f"{told} {', '.join(missing)} on nothing: it is not done on {_shown(statement)}",
                allowed=_done_on(missing[0]),
            )


def _check_place(view: View, arn: str, *, each_action: bool) -> None:
    """A policy of a place that is about another place.

    `each_action`: the place's service refuses a statement too that has an action which is done on none of its
    resources, as S3 does whatever else the statement has: "Action does not apply to any resource(s) in statement".
    """
    try:
        found = statements(view.resource.inputs, "policy")
    except UnreadableInput:
        return
    for index, statement in enumerate(found):
        resources = texts_of(statement.get("Resource"))
        if resources and not any(meets(text, arn) or meets(text, f"{arn}/${{Rest}}") for text in resources):
            view.error(
                "rights-statement-nothing",
                f"policy.Statement[{index}]",
                f"{title_of(statement, index)} is about {_shown(statement)}, not about {arn}, whose policy it is in",
                allowed=arn,
            )
        elif each_action and (vain := [action for action, works in _effects(statement).items() if not works]):
            view.error(
                "rights-statement-nothing",
                f"policy.Statement[{index}]",
                f"{title_of(statement, index)}: {', '.join(vain)} is not done on {_shown(statement)}: S3 refuses it",
                allowed=_done_on(vain[0]),
            )


def _effects(statement: Mapping[str, Any]) -> dict[str, bool]:
    """Whether each action of a statement is done on any of its resources; an action that nobody knows is."""
    resources = texts_of(statement.get("Resource"))
    if "*" in resources or not resources:
        return {}
    return {
        action: any(_done(one, resources) for one in _meant(action)) for action in texts_of(statement.get("Action"))
    }


def _meant(action: str) -> list[str]:
    """The actions that a text means; itself where nobody knows."""
    service, _, name = action.partition(":")
    known = _table()[0].get(service.lower())
    if known is None or not name:
        return [action]
    if "*" not in name and "?" not in name:
        return [f"{service}:{name}"]
    return [f"{service}:{one}" for one in known if names_action(name, one)] or [action]


def _done(action: str, resources: Sequence[str]) -> bool:
    kinds = _kinds(action)
    if kinds is None or (not kinds and not action.lower().startswith(_WITHOUT_RESOURCE)):
        return True
    return any(meets(text, arn) for arn in kinds for text in resources)


@lru_cache(maxsize=4096)
def _kinds(action: str) -> tuple[str, ...] | None:
    service, _, name = action.partition(":")
    actions, arns = _table()
    known = next(
        (kinds for one, kinds in actions.get(service.lower(), {}).items() if one.lower() == name.lower()), None
    )
    if known is None or (known and any(kind not in arns[service.lower()] for kind in known)):
        return None
    return tuple(arns[service.lower()][kind] for kind in known)


def _done_on(action: str) -> str:
    kinds = next((found for one in _meant(action) if (found := _kinds(one)) is not None), ())
    return " or ".join(kinds) or '"*": the action takes no resource'


def _shown(statement: Mapping[str, Any]) -> str:
    resources = texts_of(statement.get("Resource"))
    return ", ".join(resources[:2]) + (" and more" if len(resources) > 2 else "")


@lru_cache(maxsize=16_384)
def meets(text: str, arn: str) -> bool:
    """Whether a policy's text and an ARN with variables can mean one and the same resource."""
    mine, theirs = text.split(":", 5), arn.split(":", 5)
    if len(mine) < len(theirs):
        return "*" in mine[-1] and all(_both(one, other) for one, other in zip(mine[:-1], theirs, strict=False))
    return all(_both(one, other) for one, other in zip(mine, theirs, strict=True))


def _both(text: str, template: str) -> bool:
    left = _VARIABLE.sub("*", text)
    right = _VARIABLE.sub(lambda found: _SEGMENT if found["name"] == "BucketName" else "*", template)
    if left == right or (left == "*" and _SEGMENT not in right):
        return True
    return _meet(left, right)


_SEGMENT: Final = "\0"
"""In a pattern: anything without a slash."""


@lru_cache(maxsize=16_384)
def _meet(left: str, right: str) -> bool:
    """Whether two patterns mean a common text."""
    reached, seen = [(0, 0)], {(0, 0)}
    while reached:
        here, there = reached.pop()
        if here == len(left) and there == len(right):
            return True
        for step in _steps(left, right, here, there):
            if step not in seen:
                seen.add(step)
                reached.append(step)
    return False


def _steps(left: str, right: str, here: int, there: int) -> Iterator[tuple[int, int]]:
    mine, theirs = left[here : here + 1], right[there : there + 1]
    if mine == "*":
        yield here + 1, there
    if theirs in ("*", _SEGMENT) and theirs:
        yield here, there + 1
    if not mine or not theirs:
        return
    if mine == "*" and theirs not in ("*", _SEGMENT):
        yield here, there + 1
    elif (theirs == "*" and mine != "*") or (theirs == _SEGMENT and mine not in ("*", "/")):
        yield here + 1, there
    elif mine in ("?", theirs) or theirs == "?":
        yield here + 1, there + 1
