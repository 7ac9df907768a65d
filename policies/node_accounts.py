"""As whom nodes act: on GKE an account of their own; on AWS a role, which is not that of a machine by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from trainyard.policies.grants import GRANTS, grants
from trainyard.policies.rules import StackViolation
from trainyard.recorded.machines import starts_no_node
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL, LAUNCH_TEMPLATE, NODE_GROUP_TYPES
from trainyard.recorded.read import is_set, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    ACCESS_ENTRY,
    BATCH_ENVIRONMENT,
    EC2_INSTANCE,
    IMAGE_BUILDER,
    INSTANCE_PROFILE,
    SPOT_INSTANCE_REQUEST,
)

NODE_ROLES: Final = (
    "roles/container.defaultNodeServiceAccount",
    "roles/artifactregistry.reader",
    "roles/logging.logWriter",
    "roles/monitoring.metricWriter",
    "roles/monitoring.viewer",
    "roles/stackdriver.resourceMetadata.writer",
    "roles/autoscaling.metricsWriter",
)
"""What a node does: it joins, pulls images, writes logs and metrics (accelerated-platforms, 2026-08-20)."""


def accounts_of_nodes(resources: Resources, allowed: Collection[str]) -> Iterator[StackViolation]:
    """The account that GKE takes where a pool names none is the editor of the whole project in many an old one."""
    pools = resources.of(GKE_NODE_POOL)
    for pool in pools:
        account = value_at(pool.inputs, "nodeConfig", "serviceAccount", default="default", unknown="")
        if account == "default" or str(account).endswith("-compute@developer.gserviceaccount.com"):
            yield pool, "nodes have the project's default account: give them one of their own"
    accounts = {value_at(pool.inputs, "nodeConfig", "serviceAccount", unknown=None) for pool in pools} - {None}
    for holder in resources.of(*GRANTS) if accounts else ():
        for grant in grants(holder):
            of_nodes = {f"serviceAccount:{account}" for account in accounts} & set(grant.members)
            if of_nodes and grant.role not in allowed:
                yield holder, f"gives {grant.role} to the account of the nodes"


def of_a_machine_alone(role: RecordedResource, resources: Resources) -> bool:
    """Whether a role is that of machines that are no nodes: no pod runs there.

    Such are an instance of its own, like a bastion, machines of a group that joins no cluster of Kubernetes, container
    instances of ECS (whose tasks have roles of their own), those of Batch, and those that build images.
    """
    profiles = resources.referring(role, "role", INSTANCE_PROFILE)
    machines = [
        each
        for profile in profiles
        for each in (
            *resources.referring(profile, "iamInstanceProfile", EC2_INSTANCE, SPOT_INSTANCE_REQUEST),
            *resources.referring(profile, "instanceProfileName", IMAGE_BUILDER),
        )
    ]
    for environment in resources.of(BATCH_ENVIRONMENT):  # its containers have the role of their job
        of_pods = is_set(environment.inputs, "eksConfiguration")
        if not of_pods and any(refers(environment, "computeResources", each) for each in (role, *profiles)):
            machines.append(environment)
    templates = [
        each for profile in profiles for each in resources.referring(profile, "iamInstanceProfile", LAUNCH_TEMPLATE)
    ]
    starting_nodes = [template for template in templates if not starts_no_node(template, resources)]
    if len(starting_nodes) < len(templates):
        machines += templates
    of_nodes = [
        *resources.referring(role, "nodeRoleArn", *NODE_GROUP_TYPES),
        *resources.referring(role, "principalArn", ACCESS_ENTRY),
        *starting_nodes,
    ]
    return bool(machines) and not of_nodes
