"""Conditions that contradict what their own statement, or its neighbours, are about: no request meets them.

Sources: AWS KMS, "kms:ViaService" (a service uses keys of its own Region); SageMaker AI, "Control access with tags":
what is made with one tag is found by that one (Service Authorization Reference, 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.policy_documents import statements, texts_of, title_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import IAM_POLICY, ROLE, ROLE_POLICY, VPC_ENDPOINT
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.rights.aws.condition_keys import keys_of
from trainyard.rehearsal.works.rights.aws.patterns import names_action
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_VIA: Final = re.compile(r"^[a-z0-9-]+\.([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?$")
_KEY: Final = re.compile(r"^arn:aws[a-z-]*:kms:([a-z0-9-]+):\d*:key/(?!mrk-)")
_LAYERS: Final = re.compile(r"prod-([a-z]{2}(?:-[a-z]+)+-\d)-starport-layer-bucket")
_ASKED, _HELD = "aws:RequestTag/", "aws:ResourceTag/"
_EQUAL: Final = ("StringEquals", "StringEqualsIgnoreCase")


def check(stack: Stack) -> None:
    """Every policy of identities, and those of S3's endpoints."""
    trusts = {arn_of(role.resource): role for role in stack.of_type(ROLE) if not role.resource.read}
    for endpoint in stack.of_type(VPC_ENDPOINT):
        _layers(endpoint, stack.context.region)
    for view in (*stack.of_type(ROLE_POLICY), *stack.of_type(IAM_POLICY)):
        try:
            allowed = [
                (index, one)
                for index, one in enumerate(statements(view.resource.inputs, "policy"))
                if one.get("Effect") == "Allow"
            ]
        except UnreadableInput:
            continue
        for index, statement in allowed:
            _regions(view, index, statement)
            _passed(view, index, statement, trusts)
        _tags(view, allowed)


def _passed(view: View, index: int, statement: Mapping[str, Any], trusts: Mapping[str, View]) -> None:
    """A role is passed to a service that its trust policy lets take it."""
    services = [
        value for how, name, value in _conditions(statement) if name == "iam:PassedToService" and "Not" not in how
    ]
    if not services or not any(names_action(word, "iam:PassRole") for word in texts_of(statement.get("Action"))):
        return
    for arn in texts_of(statement.get("Resource")):
        trust = trusts[arn].text("assumeRolePolicy") if arn in trusts else None
        if trust is None or any("*" in one or f'"{one}"' in trust for one in services):
            continue
        message = (
            f"role {trusts[arn].name} is passed to {', '.join(services)}, which it does not trust: nobody passes it"
        )
        view.error(
            "rights-condition-never", f"policy.Statement[{index}]", message, allowed="a service of its trust policy"
        )


def _layers(endpoint: View, region: str) -> None:
    """Layers of images lie in a bucket of the region that they are pulled in."""
    if not (endpoint.text("serviceName") or "").endswith(f"{region}.s3"):
        return
    named = set(_LAYERS.findall(endpoint.text("policy") or ""))
    if named and region not in named:
        message = f"lets by layers of images in {', '.join(sorted(named))}, and the stack pulls them in {region}"
        endpoint.error("rights-condition-never", "policy", message, allowed=f"prod-{region}-starport-layer-bucket")


def _regions(view: View, index: int, statement: Mapping[str, Any]) -> None:
    keys = [found[1] for text in texts_of(statement.get("Resource")) if (found := _KEY.match(text))]
    ways = [found[1] for how, name, value in _conditions(statement) if name == "kms:ViaService"
            and "Not" not in how and (found := _VIA.match(value))]  # fmt: skip
    if keys and ways and len(keys) == len(texts_of(statement.get("Resource"))) and set(keys).isdisjoint(ways):
        view.error(
            "rights-condition-never", f"policy.Statement[{index}]",
            f"{title_of(statement, index)} is on keys of {keys[0]}, by way of a service in {ways[0]}, "
            "which uses none of them", allowed=keys[0],
        )  # fmt: skip


def _tags(view: View, allowed: list[tuple[int, Mapping[str, Any]]]) -> None:
    """On one kind of things, what is made has the tag by which it is followed and stopped."""
    for index, made in allowed:
        for how, name, value in _conditions(made):
            if not name.startswith(_ASKED) or how not in _EQUAL or "$" in value:
                continue
            key = name.removeprefix(_ASKED)
            follow = {
                other
                for _, one in allowed
                if set(texts_of(one.get("Resource"))) & set(texts_of(made.get("Resource")))
                for kind, asked, other in _conditions(one)
                if asked == f"{_HELD}{key}" and kind in _EQUAL
            }
            own = {one for kind, asked, one in _conditions(made) if asked == name and kind in _EQUAL}
            if follow and own.isdisjoint(follow):
                view.error(
                    "rights-condition-never", f"policy.Statement[{index}]",
                    f"{title_of(made, index)} makes things with {key} = {value}, and others of the "
                    f"policy are on those with {', '.join(sorted(follow))}: nobody follows what he made",
                    allowed=", ".join(sorted(follow)),
                )  # fmt: skip
                return


def _conditions(statement: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Operator, key and value of every condition."""
    return ((how, name, value) for how, name, values in keys_of(statement) for value in texts_of(values))
