"""Security: what is given to another account of the cloud, or copied there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.access import account_of
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.security_trust import own_accounts
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    AMI_PERMISSION,
    AWS_BUDGET,
    AWS_PROVIDER,
    BUCKET_REPLICATION,
    DATABASE_CLUSTER_SNAPSHOT,
    DATABASE_SNAPSHOT,
    ECR_REPLICATION,
    ENDPOINT_SERVICE,
    ENDPOINT_SERVICE_PRINCIPAL,
    GCP_BUCKET,
    GCP_LOG_BUCKET,
    GCP_LOG_SINK,
    GCP_NETWORK,
    GCP_PEERING,
    GCP_PROJECT_MEMBER,
    GCP_PROVIDER,
    GCP_SERVICE,
    GCP_TOPIC,
    RESOURCE_SHARE_PRINCIPAL,
    SNAPSHOT_PERMISSION,
    VPC_PEERING,
)


def _replicas(inputs: Any) -> Iterator[Any]:
    for rule in list_at(inputs, "rules"):
        yield value_at(rule, "destination", "account")


def _registries(inputs: Any) -> Iterator[Any]:
    for rule in list_at(inputs, "replicationConfiguration", "rules"):
        for destination in list_at(rule, "destinations"):
            yield value_at(destination, "registryId")


def _at(*path: str) -> Callable[[Any], Iterator[Any]]:
    def found(inputs: Any) -> Iterator[Any]:
        yield from list_at(inputs, *path)

    return found


WHOM: Final[Mapping[str, tuple[str, Callable[[Any], Iterator[Any]]]]] = {
    BUCKET_REPLICATION: ("copies objects to", _replicas),
    ECR_REPLICATION: ("copies images to", _registries),
    DATABASE_SNAPSHOT: ("gives a copy of the database to", _at("sharedAccounts")),
    DATABASE_CLUSTER_SNAPSHOT: ("gives a copy of the database to", _at("sharedAccounts")),
    SNAPSHOT_PERMISSION: ("gives a copy of a disk to", _at("accountId")),
    AMI_PERMISSION: ("gives an image of a node to", _at("accountId")),
    RESOURCE_SHARE_PRINCIPAL: ("shares resources with", _at("principal")),
    VPC_PEERING: ("joins the network to that of", _at("peerOwnerId")),
    ENDPOINT_SERVICE_PRINCIPAL: ("lets into a service of the network", _at("principalArn")),
    ENDPOINT_SERVICE: ("lets into a service of the network", _at("allowedPrincipals")),
}
"""What a resource does for an account, by type, and where it says which."""

DESTINATIONS: Final = (GCP_NETWORK, GCP_TOPIC, GCP_LOG_BUCKET)
"""What networks are joined to and logs go to on Google Cloud, where the stack makes it; buckets have their own way."""


OF_A_PROJECT: Final = (GCP_PROJECT_MEMBER, GCP_SERVICE)
"""What says by itself which project it is of, and so which the stack works on."""


@stack_rule(
    "shared-with-another-account",
    "Nothing of the environment's is copied to another account, shared with one, or joined to its network.",
    types=(
        *WHOM,
        *DESTINATIONS,
        *OF_A_PROJECT,
        AWS_BUDGET,
        AWS_PROVIDER,
        GCP_PEERING,
        GCP_LOG_SINK,
        GCP_BUCKET,
        GCP_PROVIDER,
    ),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 AC-4", "NIST 800-53r5 AC-21", "ISO 27001:2022 A.5.14"),
    fix="Take it away, or name the account in accountIds where it is yours too.",
    config={
        "accountIds": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[0-9]{12}$"},
            "default": [],
            "description": "Accounts of yours besides the stack's own.",
        },
        "projects": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Projects and buckets of Google Cloud of yours besides the stack's own.",
        },
    },
)
def shared_with_another_account(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """All of it goes past the policies of buckets, keys and endpoints: who owns the copy says who reads it."""
    yield from _with_another_project(resources, config)
    own = set(own_accounts(resources))
    for resource in resources.of(*WHOM):
        what, whom = WHOM[resource.type]
        for given in map(str, filter(None, whom(resource.inputs))):
            if given in ("*", "all"):
                yield resource, f"{what} everybody"
            account = account_of(given)
            if account and not own:
                raise NotApplicable("nothing says which account is the stack's own")
            if account and account not in own and account not in config["accountIds"]:
                yield resource, f"{what} account {account}"
        if resource.type == AMI_PERMISSION and value_at(resource.inputs, "group") == "all":
            yield resource, f"{what} everybody"


_PROJECT: Final = re.compile(r"projects/(?P<project>[^/]+)/")
_BUCKET: Final = re.compile(r"storage\.googleapis\.com/(?P<bucket>[^/]+)")


def _with_another_project(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Networks that are joined to another project's, and logs that go to one."""
    known = {
        *config["projects"],
        *(str(value_at(found.inputs, "project")) for found in resources.of(GCP_PROVIDER)),
        *_projects_of_the_stack(resources),
    }
    for peering in resources.of(GCP_PEERING):
        here, there = (_PROJECT.search(str(value_at(peering.inputs, key))) for key in ("network", "peerNetwork"))
        own = known | ({here["project"]} if here else set())
        if there and there["project"] not in own and not _of_the_stack(peering, "peerNetwork", resources):
            yield peering, f"joins the network to that of project {there['project']}"
    for sink in resources.of(GCP_LOG_SINK):
        destination = str(value_at(sink.inputs, "destination", unknown=""))
        project, bucket = _PROJECT.search(destination), _BUCKET.fullmatch(destination)
        if project and project["project"] not in known and not _of_the_stack(sink, "destination", resources):
            yield sink, f"copies logs to project {project['project']}"
        if bucket and bucket["bucket"] not in config["projects"] and not _made_here(sink, bucket["bucket"], resources):
            yield sink, f"copies logs to bucket {bucket['bucket']}, which is not of the stack"


def _projects_of_the_stack(resources: Resources) -> Iterator[str]:
    """Where the stack makes something by its own word: the provider's project may be in the configuration alone."""
    for one in resources.of(GCP_LOG_SINK, *OF_A_PROJECT):
        if is_set(one.inputs, "project"):
            yield str(value_at(one.inputs, "project", unknown="")).removeprefix("projects/")


def _of_the_stack(resource: RecordedResource, key: str, resources: Resources) -> bool:
    """Whether an input is made of something that the stack makes, whatever project its provider puts that in."""
    made_of = resource.property_dependencies.get(key, ())
    return any(one.urn in made_of and one.is_made and not one.read for one in resources.of(*DESTINATIONS))


def _made_here(sink: RecordedResource, name: str, resources: Resources) -> bool:
    made = resources.referred(sink, "destination", GCP_BUCKET)
    return bool(made) or any(value_at(one.inputs, "name", unknown=None) == name for one in resources.of(GCP_BUCKET))
