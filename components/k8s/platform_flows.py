"""The conversations of the platform's own controllers, which are the same on every ground.

Ports are the pods': of a webhook the one that its server listens on, whatever its service calls it. They are
general knowledge of Kueue, JobSet and Trainer; no chart at its pinned version was read for them. Probes come from the
pod's own node, which no network policy holds back.
"""

from trainyard.components.k8s.flows import DNS, NAME_PORTS, Flow, Place, Pods, tcp
from trainyard.components.k8s.monitoring_flows import ASKED_BY_KEEPERS, READ_FROM_QUEUES
from trainyard.conventions import INGEST_NAMESPACE, KUEUE_NAMESPACE

WEBHOOKS = 9443
VISIBILITY = 8082
"""Kueue's API of what waits: where the API server cannot reach it, namespaces cannot be deleted any more."""
API = 443
PROXY_PORT = 3128
SIGN_ON_PORT = 3129
"""The proxy's door for where people sign on, which leads to identity providers and nowhere else."""

KUEUE = Pods(KUEUE_NAMESPACE)
JOBSET = Pods("jobset-system")
TRAINER = Pods("kubeflow-system")
EGRESS_PROXY = Pods("egress-proxy")
INGEST = Pods(INGEST_NAMESPACE)


def _controller(pods: Pods, what: str) -> tuple[Flow, ...]:
    return (
        Flow(pods, Place.API_SERVER, (tcp(API),), f"{what} watches its objects"),
        Flow(pods, DNS, NAME_PORTS, f"{what} looks up the API server's name"),
        Flow(Place.API_SERVER, pods, (tcp(WEBHOOKS),), f"the API server asks {what}'s webhooks"),
    )


PLATFORM_FLOWS: tuple[Flow, ...] = (
    *_controller(KUEUE, "Kueue"),
    Flow(Place.API_SERVER, KUEUE, (tcp(VISIBILITY),), "the API server hands on the API of what waits"),
    READ_FROM_QUEUES,
    *ASKED_BY_KEEPERS.values(),
    *_controller(JOBSET, "JobSet"),
    *_controller(TRAINER, "the Trainer"),
    Flow(Place.TEAMS, EGRESS_PROXY, (tcp(PROXY_PORT),), "teams' pods reach the names of the allow-list"),
    Flow(INGEST, EGRESS_PROXY, (tcp(PROXY_PORT),), "pods that bring data in reach the names of the allow-list"),
    Flow(EGRESS_PROXY, DNS, NAME_PORTS, "the proxy looks up the names of the allow-list"),
    Flow(EGRESS_PROXY, Place.INTERNET, (tcp(443),), "the proxy opens what teams' pods asked for"),
)
"""Every flow that pods of the platform need. A namespace's policies are written from those that name it."""


def sign_on_flow(namespace: str, labels: tuple[tuple[str, str], ...] = ()) -> Flow:
    """The way out of pods at which people sign on: the tracking server's, the hub's of notebooks."""
    return Flow(
        Pods(namespace, labels),
        EGRESS_PROXY,
        (tcp(SIGN_ON_PORT),),
        "an identity provider is asked, or its keys are read",
    )
