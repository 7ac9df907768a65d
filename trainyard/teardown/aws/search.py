"""Whose something is: an environment's tags, else the traces that clusters, controllers and services leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.account.aws import Account, tags_in
from trainyard.teardown.aws.sweep import CNI_KEY
from trainyard.teardown.model import FoundBy, Left

CLUSTER_KEYS: Final = (
    "ebs.csi.aws.com/cluster-name",
    CNI_KEY,
    "elbv2.k8s.aws/cluster",
    "eks:cluster-name",
    "aws:eks:cluster-name",
    "alpha.eksctl.io/cluster-name",
)
"""Tags whose value is a cluster's name: of EBS's driver, the VPC CNI, the load balancer controller, EKS itself (their
sources and the EKS User Guide, 2026-11)."""

CLUSTER_PREFIX: Final = "kubernetes.io/cluster/"
"""Begins a tag's key that ends with a cluster's name."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: in which account and region, and by what it is known."""

    account: Account
    marks: Mapping[str, str]  # tags that all of the program's own have
    name: str  # of the environment, which begins what it names: acme-demo
    clusters: tuple[str, ...]
    tagged: Mapping[str, str]  # ARN -> kind as the tagging service tells it: "ec2:volume"

    @property
    def region(self) -> str:
        """The region that is looked in."""
        return self.account.region

    def whose(self, tags: Mapping[str, str]) -> FoundBy | None:
        """By what something with these tags is the environment's; None where it is not."""
        if self.marks.items() <= tags.items():
            return "tag"
        if any(f"{CLUSTER_PREFIX}{cluster}" in tags for cluster in self.clusters):
            return "name"
        return "name" if any(tags.get(key) in self.clusters for key in CLUSTER_KEYS) else None

    def names(self, name: str) -> bool:
        """Whether a name is the environment's, or begins with it."""
        return any(name == own or name.startswith((f"{own}-", f"{own}/")) for own in (self.name, *self.clusters))

    def arns(self, kind: str) -> list[str]:
        """The ARNs of a kind that have the environment's tags."""
        return [arn for arn, found in self.tagged.items() if found == kind]

    def own(self, service: str, operation: str, key: str, **arguments: Any) -> Iterator[tuple[dict[str, Any], FoundBy]]:
        """What an operation lists of the environment's, told by its tags."""
        for entry in self.account.each(service, operation, key, **arguments):
            found = self.whose(tags_in(entry))
            if found is not None:
                yield entry, found


Finder = Callable[[Search], Iterator[Left]]
"""Lists what is left of one kind."""


def kind_of(arn: str) -> str:
    """Service and kind of an ARN: `ec2:volume`; `s3` and `sns` where the resource is named alone."""
    parts = arn.split(":", 5)
    resource = parts[5].replace(":", "/")
    return f"{parts[2]}:{resource.split('/')[0]}" if "/" in resource and parts[2] not in ("s3", "sns") else parts[2]
