"""Groups of nodes that controllers know by the beginning of their names, or by a pattern.

Source: EKS user guide, "Managed node groups": the Auto Scaling group of a node group is called `eks-NAME-` and an id;
kubernetes/autoscaler, `expander/priority/readme.md` (2026-11). A name that no group begins with is met by none.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_NAME: Final = re.compile(r"\"(eks-[\w-]+-)\"")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every name of a group in controllers' arguments and in the autoscaler's priorities."""
    names = [view.text("nodeGroupName") for view in stack.of_type(EKS_NODE_GROUP)]
    groups = [f"eks-{name}-" for name in names]
    if not names or None in names:
        return
    for pod in cluster.pods:
        for container in pod.containers:
            for below, text in known_texts(container.body.get("args")):
                for name in dict.fromkeys(_NAME.findall(text)):
                    if not any(group.startswith(name) or name.startswith(group) for group in groups):
                        pod.view.error(
                            "programs-group",
                            f"{container.path}.args{below}",
                            f"means the groups that are called {show(name)} to begin with, and there are none",
                            hint=nearest(name, groups),
                        )
    for release in cluster.releases:
        ranked = "priority" in (release.text("values.extraArgs.expander") or "").split(",")
        made = cluster.find("ConfigMap", release.text("namespace") or "", "cluster-autoscaler-priority-expander")
        if ranked and release.lacks("values.expanderPriorities") and made is None and not release.is_unknown("values"):
            release.warning(
                "programs-group", "values.expanderPriorities",
                "is missing beside the expander priority: groups are drawn by lot", allowed="names by priority",
            )  # fmt: skip
        for rank, patterns in release.mapping("values.expanderPriorities").items():
            for index, pattern in enumerate(patterns if isinstance(patterns, list) else ()):
                _matched(release, f"values.expanderPriorities.{rank}[{index}]", pattern, groups)


def _matched(release: View, path: str, pattern: object, groups: list[str]) -> None:
    try:
        found = re.compile(str(pattern))
    except re.error:
        release.error(
            "programs-group", path, f"{show(pattern)} is no pattern: the autoscaler leaves all priorities out"
        )
        return
    made = [f"{group}00000000-0000-0000-0000-000000000000" for group in groups]
    if isinstance(pattern, str) and not any(found.search(one) for one in made):
        release.error(
            "programs-group", path, f"{show(pattern)} is met by no group of the stack",
            hint=nearest(pattern.strip("^$.*"), groups),
        )  # fmt: skip
