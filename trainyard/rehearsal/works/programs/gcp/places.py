"""Where things of Google Cloud are put: logs to a bucket that is made, a database in the network that asks it.

Source: Cloud Logging documentation, "Route logs to supported destinations"; Cloud SQL, "Private IP": a private address
is reached from its own network alone, as peering hands nothing on (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import CLOUD_SQL, GCP_LOG_BUCKET, GCP_LOG_SINK, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, show

_DESTINATION: Final = re.compile(r"logging\.googleapis\.com/projects/([^/]+)/locations/([^/]+)/buckets/([^/]+)")
_ALWAYS: Final = ("_Default", "_Required")


def check(stack: Stack) -> None:
    """Every sink, and every database with a private address."""
    made = {
        (view.text("project"), view.text("location"), view.text("bucketId")) for view in stack.of_type(GCP_LOG_BUCKET)
    }
    for sink in stack.of_type(GCP_LOG_SINK):
        found = _DESTINATION.fullmatch(sink.text("destination") or "")
        if found is None or found[3] in _ALWAYS:
            continue
        names = [name for project, place, name in made if (project, place) == found.groups()[:2] and name is not None]
        if names and found[3] not in names:
            sink.error(
                "programs-sink", "destination", f"the stack makes no log bucket {show(found[3])} there",
                allowed=f"one of {', '.join(names)}", hint=nearest(found[3], names),
            )  # fmt: skip
        there = [place for project, place, name in made if (project, name) == (found[1], found[3])]
        if there and not names and None not in there:
            sink.error(
                "programs-sink", "destination", f"log bucket {show(found[3])} is made in {there[0]}, not in {found[2]}",
                allowed=str(there[0]),
            )  # fmt: skip
    networks = {_last(cluster.text("network")) for cluster in stack.of_type(GKE_CLUSTER)}
    for database in stack.of_type(CLOUD_SQL):
        own = _last(database.text("settings.ipConfiguration.privateNetwork"))
        public = database.value("settings.ipConfiguration.ipv4Enabled") is True
        psc = database.has("settings.ipConfiguration.pscConfigs")
        if (
            own is not None
            and None not in networks
            and len(networks) == 1
            and own not in networks
            and not (public or psc)
        ):
            (only,) = networks
            database.error(
                "programs-database-network",
                "settings.ipConfiguration.privateNetwork",
                f"the database's address is in {own}, and the cluster's pods are in {only}: they do not reach it",
                allowed=str(only),
            )


def _last(name: str | None) -> str | None:
    return name.rpartition("/")[2] if name else None
