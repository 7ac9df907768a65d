"""Pods that read the logs of a node: of a node that they do not run on, nobody reads any.

Source: Kubernetes documentation, "Logging Architecture" (a node's logs lie below /var/log on it), 2026-11. A daemon
that is kept to some nodes by its own selector is meant so; one that a taint keeps away is mostly not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.placement.world import Verdict, World

_LOGS: Final = ("/var/log", "/var/log/containers", "/var/log/pods")


def check_logs(world: World, views: Mapping[str, View]) -> None:
    """Every daemon that mounts its node's logs, against the nodes on which jobs run."""
    for verdict in world.verdicts:
        workload = verdict.workload
        if not workload.every_node or not verdict.fits or not _reads_logs(verdict):
            continue
        apart = {
            refusal.nodes.name: refusal.misses[0]
            for refusal in verdict.refusals
            if refusal.misses and all(miss.key == "tolerations" for miss in refusal.misses)
        }
        working = {nodes.name for other in world.verdicts if not other.workload.every_node for nodes in other.groups}
        lacking = sorted(set(apart) & working)
        if lacking:
            views[workload.resource.urn].warning(
                "placement-logs", workload.at("tolerations"),
                f"{workload.told()} reads the logs of nodes, and of {', '.join(lacking)} it reads none: "
                f"{apart[lacking[0]].words}", allowed=apart[lacking[0]].cure,
            )  # fmt: skip


def _reads_logs(verdict: Verdict) -> bool:
    volumes = listed(verdict.workload.spec.get("volumes"))
    paths = (follow(one, "hostPath", "path") for one in volumes if isinstance(one, Mapping))
    return any(isinstance(path, str) and path.rstrip("/") in _LOGS for path in paths)
