"""One thing made by two resources: the second is refused, or overwrites the first, and each update the other's again.

What makes a thing the same is what its id is made of, which the card of its type says; of types whose ids the service
draws, and of objects of a cluster, it is told here. A name that Pulumi makes has a part that is drawn, and is never the
same.

Sources: errors of the services' operations that make a resource (botocore's models: `EntityAlreadyExists`,
`ResourceInUseException`, `InvalidPermission.Duplicate`, `Resource.AlreadyAssociated`, `MountTargetConflict`), Google's
`ALREADY_EXISTS`, Kubernetes' `AlreadyExists`; two with server-side apply have a conflict of field managers (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from trainyard import cards
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.types import (
    EFS_MOUNT_TARGET,
    HELM_RELEASE,
    POD_IDENTITY_ASSOCIATION,
    ROUTE_TABLE_ASSOCIATION,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_SAME_RULE: Final = (
    "securityGroupId", "ipProtocol", "fromPort", "toPort", "cidrIpv4", "cidrIpv6", "prefixListId",
    "referencedSecurityGroupId",
)  # fmt: skip
_ONE_BY: Final = {
    POD_IDENTITY_ASSOCIATION: ("clusterName", "namespace", "serviceAccount"),
    ROUTE_TABLE_ASSOCIATION: ("subnetId", "gatewayId"),
    EFS_MOUNT_TARGET: ("fileSystemId", "subnetId"),
    SECURITY_GROUP_INGRESS_RULE: _SAME_RULE,
    SECURITY_GROUP_EGRESS_RULE: _SAME_RULE,
    "aws:ec2/securityGroup:SecurityGroup": ("vpcId", "name"),
    "aws:ec2/launchTemplate:LaunchTemplate": ("name",),
    "aws:ec2/placementGroup:PlacementGroup": ("name",),
    "aws:ec2/internetGateway:InternetGateway": ("vpcId",),
    "aws:guardduty/detector:Detector": (),
    "aws:iam/rolePolicy:RolePolicy": ("role", "name"),
    "aws:ec2/natGateway:NatGateway": ("allocationId",),
    "aws:ec2/flowLog:FlowLog": ("vpcId", "subnetId", "eniId", "logDestination"),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": ("vpcId",),
    "aws:route53/resolverFirewallConfig:ResolverFirewallConfig": ("resourceId",),
    "gcp:sql/database:Database": ("instance", "name"),
    "gcp:sql/user:User": ("instance", "name", "host"),
    "gcp:storage/managedFolder:ManagedFolder": ("bucket", "name"),
    HELM_RELEASE: ("namespace", "name"),
}  # fmt: skip
"""What there is one of, with ids that say nothing of it: by the inputs that make two of them the same."""
_HARMLESS: Final = re.compile(
    r".*(IAMMember|IamMember|Attachment|TopicSubscription|AccessPolicyAssociation|ServiceIdentity)"
    r"|gcp:projects/service:Service"
)
"""What may be said twice: the second call finds all as it should be."""
_FIELD: Final = re.compile(r"\{(\w+)(?::(\w+))?[^}]*\}")
_GIVEN: Final = frozenset({"account", "region", "partition", "dns_suffix", "path", "cloud_name", "arn", "input", "tail",
                           "end"})  # fmt: skip
"""Fields of an id that say what a thing is, and draw nothing."""


def check(stack: Stack, cluster: Cluster) -> None:
    """Every resource against those of its type that came before it."""
    by_type: dict[str, list[View]] = {}
    for view in stack.views:
        if view.resource.custom and not view.resource.read:
            by_type.setdefault(view.type, []).append(view)
    for type_, views in by_type.items():
        if len(views) < 2 or _HARMLESS.fullmatch(type_) or type_.startswith(("pulumi:", "command:", "random:", "tls:")):
            continue
        if type_ in _ONE_BY:
            _tell((view, *_said(view, _ONE_BY[type_])) for view in views)
        elif not type_.startswith("kubernetes:"):
            inputs = _inputs_of_id(type_)
            if inputs is not None:
                _tell((view, *_by_id(view, inputs)) for view in views)
    _tell((view, *_object(view)) for view in cluster.objects)
    _endpoints(by_type.get(VPC_ENDPOINT, []))


def _endpoints(views: list[View]) -> None:
    """One endpoint of a network has a service's own names, and one alone is in each route table."""
    _tell(
        (view, *_said(view, ("vpcId", "serviceName")))
        for view in views
        if view.text("vpcEndpointType") == "Interface" and view.flag("privateDnsEnabled")
    )
    tables: dict[tuple[object, ...], View] = {}
    for view in views:
        for index, table in enumerate(view.entries("routeTableIds")):
            key = view.resource.provider, view.text("serviceName"), table
            other = tables.setdefault(key, view) if isinstance(table, str) and key[1] else view
            if other is not view:
                view.error(
                    "reference-twice", f"routeTableIds[{index}]",
                    f"{other.name} leads from this table to {key[1]} already: the second is refused",
                    allowed="one endpoint for a route table",
                )  # fmt: skip
                break


def _tell(found: Iterable[tuple[View, tuple[object, ...] | None, str]]) -> None:
    first: dict[tuple[object, ...], View] = {}
    for view, key, path in found:
        if key is None:
            continue
        other = first.setdefault((view.resource.provider, *key), view)
        if other is not view:
            view.error(
                "reference-twice", path,
                f"{other.name} makes the same: the second is refused or overwrites the first, and with one of them "
                "the other is gone", allowed="one of them",
            )  # fmt: skip


def _said(view: View, paths: tuple[str, ...]) -> tuple[tuple[object, ...] | None, str]:
    """The values of some inputs; None where one is not known, or is made by Pulumi."""
    values = tuple(view.value(path) for path in paths)
    if UNKNOWN in values or any(path in view.resource.from_check for path in paths):
        return None, ""
    if paths and all(value is None for value in values):
        return None, ""
    if view.type == HELM_RELEASE and values[1] is None:
        return None, ""
    return (view.value("region"), *map(str, values)), paths[-1] if paths else ""


def _by_id(view: View, inputs: tuple[str, ...]) -> tuple[tuple[object, ...] | None, str]:
    """The id of a resource, where all that it is made of is given by the program."""
    resource = view.resource
    paths = [_name(resource) if key == "cloud_name" else key for key in inputs]
    if not resource.id or any(not path or path in resource.from_check or view.text(path) is None for path in paths):
        return None, ""
    return (view.value("region"), view.value("project"), resource.id), paths[-1] if paths else ""


def _name(resource: RecordedResource) -> str:
    """The input with the name in the cloud, as `rehearsal.engine.synthesised` reads it."""
    kind = resource.type.split(":")[1].rpartition("/")[2]
    for key in ("name", f"{kind}Name", "bucket", "identifier", "clusterName", "replicationGroupId"):
        if isinstance(resource.inputs.get(key), str) and resource.inputs[key]:
            return key
    return ""


@cache
def _inputs_of_id(type_: str) -> tuple[str, ...] | None:
    """The inputs that an id of a type is made of; None where the service draws it, or nothing is said of it."""
    card = cards.BY_TYPE.get(type_)
    if card is None:
        return None
    text = card.id.replace("{arn}", card.arn or "{hex}")
    fields = _FIELD.findall(text)
    if not fields or any(name not in _GIVEN for name, _ in fields):
        return None
    return tuple(dict.fromkeys("cloud_name" if name in ("cloud_name", "path") else key for name, key in fields
                               if name in ("cloud_name", "path", "input", "tail", "end"))) or None  # fmt: skip


def _object(view: View) -> tuple[tuple[object, ...] | None, str]:
    """Group, kind, namespace and name of an object of a cluster."""
    resource = view.resource
    metadata = resource.inputs.get("metadata")
    if not isinstance(metadata, Mapping) or resource.read or "metadata.name" in resource.from_check:
        return None, ""
    name, where = metadata.get("name"), metadata.get("namespace", "")
    if not isinstance(name, str) or not isinstance(where, str):
        return None, ""
    _, api, kind = view.type.split(":")
    return (api.rpartition("/")[0], kind, where, name), "metadata.name"
