"""Settings: notebooks on a cluster, by JupyterHub."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.settings.sign_on import HTTPS_URL, Claim, Group
from trainyard.settings.types import Cores, Image, Memory, Model, Name, matching

ClientId = Annotated[str, matching(r"[!-~]{1,200}", "must be the client's id as the identity provider spells it")]
PublicAddress = Annotated[
    str,
    matching(
        r"https://([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])",
        "must be where people's browsers find the hub, like https://notebooks.acme.example: https, a host, nothing "
        "behind it",
    ),
]

GroupsClaim = Annotated[
    str,
    matching(
        r"[!-\-/-~]{1,100}",
        "must be the name of a claim without dots, like groups: the hub takes what is behind a dot for a claim within "
        "a claim",
    ),
]
Scope = Annotated[str, matching(r"[!#-\[\]-~]{1,200}", "must be a scope as the provider spells it, like groups")]


ProviderUrl = Annotated[
    str,
    matching(
        HTTPS_URL,
        "must be an address of the identity provider, like https://login.example.com/tenant/token: https, a host in "
        "lower case, no port",
    ),
]


class NotebookSignOn(Model):
    """Who may use the notebooks: people that an identity provider knows. There is no way in without one."""

    provider: Literal["github", "oidc"] = Field(description="GitHub, or any provider of OpenID Connect")
    client_id: ClientId = Field(
        description="id of the client that the provider has for the hub; you put its secret into the Secret "
        "notebooks-sign-on on the cluster, and nowhere else: the hub does not start before"
    )
    groups: list[Group] = Field(
        default=[],
        max_length=50,
        description="whose members may come in: organisations of GitHub, or teams of one as ORGANISATION:TEAM; of "
        "oidc, groups as the claim spells them",
    )
    authorize_url: ProviderUrl | None = Field(
        default=None, description="of oidc: authorization_endpoint of its /.well-known/openid-configuration"
    )
    token_url: ProviderUrl | None = Field(default=None, description="of oidc: token_endpoint of it")
    userdata_url: ProviderUrl | None = Field(default=None, description="of oidc: userinfo_endpoint of it")
    person_claim: Claim = Field(default="email", description="of oidc: the claim by which the hub names a person")
    claim: GroupsClaim = Field(
        default="groups", description="of oidc: the claim that holds a person's groups, without dots in its name"
    )
    scopes: list[Scope] = Field(
        default=["openid", "profile", "email"],
        min_length=1,
        max_length=20,
        description="of oidc: what the hub asks the provider for; some give the groups for a scope of their own, such "
        "as groups, and most refuse one that they do not know",
    )


class Notebooks(Model):
    """Notebooks on the cluster: JupyterHub, which ends what nobody uses."""

    hub: bool = Field(
        default=False,
        description="whether there is a JupyterHub on the cluster; of medium and large, because small has editors",
    )
    sign_on: NotebookSignOn | None = Field(default=None, description="who may use it; it is not made without")
    address: PublicAddress | None = Field(
        default=None,
        description="where an ingress of yours leads people to it; by default they reach it at "
        "http://localhost:8000, by kubectl port-forward",
    )
    image: Image | None = Field(
        default=None, description="of a notebook, by digest; it must hold jupyterhub and jupyter_server"
    )
    gpus: dict[Name, Annotated[int, Field(ge=1, le=1000)]] = Field(
        default={},
        description="by GPU pool, how many GPUs (slices, where they are shared) are kept for notebooks, one each: the "
        "teams' queues do without them",
    )
    cpu: Cores = Field(default="2", description="of a notebook without a GPU, a Kubernetes quantity")
    memory: Memory = Field(default="8Gi", description="of a notebook without a GPU, a Kubernetes quantity")
    storage_gib: int = Field(default=20, ge=1, le=1000, description="size of a person's own volume, GiB")
    kernel_idle_minutes: int = Field(
        default=30,
        ge=5,
        le=1440,
        description="minutes after which a kernel or a terminal that does nothing ends, though its tab is open",
    )
    idle_minutes: int = Field(
        default=45,
        ge=5,
        le=1440,
        description="minutes after which a notebook whose kernels do nothing ends, and gives its GPU back, though its "
        "tab is open",
    )
    longest_hours: int = Field(
        default=12, ge=1, le=168, description="hours after which every notebook ends, whatever it does"
    )
