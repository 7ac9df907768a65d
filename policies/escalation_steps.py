"""Rights in the cluster that lead to more rights, or past a wall, and where each leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trainyard.rehearsal.works.rights.kubernetes.rules import Ask, ask

WRITE: Final = ("create", "update", "patch")
_KUEUE: Final = "kueue.x-k8s.io"
_RBAC, _ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
_STARTS_PODS: Final = (
    "pods",
    "jobs.batch",
    "cronjobs.batch",
    "deployments.apps",
    "daemonsets.apps",
    "statefulsets.apps",
    "replicasets.apps",
    "replicationcontrollers",
    "jobsets.jobset.x-k8s.io",
    "trainjobs.trainer.kubeflow.org",
)


@dataclass(frozen=True, slots=True)
class Step:
    """Rights of one kind, and where they lead."""

    asked: tuple[Ask, ...]
    leads: str
    cluster_wide: bool = False  # only where it holds in all namespaces
    whatever_name: bool = True  # a rule on named objects alone counts too


def _asks(verbs: tuple[str, ...], *things: str) -> tuple[Ask, ...]:
    return tuple(ask(verb, thing) for verb in verbs for thing in things)


STEPS: Final = (
    Step(_asks(("escalate",), f"roles.{_RBAC}", f"clusterroles.{_RBAC}"), "gives a role rights that its writer lacks"),
    Step(_asks(("bind",), f"roles.{_RBAC}", f"clusterroles.{_RBAC}"), "binds any role to anybody"),
    Step(_asks(("impersonate",), "users", "groups", "serviceaccounts"), "acts as somebody else"),
    Step(
        _asks(
            WRITE, f"roles.{_RBAC}", f"rolebindings.{_RBAC}", f"clusterroles.{_RBAC}", f"clusterrolebindings.{_RBAC}"
        ),
        "changes who may do what",
    ),
    Step(_asks(("create",), "serviceaccounts/token"), "signs in as any service account there"),
    Step(_asks(("get", "create"), "nodes/proxy"), "reaches the kubelet, which runs commands in every pod"),
    Step(
        _asks(("update", "patch"), "namespaces", "nodes"),
        "changes the labels that pod security, queues, network policies and nodes go by",
        whatever_name=False,
    ),
    Step(_asks(("create",), "namespaces"), "makes namespaces that no wall stands around"),
    Step(
        _asks(("delete", "deletecollection"), "namespaces"),
        "removes namespaces with all that is in them",
        whatever_name=False,
    ),
    Step(
        _asks(
            (*WRITE, "delete"),
            *(f"{kind}.{_KUEUE}" for kind in ("clusterqueues", "cohorts", "resourceflavors", "admissionchecks")),
        ),
        "changes who may have how many GPUs",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(
        _asks((*WRITE, "delete"), f"localqueues.{_KUEUE}", f"workloads.{_KUEUE}", f"workloads.{_KUEUE}/status"),
        "lets jobs in that no queue has admitted",
        whatever_name=False,
    ),
    Step(
        _asks(WRITE, "configmaps"),
        "rewrites what the programs of all namespaces are told",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(
        (
            *_asks(("update", "patch"), "certificatesigningrequests.certificates.k8s.io/approval"),
            *_asks(("approve", "sign"), "signers.certificates.k8s.io"),
        ),
        "makes credentials of anybody",
    ),
    Step(
        _asks(
            (*WRITE, "delete"),
            f"validatingwebhookconfigurations.{_ADMISSION}",
            f"mutatingwebhookconfigurations.{_ADMISSION}",
            f"validatingadmissionpolicies.{_ADMISSION}",
            f"validatingadmissionpolicybindings.{_ADMISSION}",
            f"mutatingadmissionpolicies.{_ADMISSION}",
            f"mutatingadmissionpolicybindings.{_ADMISSION}",
        ),
        "changes or lifts the guards on what is created",
        whatever_name=False,
    ),
    Step(
        _asks((*WRITE, "delete"), "networkpolicies.networking.k8s.io", "resourcequotas", "limitranges"),
        "lifts the walls of all namespaces",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(
        _asks((*WRITE, "delete"), "customresourcedefinitions.apiextensions.k8s.io"),
        "changes what queues, jobs and rules are, and removes them all with their kind",
        whatever_name=False,
    ),
    Step(_asks(WRITE, "persistentvolumes"), "mounts any disk and any directory of a node"),
    Step(
        _asks(("get", "list", "watch"), "secrets"),
        "reads the passwords and tokens of all namespaces",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(
        _asks(("create", "get"), "pods/exec", "pods/attach"),
        "runs commands in the pods of all namespaces",
        cluster_wide=True,
    ),
    Step(
        _asks(("create", "get"), "pods/portforward", "pods/proxy", "services/proxy"),
        "reaches every port of the pods of all namespaces, past their network policies",
        cluster_wide=True,
    ),
    Step(
        _asks(WRITE, "secrets", "serviceaccounts"),
        "changes the passwords of all namespaces, or whose role in the cloud their pods have",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(
        _asks(WRITE, "endpoints", "endpointslices.discovery.k8s.io", "apiservices.apiregistration.k8s.io"),
        "takes what is sent to others: services of all namespaces, or a part of the API",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(
        _asks(WRITE, "priorityclasses.scheduling.k8s.io"),
        "makes pods that the scheduler evicts others for, the platform's too",
        whatever_name=False,
    ),
    Step(_asks(WRITE, "pods/ephemeralcontainers"), "runs containers in the pods of all namespaces", cluster_wide=True),
    Step(
        _asks(("create",), *_STARTS_PODS),
        "starts pods with the service accounts of all namespaces",
        cluster_wide=True,
    ),
)
"""What is known to lead to more (Kubernetes documentation, "Role Based Access Control Good Practices", "Privilege
escalation risks", read 2026-11)."""

IN_PLATFORM_NAMESPACES: Final = (
    *_asks(("create",), *_STARTS_PODS),
    *_asks(("create", "get"), "pods/exec", "pods/attach"),
    *_asks(("update", "patch"), "deployments.apps", "daemonsets.apps", "statefulsets.apps", "pods/ephemeralcontainers"),
)
"""What makes somebody the service accounts of a namespace."""

IN_SYSTEM_NAMESPACES: Final = (
    Step(_asks(WRITE, "configmaps"), "rewrites what the programs there are told", whatever_name=False),
    Step(_asks(("get", "list", "watch"), "secrets"), "reads the passwords and tokens there", whatever_name=False),
)
"""What is the programs' own in a namespace of the platform's controllers (`kube-system`, `kueue-system`)."""

IN_TEAM_NAMESPACES: Final = (
    Step(_asks(("get", "list", "watch"), "secrets"), "reads a team's passwords and tokens", whatever_name=False),
    Step(_asks(("create", "get"), "pods/exec", "pods/attach"), "runs commands in a team's pods"),
    Step(_asks(WRITE, "pods/ephemeralcontainers"), "runs containers in a team's pods"),
)
"""What is a team's own, for a service account of another namespace."""
