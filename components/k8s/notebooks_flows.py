"""The conversations of JupyterHub: hub, proxy and everybody's notebooks.

Ports are the pods' of the chart jupyterhub (zero-to-jupyterhub-k8s 4.4.0: templates/hub, templates/proxy and
jupyterhub_config.py; read 2026-11). The chart's own policies are switched off: these are all there are.
"""

from trainyard.components.k8s.flows import DNS, NAME_PORTS, Flow, Place, Pods, tcp
from trainyard.components.k8s.platform_flows import EGRESS_PROXY, PROXY_PORT, sign_on_flow
from trainyard.conventions import NOTEBOOKS_NAMESPACE

HUB_PORT = 8081
PROXY_API_PORT = 8001
PROXY_HTTP_PORT = 8000
NOTEBOOK_PORT = 8888


def _pods(component: str) -> Pods:
    return Pods(NOTEBOOKS_NAMESPACE, (("component", component),))


HUB, PROXY, NOTEBOOKS = _pods("hub"), _pods("proxy"), _pods("singleuser-server")

_ALWAYS: tuple[Flow, ...] = (
    Flow(HUB, Place.API_SERVER, (tcp(443),), "the hub makes the pods and volumes of notebooks"),
    Flow(HUB, DNS, NAME_PORTS, "the hub looks names up"),
    Flow(PROXY, DNS, NAME_PORTS, "the proxy looks up the hub"),
    Flow(NOTEBOOKS, DNS, NAME_PORTS, "notebooks look names up"),
    Flow(HUB, PROXY, (tcp(PROXY_API_PORT),), "the hub tells the proxy whose notebook is where"),
    Flow(PROXY, HUB, (tcp(HUB_PORT),), "the proxy leads people to the hub"),
    Flow(PROXY, NOTEBOOKS, (tcp(NOTEBOOK_PORT),), "the proxy leads people to their notebooks"),
    Flow(HUB, NOTEBOOKS, (tcp(NOTEBOOK_PORT),), "the hub sees that a notebook answers"),
    Flow(NOTEBOOKS, HUB, (tcp(HUB_PORT),), "a notebook asks the hub who somebody is, and tells that it is used"),
)


def notebooks_flows(*, proxied: bool) -> tuple[Flow, ...]:
    """Every flow of the namespace. `proxied`: the way out of the network is the egress proxy."""
    if proxied:
        return (
            *_ALWAYS,
            notebooks_out_flow(),
            sign_on_flow(NOTEBOOKS_NAMESPACE, HUB.labels),
        )
    return (
        *_ALWAYS,
        Flow(NOTEBOOKS, Place.INTERNET, (tcp(443),), "notebooks load packages and data"),
        Flow(HUB, Place.INTERNET, (tcp(443),), "the hub asks the identity provider who somebody is"),
    )


def notebooks_out_flow() -> Flow:
    """The way out of notebooks, where there is an allow-list: the one of the teams' pods."""
    return Flow(NOTEBOOKS, EGRESS_PROXY, (tcp(PROXY_PORT),), "notebooks reach the names of the allow-list")
