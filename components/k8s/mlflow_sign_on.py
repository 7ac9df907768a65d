"""Single sign-on at the MLflow server: what its guard is told of the identity provider, and how it reaches the keys.

`mlflow_runtime/sign_on.py` reads the file and says what it makes of it.
"""

import json
from collections.abc import Mapping
from typing import NotRequired, TypedDict
from urllib.parse import urlsplit

from trainyard.components.k8s import network_rules as rules
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.conventions import MLFLOW_ADMIN


class SignOnProxyArgs(TypedDict):
    """A proxy that leads to the issuer's keys."""

    url: str
    """Its address, `http://name:port`."""
    namespace: str
    """Namespace of its pods."""
    port: int
    """The pods' port (TCP)."""


class MlflowSignOnArgs(TypedDict):
    """An identity provider (OpenID Connect) whose tokens the server takes."""

    issuer: str
    """The tokens' `iss`, https."""
    audience: str
    """The tokens' `aud`: the client that they are made for."""
    keys_url: str
    """Where the issuer's keys are (`jwks_uri`), https on port 443."""
    claim: str
    """The claim with the groups of a token's owner."""
    person_claim: str
    """The claim by which the server's log names them; `sub` where a token lacks it."""
    teams: Mapping[str, str]
    """Team to the group whose members have the rights of the team's account."""
    proxy: NotRequired[SignOnProxyArgs]
    """The way to the keys. Default: none, and the server reaches HTTPS outside of the network."""


def check_sign_on(name: str, args: MlflowSignOnArgs, teams: Mapping[str, object]) -> None:
    """Raises ValueError for what would let anybody in, or one team in as another."""
    for key, value in (("issuer", args["issuer"]), ("keys_url", args["keys_url"])):
        if not value.startswith("https://"):
            raise ValueError(f"{name}: sign_on.{key} has to be https, got {value!r}")
    if urlsplit(args["keys_url"]).port not in (None, 443):
        raise ValueError(f"{name}: sign_on.keys_url has to be on port 443, got {args['keys_url']!r}")
    for key, value in (
        ("audience", args["audience"]),
        ("claim", args["claim"]),
        ("person_claim", args["person_claim"]),
    ):
        if not value:
            raise ValueError(f"{name}: sign_on.{key} is empty")
    groups = list(args["teams"].values())
    if not groups or "" in groups or len(set(groups)) < len(groups):
        raise ValueError(f"{name}: sign_on.teams names a group of its own for each team")
    for team in args["teams"]:
        if team not in teams or team == MLFLOW_ADMIN:
            raise ValueError(f"{name}: sign_on.teams names {team!r}, which is no team of the server")


def sign_on_file(args: MlflowSignOnArgs) -> str:
    """The file that the guard reads."""
    found = {
        "issuer": args["issuer"],
        "audience": args["audience"],
        "keysUrl": args["keys_url"],
        "claim": args["claim"],
        "personClaim": args["person_claim"],
        "teams": dict(args["teams"]),
        **({"proxy": args["proxy"]["url"]} if "proxy" in args else {}),
    }
    return json.dumps(found, sort_keys=True, indent=1)


def way_to_the_keys(args: MlflowSignOnArgs | None, addresses: AddressesArgs | None) -> list[rules.Egress]:
    """What the server's network policy has to allow; nothing where it reaches HTTPS everywhere anyway."""
    if args is None or addresses is None:
        return []
    if "proxy" not in args:
        return [rules.https_to(rules.outside(addresses))]
    proxy = args["proxy"]
    return [
        {
            "to": [{"namespace_selector": rules.namespace_called(proxy["namespace"])}],
            "ports": [{"protocol": "TCP", "port": proxy["port"]}],
        }
    ]
