"""Settings: single sign-on of people at the tracking server."""

from typing import Annotated

from pydantic import Field

from trainyard.settings.types import Model, Name, matching

_HOST = r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])"

Issuer = Annotated[
    str,
    matching(
        rf"https://{_HOST}(:[0-9]{{1,5}})?(/[A-Za-z0-9._~%/-]{{0,300}})?",
        "must be the issuer as its tokens spell it, like https://login.example.com/tenant: https, a host in lower case",
    ),
]
HTTPS_URL = rf"https://{_HOST}/[A-Za-z0-9._~%/-]{{1,300}}(\?[A-Za-z0-9._~%=&-]{{1,300}})?"
KeysUrl = Annotated[
    str,
    matching(
        HTTPS_URL,
        "must be the address of the issuer's keys (jwks_uri), like https://login.example.com/tenant/keys: https, a "
        "host in lower case, no port",
    ),
]
Audience = Annotated[str, matching(r"[!-~]{1,200}", "must be the audience as the tokens spell it: the client's id")]
Claim = Annotated[str, matching(r"[!-~]{1,100}", "must be the name of a claim, like groups")]
Group = Annotated[
    str,
    matching(r"[^\s](.{0,198}[^\s])?", "must be a group as the tokens spell it, at most 200 characters"),
]


class SignOn(Model):
    """An identity provider (OpenID Connect) whose tokens open the tracking server, beside its logins' passwords."""

    issuer: Issuer = Field(description="who makes the tokens, as their claim iss spells it")
    audience: Audience = Field(description="whom they are made for, as their claim aud spells it: the client's id")
    keys_url: KeysUrl = Field(
        description="where the issuer's keys are: jwks_uri of its /.well-known/openid-configuration"
    )
    claim: Claim = Field(default="groups", description="the claim that holds the groups of a token's owner")
    person_claim: Claim = Field(
        default="email",
        description="the claim by which the server's log names a token's owner; sub where it is missing",
    )
    teams: dict[Name, Group] = Field(
        min_length=1, description="team to its group; who is of several teams' groups is refused, and uses a login"
    )
