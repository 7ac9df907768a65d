"""Whether EKS sells what an upgrade would install: builds of add-ons come and go, and pins are of one day."""

from __future__ import annotations

from trainyard.account.aws import Account
from trainyard.plan.parts import Plan
from trainyard.preflight.aws.versions import of_cluster
from trainyard.preflight.model import Answer


def not_offered(plan: Plan, account: Account) -> list[str]:
    """What the region does not offer of a plan's cluster, a line each. Raises `CannotAskError`."""
    if plan.ground.kind != "aws":
        return []
    return [
        f"{line.what}: {line.told}; {line.remedy}"
        for cluster in plan.clusters
        for line in of_cluster(cluster, plan.ground.control_plane(cluster.name), account)
        if line.answer is Answer.FAILS
    ]
