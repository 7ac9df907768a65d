"""Whether everybody may do what the environment needs them to do."""

from __future__ import annotations

from trainyard.recorded.read import UnreadableInput
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.aws import check as aws
from trainyard.rehearsal.works.rights.aws.access_entries import access_grants
from trainyard.rehearsal.works.rights.gcp import check as gcp
from trainyard.rehearsal.works.rights.kubernetes import needs
from trainyard.rehearsal.works.rights.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.workloads.read import workloads


def check(stack: Stack) -> None:
    """Notes what would be refused to somebody who needs it."""
    made = workloads(stack.resources)
    aws.check(stack, made)
    gcp.check(stack, made)
    try:
        grants = tuple(access_grants(stack.resources))
    except UnreadableInput:
        needs.check(stack, made, Cluster(stack.resources), people=False)
    else:
        needs.check(stack, made, Cluster(stack.resources, grants), people=True)
