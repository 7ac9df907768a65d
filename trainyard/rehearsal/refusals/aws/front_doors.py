"""What people and programs come in by: REST interfaces, pools of users.

Sources: Amazon API Gateway Developer Guide, "Set up Lambda proxy integrations" (a function is called by POST) and
"Control access using Cognito user pools"; Amazon Cognito Developer Guide, "Adding MFA" and "App client settings";
the AWS provider's checks of the same resources (2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

METHOD: Final = "aws:apigateway/method:Method"
INTEGRATION: Final = "aws:apigateway/integration:Integration"
_POOL: Final = "aws:cognito/userPool:UserPool"
_CLIENT: Final = "aws:cognito/userPoolClient:UserPoolClient"


def method(view: View) -> None:
    """Who has to log in is known by an authorizer."""
    kind = view.text("authorization")
    if kind in ("COGNITO_USER_POOLS", "CUSTOM") and view.lacks("authorizerId"):
        view.error("api-method", "authorizerId", f"is missing for {kind}", allowed="an authorizer of the API")
    if view.entries("authorizationScopes") and kind not in (None, "COGNITO_USER_POOLS"):
        view.error("api-method", "authorizationScopes", f"are given with {kind}", allowed="COGNITO_USER_POOLS")


def integration(view: View) -> None:
    """A function is called by POST, whatever the method, and what is called has an address."""
    kind, verb, uri = view.text("type"), view.text("integrationHttpMethod"), view.text("uri") or ""
    if (":lambda:path/" in uri or ":function:" in uri) and verb not in (None, "POST"):
        view.error(
            "api-integration", "integrationHttpMethod", f"got {verb}: a function is called by POST", allowed="POST"
        )
    if kind in ("AWS", "AWS_PROXY", "HTTP") and view.lacks("integrationHttpMethod"):
        view.error("api-integration", "integrationHttpMethod", f"is missing for {kind}", allowed="POST, GET, …")
    if kind in ("AWS", "AWS_PROXY", "HTTP", "HTTP_PROXY") and view.lacks("uri"):
        view.error("api-integration", "uri", f"is missing for {kind}", allowed="what is called")
    if view.text("connectionType") == "VPC_LINK" and view.lacks("connectionId"):
        view.error("api-integration", "connectionId", "is missing for VPC_LINK", allowed="a VPC link")


def pool(view: View) -> None:
    """A second factor has a way to be asked for."""
    ways = ("emailMfaConfiguration", "smsConfiguration", "softwareTokenMfaConfiguration", "webAuthnConfiguration")
    kind = view.text("mfaConfiguration")
    if kind in ("ON", "OPTIONAL") and all(view.lacks(way) for way in ways):
        view.error(
            "cognito-mfa",
            "softwareTokenMfaConfiguration",
            f"is missing, and so is any other way, with mfaConfiguration {kind}",
            allowed=", ".join(ways),
        )
    if view.entries("aliasAttributes") and view.entries("usernameAttributes"):
        view.error("cognito-names", "usernameAttributes", "are given beside aliasAttributes", allowed="one of them")


def client(view: View) -> None:
    """A client that sends people to log in says where they come back, and by which flow."""
    flows, scopes = view.texts("allowedOauthFlows"), view.entries("allowedOauthScopes")
    if (
        set(flows) & {"code", "implicit"}
        and not view.blurred("callbackUrls")
        and (view.lacks("callbackUrls") or not view.entries("callbackUrls"))
    ):
        view.error(
            "cognito-client", "callbackUrls", f"are missing for {', '.join(flows)}", allowed="where people come back to"
        )
    if flows and (view.lacks("allowedOauthScopes") or not (scopes or view.is_unknown("allowedOauthScopes"))):
        view.error("cognito-client", "allowedOauthScopes", "are missing beside allowedOauthFlows", allowed="openid, …")
    if "client_credentials" in flows and len(flows) > 1:
        view.error("cognito-client", "allowedOauthFlows", "have client_credentials and others", allowed="it alone")
    if "client_credentials" in flows and (view.lacks("generateSecret") or view.flag("generateSecret") is False):
        view.error("cognito-client", "generateSecret", "is off with client_credentials", allowed="true")
    chosen = view.text("defaultRedirectUri")
    if (
        chosen is not None
        and view.texts("callbackUrls")
        and chosen not in view.texts("callbackUrls")
        and not view.blurred("callbackUrls")
    ):
        view.error(
            "cognito-client", "defaultRedirectUri", f"got {show(chosen)}", allowed=", ".join(view.texts("callbackUrls"))
        )


RULES: Final[Rules] = {
    method: (METHOD,),
    integration: (INTEGRATION,),
    pool: (_POOL,),
    client: (_CLIENT,),
}
