"""Conditions that no request meets, as no key ever has such a value.

Sources: IAM User Guide, "IAM JSON policy elements: Condition operators" (`*` and `?` are wildcards of `…Like` and of
ARNs alone) and "AWS global condition context keys"; the Service Authorization Reference of each service (read 2026-11).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from trainyard.recorded.policy_documents import title_of
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.engine.wire import LOOKED_UP
from trainyard.rehearsal.works.rights.aws.all_documents import documents
from trainyard.rehearsal.works.rights.aws.condition_keys import keys_of
from trainyard.rehearsal.works.rights.aws.conditions import OPERATOR

RULE: Final = "rights-condition-value"

_ACCOUNT: Final = (r"\d{12}", "an account: twelve digits")
_REGION: Final = r"[a-z]{2,4}(-[a-z]+)+-\d"
_ARN: Final = (r"arn:[^:]*:[^:]*:[^:]*:[^:]*:.+", "an ARN")
_INSTANCES: Final = (r"ml\.[a-z0-9-]+\.[a-z0-9-]+|system", "types of SageMaker, such as ml.g5.xlarge")
_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "aws:principalaccount": _ACCOUNT,
    "aws:principalarn": (r"arn:[^:]*:(iam|sts::\d{12}:federated-user).*", "the ARN of a role or a user"),
    "aws:principalorgid": (r"o-[a-z0-9]{10,32}", "an organization such as o-a1b2c3d4e5"),
    "aws:requestedregion": (rf"{_REGION}|aws(-[a-z]+)*-global", "a Region such as us-east-1"),
    "aws:resourceaccount": _ACCOUNT,
    "aws:resourceorgid": (r"o-[a-z0-9]{10,32}", "an organization such as o-a1b2c3d4e5"),
    "aws:sourceaccount": _ACCOUNT,
    "aws:sourcearn": _ARN,
    "aws:sourcevpc": (r"vpc-[0-9a-f]+", "a VPC such as vpc-0a1b2c3d"),
    "aws:sourcevpce": (r"vpce-[0-9a-f]+", "an endpoint such as vpce-0a1b2c3d"),
    "ec2:instancetype": (r"(?!ml\.|db\.|cache\.)[a-z0-9-]+\.[a-z0-9-]+", "types of EC2, such as g5.xlarge"),
    "elasticfilesystem:accesspointarn": (r"arn:[^:]*:elasticfilesystem:.*:access-point/.+", "an access point's ARN"),
    "iam:passedtoservice": (r"[a-z0-9.-]+\.(amazonaws\.(com(\.cn)?|eu)|amazon\.com|aws\.internal)", "a service such as "
                            "eks.amazonaws.com"),
    "kms:calleraccount": _ACCOUNT,
    "kms:viaservice": (rf"[a-z0-9-]+\.{_REGION}\.[a-z0-9.-]+", "a service and its Region, such "
                       "as s3.us-east-1.amazonaws.com"),
    "s3:resourceaccount": _ACCOUNT,
    "s3:x-amz-acl": (
        r"private|public-read|public-read-write|authenticated-read|aws-exec-read|bucket-owner-read"
        r"|bucket-owner-full-control|log-delivery-write",
        "a canned ACL such as bucket-owner-full-control",
    ),
    "s3:x-amz-server-side-encryption": (r"AES256|aws:kms|aws:kms:dsse|aws:fsx", "one of AES256, aws:kms, aws:kms:dsse"),
    "sagemaker:instancetypes": _INSTANCES,
    "sagemaker:vpcsecuritygroupids": (r"sg-[0-9a-f]+", "security groups such as sg-0a1b2c3d"),
    "sagemaker:vpcsubnets": (r"subnet-[0-9a-f]+", "subnets such as subnet-0a1b2c3d"),
}  # fmt: skip
"""By key, in lower case: what each of its values looks like, as a pattern and in words."""

_PRIVATE: Final = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_ELSEWHERE: Final = "aws:VpcSourceIp, by way of an endpoint"
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?")
_WILD: Final = ("*", "?")


def check(stack: Stack) -> None:
    """Notes them."""
    for view, path, found in documents(stack):
        for index, statement in enumerate(found):
            if statement.get("Condition"):
                _check(view, f"{path}.Statement[{index}]", index, statement)


def _check(view: View, where: str, index: int, statement: Mapping[str, Any]) -> None:
    told = title_of(statement, index)
    for operator, key, values in keys_of(statement):
        plain = [one for one in values if isinstance(one, str | bool | int | float)]
        texts = [str(one).lower() if isinstance(one, bool) else str(one) for one in plain]
        wrong = [(text, said) for text in texts if (said := _never(operator, key, text))]
        wrong = [(text, said) for text, said in wrong if said == _ELSEWHERE or not _stands_in(view.stack, text)]
        if not wrong:
            continue
        if len(wrong) < len(texts) and all(said == _ELSEWHERE for _, said in wrong):
            continue  # beside public addresses they do no harm
        text, said = wrong[0]
        message = f"{told} asks whether {key} is {show(text)}, which it never is"
        note = view.error if len(wrong) == len(texts) else view.warning
        note(RULE, where, message, allowed=said)
        return


@lru_cache(maxsize=4096)
def _never(operator: str, key: str, text: str) -> str:
    """What a value would have to be, in words, where a request never has this one; empty where it may."""
    parts = OPERATOR.fullmatch(operator)
    base = parts["base"].lower() if parts else ""
    if "${" in text:
        return ""
    if base in ("bool", "null") and text.lower() not in ("true", "false"):
        return "true or false"
    if base.startswith("numeric") and not _NUMBER.fullmatch(text):
        return "a number"
    if base in ("ipaddress", "notipaddress"):
        return _no_network(key, text)
    if base.startswith("string") and not base.endswith("like") and "*" in text:
        return "StringLike, where * is a wildcard"
    form = _FORMS.get(key.lower())
    if key.lower() == "aws:principalarn" and ":assumed-role/" in text:
        return "the ARN of the role, which its sessions have too"
    if form is None or not base.startswith(("string", "arn")) or any(sign in text for sign in _WILD):
        return ""
    return "" if re.fullmatch(form[0], text, re.IGNORECASE if "ignorecase" in base else 0) else form[1]


_ANSWERED: Final = re.compile(rf"{LOOKED_UP}-|:assumed-role/rehearsal/")
"""In what a rehearsal answers for the cloud who or what is looked up."""


def _stands_in(stack: Stack, text: str) -> bool:
    """Whether a text is no word of the program's, but what stands for an id that the cloud gives."""
    return text in stack.once(_given) or _ANSWERED.search(text) is not None


def _given(stack: Stack) -> frozenset[str]:
    """Ids of all resources, and outputs but those that say what the program gave."""
    found: set[object] = {resource.id for resource in stack.resources.all}
    for resource in stack.resources.all:
        found.update(
            value for key, value in resource.outputs.items() if key not in resource.inputs and isinstance(value, str)
        )
    return frozenset(text for text in found if isinstance(text, str))


def _no_network(key: str, text: str) -> str:
    try:
        block = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return "an address or a block of addresses"
    # Requests of a network without public addresses come by an endpoint, and are told of their VPC instead.
    private = isinstance(block, ipaddress.IPv4Network) and any(map(block.subnet_of, _PRIVATE))
    return _ELSEWHERE if private and key.lower() == "aws:sourceip" else ""
