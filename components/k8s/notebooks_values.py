"""Values of the chart jupyterhub: who comes in, what a notebook is, and when it ends.

What the chart brings besides and we leave out: its network policies (ours are all there are, and the rehearsal sees
them), its scheduler (one more with rights over all pods), image pullers and placeholders (nodes are there when somebody
works), a privileged container that blocks the metadata service (a network policy does).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from trainyard.components.k8s.notebook_server import FOLDER, RUNTIME_FOLDER, server_files
from trainyard.components.k8s.quantities import gibibytes
from trainyard.conventions import (
    GPU_RESOURCE,
    NOTEBOOKS_SIGN_ON_KEY,
    NOTEBOOKS_SIGN_ON_SECRET,
    SYSTEM_TOLERATION,
    ZONE_LABEL,
)

CULL_EVERY_S = 300
"""How often the hub's culler looks, seconds (operations of the chart: 600 by default)."""
START_TIMEOUT_S = 1200
"""Seconds in which a notebook has to run: a node from zero, and an image of 10 GB on it."""
SCOPES = ("openid", "profile", "email")
"""What every provider of OpenID Connect gives (OpenID Connect Core 1.0, 5.4)."""
HUB_DISK_GIB = 1
"""Size of the volume of the hub's own database (SQLite), as the chart has it."""
HUB_CPU, HUB_MEMORY = "500m", "1Gi"
PROXY_CPU, PROXY_MEMORY = "200m", "512Mi"
"""Requests of hub and proxy, which `plan.system_pods` counts on the system nodes."""
_RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


class NotebookSignOnArgs(TypedDict):
    """The identity provider that says who somebody is. The client's secret is in the Secret `notebooks-sign-on`."""

    provider: str
    """`github` or `oidc`."""
    client_id: str
    """Id of the hub's client there."""
    callback_url: str
    """Where the provider sends people's browsers back to."""
    groups: Sequence[str]
    """Whose members may come in: organisations of GitHub, or teams of one as ORGANISATION:TEAM; of OpenID Connect,
    groups as the claim spells them."""
    authorize_url: NotRequired[str]
    """Address, of OpenID Connect, that browsers are sent to."""
    token_url: NotRequired[str]
    """Address, of OpenID Connect, at which the hub exchanges a code for a token."""
    userdata_url: NotRequired[str]
    """Address, of OpenID Connect, at which the hub asks who the token's owner is."""
    person_claim: NotRequired[str]
    """Claim, of OpenID Connect, that names a person. Default: `email`."""
    claim: NotRequired[str]
    """Claim, of OpenID Connect, that holds a person's groups, without dots in its name. Default: `groups`."""
    scopes: NotRequired[Sequence[str]]
    """What the hub asks a provider of OpenID Connect for. Default: `openid`, `profile` and `email`, which all know."""


class NotebookProfileArgs(TypedDict):
    """A kind of notebook that people choose from."""

    name: str
    """Short name, unique."""
    title: str
    """What people read."""
    cpu: float
    """Cores that it has."""
    memory_gib: float
    """Memory that it has, GiB."""
    node_selector: Mapping[str, str]
    """Labels of the nodes that it runs on."""
    tolerations: Sequence[Mapping[str, str]]
    """Tolerations for their taints."""
    gpus: NotRequired[int]
    """GPUs that it has. Default: none."""
    most: NotRequired[int]
    """How many of those with a GPU there may be at a time. Default: as many as there are people."""


def authenticator(sign_on: NotebookSignOnArgs, proxy: tuple[str, int] | None) -> dict[str, Any]:
    """The configuration of JupyterHub that lets people in; `proxy` is the host and port by which the hub goes out.

    Raises ValueError for a provider that is not known, or that would let everybody in.
    """
    common: dict[str, Any] = {
        "client_id": sign_on["client_id"],
        "oauth_callback_url": sign_on["callback_url"],
        "allow_all": False,
    }
    if proxy is not None:
        common["http_request_kwargs"] = {"proxy_host": proxy[0], "proxy_port": proxy[1]}
    if not sign_on["groups"]:
        raise ValueError("sign_on: groups has to name one; without any, everybody or nobody would come in")
    if sign_on["provider"] == "github":
        own: dict[str, Any] = {"allowed_organizations": list(sign_on["groups"]), "scope": ["read:org"]}
        return {"JupyterHub": {"authenticator_class": "github"}, "GitHubOAuthenticator": {**common, **own}}
    if sign_on["provider"] != "oidc":
        raise ValueError(f"sign_on: provider has to be github or oidc, got {sign_on['provider']!r}")
    addresses = {key: str(sign_on.get(key, "")) for key in ("authorize_url", "token_url", "userdata_url")}
    lacking = [key for key, value in addresses.items() if not value.startswith("https://")]
    if lacking:
        raise ValueError(f"sign_on: oidc needs {', '.join(lacking)}, which begin with https://")
    claim = sign_on.get("claim", "groups")
    if "." in claim:
        raise ValueError(f"sign_on: claim is split at its dots, and would be looked for within another; got {claim!r}")
    own = {
        **addresses,
        # Not the claim: a provider that does not know a scope of its name (Entra, Cognito, Keycloak) lets nobody in.
        "scope": list(sign_on.get("scopes", SCOPES)),
        "username_claim": sign_on.get("person_claim", "email"),
        "manage_groups": True,
        "auth_state_groups_key": f"oauth_user.{claim}",
        "allowed_groups": list(sign_on["groups"]),
    }
    return {"JupyterHub": {"authenticator_class": "generic-oauth"}, "GenericOAuthenticator": {**common, **own}}


def profile(args: NotebookProfileArgs) -> dict[str, Any]:
    """An entry of the list that people choose from."""
    override: dict[str, Any] = {
        "cpu_guarantee": args["cpu"],
        "cpu_limit": args["cpu"],
        "mem_guarantee": f"{args['memory_gib']:g}G",
        "mem_limit": f"{args['memory_gib']:g}G",
        "node_selector": dict(args["node_selector"]),
        "tolerations": [dict(each) for each in args["tolerations"]],
    }
    if args.get("gpus"):
        # Limit and guarantee alike: GPUs are not overcommitted.
        override["extra_resource_limits"] = {GPU_RESOURCE: str(args["gpus"])}
        override["extra_resource_guarantees"] = {GPU_RESOURCE: str(args["gpus"])}
    return {"slug": args["name"], "display_name": args["title"], "kubespawner_override": override}


def values(
    *,
    image: str,
    sign_on: NotebookSignOnArgs,
    profiles: Sequence[NotebookProfileArgs],
    storage_gib: int,
    storage_class: pulumi.Input[str] | None,
    zone: str,
    kernel_idle_s: int,
    idle_s: int,
    longest_s: int,
    node_selector: Mapping[str, str],
    environment: Mapping[str, str],
    sign_on_proxy: tuple[str, int] | None,
) -> dict[str, Any]:
    """The values of the chart.

    Args:
        image: of a notebook, by digest.
        sign_on: who may come in.
        profiles: what people choose from; the first is what they get who do not.
        storage_gib: size of a person's volume.
        storage_class: of all volumes; None: the cluster's default.
        zone: that notebooks run in; "": any.
        kernel_idle_s: seconds after which a kernel that does nothing ends.
        idle_s: seconds after which a notebook that does nothing ends.
        longest_s: seconds after which it ends whatever it does.
        node_selector: labels of the nodes of hub and proxy.
        environment: variables of a notebook by which programs find the way out.
        sign_on_proxy: host and port by which the hub reaches the identity provider; None: by itself.
    """
    place = {"nodeSelector": dict(node_selector), "tolerations": [dict(SYSTEM_TOLERATION)]}
    off = {"enabled": False}
    classes = {} if storage_class is None else {"storageClassName": storage_class}
    let_in = authenticator(sign_on, sign_on_proxy)
    files = server_files(kernel_idle_s=kernel_idle_s, idle_s=idle_s)
    affinity = [{"matchExpressions": [{"key": ZONE_LABEL, "operator": "In", "values": [zone]}]}] if zone else []
    return {
        "hub": {
            **place,
            "config": {
                **let_in,
                "JupyterHub": {**let_in["JupyterHub"], "admin_access": False},
                # What a person writes into the own home must not undo when a notebook ends.
                "Spawner": {"disable_user_config": True},
                "KubeSpawner": {"container_security_context": dict(_RESTRICTED)},
            },
            "extraEnv": {
                "OAUTH_CLIENT_SECRET": {
                    "valueFrom": {"secretKeyRef": {"name": NOTEBOOKS_SIGN_ON_SECRET, "key": NOTEBOOKS_SIGN_ON_KEY}}
                }
            },
            "db": {"type": "sqlite-pvc", "pvc": {"storage": gibibytes(HUB_DISK_GIB), **classes}},
            "networkPolicy": off,
            "allowNamedServers": False,
            "resources": _resources(HUB_CPU, HUB_MEMORY),
        },
        "proxy": {
            "service": {"type": "ClusterIP"},
            "https": off,
            "chp": {**place, "networkPolicy": off, "resources": _resources(PROXY_CPU, PROXY_MEMORY)},
        },
        "singleuser": {
            "image": {"name": image, "tag": ""},
            "startTimeout": START_TIMEOUT_S,
            "networkPolicy": off,
            "cloudMetadata": {"blockWithIptables": False},
            "allowPrivilegeEscalation": False,
            "storage": {
                "type": "dynamic",
                "capacity": gibibytes(storage_gib),
                "dynamic": {} if storage_class is None else {"storageClass": storage_class},
            },
            "extraNodeAffinity": {"required": affinity},
            "extraEnv": {**environment, "PYTHONPATH": FOLDER, "JUPYTER_RUNTIME_DIR": RUNTIME_FOLDER},
            "extraFiles": {
                name: {"mountPath": path, "stringData": text} for name, (path, text) in sorted(files.items())
            },
            "profileList": [
                {**profile(each), **({"default": True} if number == 0 else {})} for number, each in enumerate(profiles)
            ],
        },
        "cull": {
            "enabled": True,
            "timeout": idle_s,
            "every": min(CULL_EVERY_S, max(1, idle_s // 4)),
            "maxAge": longest_s,
            "removeNamedServers": True,
            "adminUsers": True,
            "users": False,
        },
        "scheduling": {
            "userScheduler": off,
            "userPlaceholder": off,
            "corePods": {"tolerations": [], "nodeAffinity": {"matchNodePurpose": "ignore"}},
            "userPods": {"tolerations": [], "nodeAffinity": {"matchNodePurpose": "ignore"}},
        },
        "prePuller": {"hook": off, "continuous": off},
        "ingress": off,
    }


def _resources(cpu: str, memory: str) -> dict[str, Any]:
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}}
