"""Conditions on keys that no request has: misspelt ones, and those that the statement's actions come without.

Sources: `refusals/data/iam_conditions.json`, which names its own; the IAM User Guide, "AWS global condition context
keys" and "IAM JSON policy elements: Condition operators" (read 2026-11): a key that the request lacks fails an
operator, but a negated one, which it meets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, Literal

from trainyard.problems import nearest_word
from trainyard.recorded.policy_documents import texts_of, title_of
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.rights.aws.all_documents import documents
from trainyard.rehearsal.works.rights.aws.conditions import OPERATOR
from trainyard.rehearsal.works.rights.aws.patterns import names_action

RULE: Final = "rights-condition-key"
Without = Literal["fails", "holds", "open"]
"""What becomes of a condition where the request lacks its key; open: it asks whether it does."""

_GLOBAL: Final = tuple(
    f"aws:{name}"
    for name in (
        "AssumedRoot", "CalledVia", "CalledViaAWSMCP", "CalledViaFirst", "CalledViaLast", "ChatbotSourceArn",
        "CurrentTime", "Ec2InstanceSourcePrivateIPv4", "Ec2InstanceSourceVpc", "EpochTime", "FederatedProvider",
        "MultiFactorAuthAge", "MultiFactorAuthPresent", "PrincipalAccount", "PrincipalArn", "PrincipalIsAWSService",
        "PrincipalOrgID", "PrincipalOrgPaths", "PrincipalServiceName", "PrincipalServiceNamesList", "PrincipalTag",
        "PrincipalType", "RequestTag", "RequestedRegion", "ResourceAccount", "ResourceOrgID", "ResourceOrgPaths",
        "ResourceTag", "SecureTransport", "SignInSessionArn", "SourceAccount", "SourceArn", "SourceIdentity",
        "SourceIp", "SourceOrgID", "SourceOrgPaths", "SourceOwner", "SourceVpc", "SourceVpcArn", "SourceVpce",
        "TagKeys", "TokenIssueTime", "UserAgent", "ViaAWSMCPService", "ViaAWSService", "VpcSourceIp", "VpceAccount",
        "VpceOrgID", "VpceOrgPaths", "referer", "userid", "username",
    )
)  # fmt: skip
_BY_ACTION: Final = ("aws:resourcetag/", "aws:requesttag/")
"""Families of global keys that an action has or has not, as the reference says by action."""
_OF_SESSIONS: Final = frozenset({"ec2:sourceinstancearn", "ec2:roledelivery", "lambda:sourcefunctionarn"})
"""Keys of a service that every request of its credentials has, whatever it asks of whom."""
_TAGS: Final = ("resourcetag", "requesttag")
NEAR: Final = 0.85
"""How near a key is to one that exists where it is a slip and not a newer one (0 to 1)."""


def check(stack: Stack) -> None:
    """Notes them."""
    for view, path, found in documents(stack):
        for index, statement in enumerate(found):
            if statement.get("Condition"):
                _check(view, f"{path}.Statement[{index}]", index, statement, found)


def keys_of(statement: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """Operator, key and values of each condition; one value is a list of one."""
    given = statement.get("Condition")
    for how, keys in given.items() if isinstance(given, Mapping) else ():
        for name, values in keys.items() if isinstance(keys, Mapping) else ():
            yield str(how), str(name), values if isinstance(values, list) else [values]


def without_the_key(operator: str, values: Sequence[Any]) -> Without:
    """What a condition says of a request that lacks its key."""
    parts = OPERATOR.fullmatch(operator)
    base, of_a_set = (parts["base"].lower(), (parts["set"] or "").lower()) if parts else ("", "")
    if parts is None or parts["if_exists"]:
        return "open"
    if base == "null":
        return "fails" if {str(one).lower() for one in values} == {"false"} else "open"
    if of_a_set == "forallvalues":
        return "open"
    return "holds" if "not" in base and of_a_set != "foranyvalue" else "fails"


def _check(view: View, where: str, index: int, statement: Mapping[str, Any], every: list[Mapping[str, Any]]) -> None:
    told = title_of(statement, index)
    for operator, key, values in keys_of(statement):
        meant = _meant(key)
        if meant:
            view.error(RULE, where, f"{told} asks for {key}, which no request has", allowed=meant)
            return
        actions = texts_of(statement.get("Action"))
        vain = [action for action in actions if not _comes_with(action, key)]
        missing = without_the_key(operator, values)
        if not vain or missing == "open" or "*" in actions:
            continue
        if len(vain) == len(actions):
            verb = "allows" if statement.get("Effect") == "Allow" else "denies"
            said = f"{verb} nothing" if missing == "fails" else f"{verb} whatever its condition says"
            view.error(
                RULE, where, f"{told} {said}: {', '.join(vain[:3])} comes without {key}", allowed=_others(vain[0])
            )
            return
        alone = [action for action in vain if not _given_otherwise(action, statement, every)]
        if alone and missing == "fails" and statement.get("Effect") == "Allow":
            message = f"{told} does not allow {', '.join(alone[:3])}, which comes without {key}"
            view.warning(RULE, where, message, allowed=_others(alone[0]))
            return


def _given_otherwise(action: str, one: Mapping[str, Any], every: Sequence[Mapping[str, Any]]) -> bool:
    """Whether another statement of the document allows an action."""
    return any(
        names_action(text, action)
        for other in every
        if other is not one and other.get("Effect") == "Allow"
        for text in texts_of(other.get("Action"))
    )


@lru_cache(maxsize=1024)
def _meant(key: str) -> str:
    """The key that a misspelt one is near; empty where it exists, or may."""
    service, _, name = key.partition(":")
    head = name.partition("/")[0].lower()
    if service.lower() == "aws":
        known: Sequence[str] = _GLOBAL
    elif head in _TAGS or service.lower() not in _table():
        return ""
    else:
        known = sorted({one for keys in _table()[service.lower()].values() for one in keys if one.startswith(service)})
    names = {one.partition(":")[2].partition("/")[0].partition(":")[0].rstrip("*").lower(): one for one in known}
    head = head.partition(":")[0]
    return "" if head in names else names.get(nearest_word(head, names, NEAR), "").rstrip("*")


@lru_cache(maxsize=4096)
def _comes_with(action: str, key: str) -> bool:
    """Whether a request of an action may have a key; True where nobody knows."""
    low = key.lower()
    service = low.partition(":")[0]
    by_action = low.startswith(_BY_ACTION)
    if low in _OF_SESSIONS or (not by_action and (service not in _table() or not _exists(low))):
        return True
    of, _, name = action.partition(":")
    actions = _table().get(of.lower())
    if actions is None or not name:
        return True
    meant = [one for one in actions if names_action(name, one)]
    return not meant or any(_among(low, actions[one]) for one in meant)


def _exists(key: str) -> bool:
    return any(_among(key, keys) for keys in _table()[key.partition(":")[0]].values())


def _among(key: str, keys: Sequence[str]) -> bool:
    return any(key.startswith(one[:-1].lower()) if one.endswith("*") else key == one.lower() for one in keys)


def _others(action: str) -> str:
    service, _, name = action.partition(":")
    found = {key.rstrip("*") for one, keys in _table().get(service.lower(), {}).items() if names_action(name, one)
             for key in keys if key.startswith(f"{service}:")}  # fmt: skip
    return f"one of {', '.join(sorted(found)[:6])}" if found else "a global key, or no condition"


@cache
def _table() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By service the condition keys of each action."""
    text = files("trainyard.rehearsal.refusals.data").joinpath("iam_conditions.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    sets = [tuple(table["keys"][place] for place in places) for places in table["sets"]]
    return {
        service: {action: sets[place] for action, place in actions.items()}
        for service, actions in table["actions"].items()
    }
