"""Whether everybody may do what the environment needs them to do."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.aws import check as aws


def check(stack: Stack) -> None:
    """Notes what would be refused to somebody who needs it."""
    aws.check(stack)
