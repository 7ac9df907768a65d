"""What forces a replacement on Google Cloud by its value, and what goes with its provider.

Read in the source of Terraform's Google provider (2026-08-21): the functions that customise a resource's differences.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number
from trainyard.recorded.types import CLOUD_SQL, GCP_PROVIDER, GCP_SUBNETWORK
from trainyard.rehearsal.change.model import Difference

PROVIDER: Final = GCP_PROVIDER


def forcing(was: RecordedResource, now: RecordedResource, differences: Sequence[Difference]) -> Iterator[str]:
    """The inputs that force a replacement by what they change from and to: a subnetwork's addresses and a
    database's disk grow in place."""
    for found in differences:
        moves = now.type == GCP_SUBNETWORK and found.path == "ipCidrRange" and not _grows(found.before, found.after)
        shrinks = now.type == CLOUD_SQL and found.path == "settings.diskSize" and _smaller(found.before, found.after)
        if moves or shrinks:
            yield found.path
    if was.type != now.type:
        yield "type"


def moving(differences: Sequence[Difference]) -> Callable[[str], bool]:
    """Whether resources are made anew with the provider: each belongs to the project that it was made in."""
    project = any(found.path == "project" for found in differences)
    return lambda _: project


def _grows(before: Any, after: Any) -> bool:
    try:
        return ipaddress.ip_network(before).subnet_of(ipaddress.ip_network(after))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def _smaller(before: Any, after: Any) -> bool:
    sizes = as_number(before), as_number(after)
    return sizes[0] is not None and sizes[1] is not None and sizes[1] < sizes[0]
