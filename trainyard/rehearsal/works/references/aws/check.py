"""References from objects of a cluster to what AWS has."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.references.aws import (
    chosen,
    endpoints,
    groups,
    log_groups,
    log_senders,
    named,
    pod_subnets,
    unused,
    volumes,
)
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster


def check_aws(stack: Stack, cluster: Cluster) -> None:
    """Every check; of a cluster that is somewhere else there is nothing to check."""
    volumes.check(stack)
    chosen.check(stack)
    endpoints.check(stack)
    groups.check(stack)
    log_groups.check(stack)
    log_senders.check(stack)
    named.check(stack)
    pod_subnets.check(stack, cluster)
    unused.check(stack)
