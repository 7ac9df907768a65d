"""How a hub of notebooks asks an identity provider of OpenID Connect."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.components.k8s.notebooks_values import NotebookSignOnArgs, authenticator

OIDC: NotebookSignOnArgs = {
    "provider": "oidc",
    "client_id": "hub",
    "callback_url": "http://localhost:8000/hub/oauth_callback",
    "groups": ["ml"],
    "authorize_url": "https://login.acme.example/authorize",
    "token_url": "https://login.acme.example/token",
    "userdata_url": "https://login.acme.example/me",
}


def asked(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = authenticator({**OIDC, **changes}, None)["GenericOAuthenticator"]  # type: ignore[typeddict-item]
    return found


def test_no_scope_is_asked_for_that_a_provider_may_not_know() -> None:
    assert asked()["scope"] == ["openid", "profile", "email"]
    assert asked(claim="cognito:groups")["scope"] == ["openid", "profile", "email"]
    assert asked(scopes=["openid", "groups"])["scope"] == ["openid", "groups"]


def test_groups_are_where_the_claim_says_and_a_claim_with_dots_is_refused() -> None:
    assert asked(claim="cognito:groups")["auth_state_groups_key"] == "oauth_user.cognito:groups"
    with pytest.raises(ValueError, match="split at its dots"):
        asked(claim="https://acme.example/groups")
