"""What a team's members may do in the cluster: the one list that roles are made of and that a policy holds them to."""

from __future__ import annotations

from typing import Final, NamedTuple

ALL_VERBS: Final = ("get", "list", "watch", "create", "update", "patch", "delete")
READ_VERBS: Final = ("get", "list", "watch")


class Right(NamedTuple):
    """Verbs on resources of one API group, as a rule of RBAC has them."""

    group: str  # empty: the core group
    resources: tuple[str, ...]
    verbs: tuple[str, ...]


IN_THE_OWN_NAMESPACE: Final = (
    Right("batch", ("jobs",), ALL_VERBS),
    Right("jobset.x-k8s.io", ("jobsets",), ALL_VERBS),
    Right("trainer.kubeflow.org", ("trainjobs",), ALL_VERBS),
    Right("trainer.kubeflow.org", ("trainingruntimes",), READ_VERBS),
    Right("kueue.x-k8s.io", ("localqueues", "workloads"), READ_VERBS),
    Right("", ("pods",), (*READ_VERBS, "create", "delete")),
    Right("", ("pods/log",), ("get",)),
    Right("", ("pods/exec", "pods/portforward"), ("create",)),
    Right("", ("configmaps",), ALL_VERBS),
    Right("", ("events", "services", "persistentvolumeclaims", "resourcequotas", "limitranges"), READ_VERBS),
    Right("events.k8s.io", ("events",), READ_VERBS),
)
"""What a member may do in the team's namespace. Not: secrets, RBAC, quotas, network policies, volumes."""

IN_THE_CLUSTER: Final = (
    Right("trainer.kubeflow.org", ("clustertrainingruntimes",), READ_VERBS),
    Right("kueue.x-k8s.io", ("clusterqueues", "resourceflavors", "workloadpriorityclasses"), READ_VERBS),
)
"""What every member may read outside of it: what a job can refer to, and why it waits."""

AT_THE_NOTEBOOKS: Final = (
    Right("", ("services", "pods"), ("get", "list")),
    Right("", ("pods/portforward",), ("create",)),
)
"""What members of every team may do in the namespace of notebooks, which is no team's: forward a port to the hub's
proxy. RBAC knows no ports: hub, proxy and the notebooks' servers ask whoever comes who he is, kernels have no ports,
and what a person starts in a notebook besides, such as TensorBoard, is reached by every member."""
