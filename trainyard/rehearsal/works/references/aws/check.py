"""References from objects of a cluster to what AWS has."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.references.aws import groups, log_groups, volumes


def check_aws(stack: Stack) -> None:
    """Every check; of a cluster that is somewhere else there is nothing to check."""
    volumes.check(stack)
    groups.check(stack)
    log_groups.check(stack)
