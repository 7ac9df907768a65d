"""What a program looks up of AWS that somebody else made: ids, ARNs and names in the forms of their own types.

Two questions have two answers, and a list of what matches has several, in several zones: nothing is known of what is
there, and a rule that asks for two of a kind has no reason to doubt it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.recorded.model import Secret
from trainyard.rehearsal.engine import synthesised
from trainyard.rehearsal.engine.outputs import plausible
from trainyard.rehearsal.engine.sdk_types import FieldType
from trainyard.rehearsal.engine.wire import LOOKED_UP

_ZONES: Final = "abc"
"""Letters of the zones in which there is one of each that a list has."""

_PREFIXES: Final[Mapping[str, str]] = {
    "aws:ec2/amiIds:AmiIds": "ami",
    "aws:ec2/instance:Instance": "i",
    "aws:ec2/networkInterface:NetworkInterface": "eni",
    "aws:ec2/vpcPeeringConnection:VpcPeeringConnection": "pcx",
    "aws:ebs/ebsVolume:EbsVolume": "vol",
}
"""How ids begin, of types that have no card and whose id is no name."""

_CALLED: Final[Mapping[str, str]] = {"subnet": "subnetId", "securityGroup": "securityGroupId", "zone": "zoneId"}
"""Fields that hold ids and do not say so."""


CONTENTS: Final = frozenset(
    f"{package}:{module}/{name}:{name}"
    for package, module, name in (
        ("aws", "cloudformation", "getExport"), ("aws", "cloudformation", "getStack"),
        ("aws", "dynamodb", "getTableItem"), ("aws", "s3", "getObject"),
        ("aws", "secretsmanager", "getSecretVersion"), ("aws", "ssm", "getParameter"),
        ("aws", "ssm", "getParametersByPath"),
        ("gcp", "parametermanager", "getParameterVersion"), ("gcp", "parametermanager", "getParameterVersionRender"),
        ("gcp", "parametermanager", "getRegionalParameterVersion"),
        ("gcp", "parametermanager", "getRegionalParameterVersionRender"),
        ("gcp", "secretmanager", "getRegionalSecretVersion"),
        ("gcp", "secretmanager", "getRegionalSecretVersionAccess"),
        ("gcp", "secretmanager", "getSecretVersion"), ("gcp", "secretmanager", "getSecretVersionAccess"),
        ("gcp", "storage", "getBucketObjectContent"),
    )
)  # fmt: skip
"""Data sources that are asked for what somebody wrote, which may be JSON: what is made of it then is not known."""

_ARNS: Final[Mapping[str, str]] = {
    "keyarn": "aws:kms/key:Key",
    "kmskeyid": "aws:kms/key:Key",
    "rolearn": "aws:iam/role:Role",
    "certificatearn": "aws:acm/certificate:Certificate",
    "topicarn": "aws:sns/topic:Topic",
}
"""Whose ARN a field holds, by how it ends."""


_USUAL: Final[Mapping[str, str]] = {
    "instanceClass": "db.m6g.large",
    "instanceType": "m6i.large",
    "storageType": "gp3",
}
"""What stands for a field that a program makes a member of an enumeration of, in which there is nothing made up."""


def preferred(key: str, arguments: Mapping[str, Any]) -> str | None:
    """The first of those that a program would rather have: `preferredInstanceClasses` of an `instanceClass`."""
    title = key[:1].upper() + key[1:]
    for wanted in (arguments.get(f"preferred{title}{ending}") for ending in ("s", "es")):
        if isinstance(wanted, list) and wanted and isinstance(wanted[0], str):
            return wanted[0]
    return None


def subject_of(token: str, arguments: Mapping[str, Any], place: synthesised.Place) -> synthesised.Subject:
    """What a data source is asked for: what is asked with other arguments is another."""
    name = LOOKED_UP
    if (token.startswith("aws:") or token in CONTENTS) and arguments:
        asked = json.dumps(
            arguments, sort_keys=True, default=lambda value: "" if isinstance(value, Secret) else str(value)
        )
        name = f"{LOOKED_UP}-{synthesised.digest(asked)[:8]}"
    return synthesised.Subject(token, name, arguments, place)


def of_its_type(subject: synthesised.Subject) -> synthesised.Subject:
    """The same as a resource of its own type: `getVpc` asks for a `Vpc`, `getSubnets` for each `Subnet`."""
    type_ = re.sub(r"(?<=[/:])get([A-Z])", lambda found: found[1].lower(), subject.type, count=1)
    type_ = re.sub(r":get(?=[A-Z])", ":", type_)
    if not synthesised.is_described(type_):
        one = re.sub(r"s(?=:[A-Z]|$)", "", type_)
        type_ = one if synthesised.is_described(one) or one in _PREFIXES else type_
    return replace(subject, type=type_)


def identity(subject: synthesised.Subject) -> str:
    """The id of what is looked up: in the form of its resource's, where that is known."""
    of = of_its_type(subject)
    if of.type in _PREFIXES:
        return f"{_PREFIXES[of.type]}-{subject.hex[:17]}"
    return synthesised.identity(of) if synthesised.is_described(of.type) else f"{LOOKED_UP}-{subject.hex[:8]}"


def described(subject: synthesised.Subject) -> dict[str, Any]:
    """The outputs that its resource's type has by its card, and its ARN."""
    of = of_its_type(subject)
    if not of.type.startswith("aws:") or not synthesised.is_described(of.type):
        return {}
    ident = subject.text("id") or subject.text(f"{of.kind}Id") or synthesised.identity(of)
    return {"arn": synthesised.arn(of, ident), **synthesised.special(of, ident)}


def field(key: str, type_: FieldType, subject: synthesised.Subject) -> Any:
    """A value for one field of the answer; of a list of texts several."""
    if subject.type.startswith("aws:") and type_.kind == "text":
        found = preferred(key, subject.inputs) or _USUAL.get(key) or _of_another(key, subject)
        return found or plausible(key, type_, subject)
    if not subject.type.startswith("aws:") or type_.kind != "list" or type_.item is None or type_.item.kind != "text":
        return plausible(key, type_, subject)
    if key.lower().endswith("availabilityzones"):
        return [f"{subject.place.region}{letter}" for letter in _ZONES]
    one = key.removesuffix("es" if key.endswith("sses") else "s")
    item = type_.item
    return list(dict.fromkeys(_one_of(one, item, each) for each in _each(subject)))


def _of_another(key: str, subject: synthesised.Subject) -> str | None:
    """The ARN of something of another type that the answer names; None for any other text."""
    ending = next((ending for ending in _ARNS if key.lower().endswith(ending)), None)
    if ending is None:
        return None
    type_ = _ARNS[ending]
    another = replace(subject, type=type_, name=f"{subject.name}-{key}", inputs={})
    return synthesised.arn(another, synthesised.identity(another))


def _each(subject: synthesised.Subject) -> Iterator[synthesised.Subject]:
    """Those that match, one a zone."""
    for letter in _ZONES:
        yield replace(subject, name=f"{subject.name}-{letter}", inputs={})


def _one_of(key: str, type_: FieldType, subject: synthesised.Subject) -> Any:
    of = of_its_type(subject)
    if key == "arn" and synthesised.is_described(of.type):
        return synthesised.arn(of, synthesised.identity(of))
    found = identity(subject) if key == "id" else plausible(_CALLED.get(key, key), type_, subject)
    if isinstance(found, str) and found.startswith("subnet-"):
        return found[:-1] + subject.name[-1]  # says its zone, should the program look that up
    return found


def vpc(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """A VPC, whose block is another one than that of a VPC that is asked for in other words."""
    asked = subject_of("aws:ec2/getVpc:getVpc", arguments, place)
    block = arguments.get("cidrBlock") or f"10.{int(asked.hex[:4], 16) % 200}.0.0/16"
    first = {"associationId": f"vpc-cidr-assoc-{asked.hex[:17]}", "cidrBlock": block, "state": "associated"}
    return {"cidrBlock": block, "cidrBlockAssociations": [first]}


def subnet(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """A subnet, in the zone that is asked for, else in that which its place in a list gives it."""
    asked = subject_of("aws:ec2/getSubnet:getSubnet", arguments, place)
    mark = str(arguments.get("id") or asked.hex)
    number = int(synthesised.digest(mark[:-1])[:4], 16)
    letter = mark[-1] if mark[-1] in _ZONES else _ZONES[number % len(_ZONES)]
    zone = arguments.get("availabilityZone") or f"{place.region}{letter}"
    third = number % 80 * len(_ZONES) + _ZONES.index(letter)
    return {"availabilityZone": zone, "cidrBlock": arguments.get("cidrBlock") or f"10.0.{third}.0/24"}


def endpoint_service(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """A service of endpoints: one of AWS's by its short name or its whole one, else somebody's of its own number."""
    name, short = arguments.get("serviceName"), arguments.get("service")
    if not isinstance(name, str) and not isinstance(short, str):
        return {}
    name = name if isinstance(name, str) else f"com.amazonaws.{place.region}.{short}"
    usual = "Gateway" if name.endswith((".s3", ".dynamodb")) else "Interface"
    return {"serviceName": name, "serviceType": arguments.get("serviceType") or usual}


ANSWERS: Final[Mapping[str, Callable[[Mapping[str, Any], synthesised.Place], dict[str, Any]]]] = {
    "aws:ec2/getVpc:getVpc": vpc,
    "aws:ec2/getSubnet:getSubnet": subnet,
    "aws:ec2/getVpcEndpointService:getVpcEndpointService": endpoint_service,
}
"""What the rules of networks read of what is looked up."""
