"""The room: sends every node to what it must reach, along what is recorded of the network."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.paths.aws.check import check as check_aws
from trainyard.rehearsal.works.paths.gcp.check import check as check_gcp


def check(stack: Stack) -> None:
    """Notes every way that ends before it arrives.

    Judged is what the stack makes for sure: a network of somebody else's, and what is not known yet, may have any way.
    """
    check_aws(stack)
    check_gcp(stack)
