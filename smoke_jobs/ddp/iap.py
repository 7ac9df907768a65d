"""Tokens for a tracking server behind Google's Identity-Aware Proxy.

IAP takes a JSON Web Token that a service account has signed for the address of what it guards (IAP, "Programmatic
authentication", 2026-11). Nobody holds a key of the account: who may sign in its name asks the IAM Credentials API to.
A token of OpenID Connect, which the metadata server gives too, is refused where IAP signs people in with Google's own
client.
"""

from __future__ import annotations

import json
import os
import time

from .google_cloud import GoogleError, access_token, answer_of

IAP_AUDIENCE, IAP_ACCOUNT = "SMOKE_IAP_AUDIENCE", "SMOKE_IAP_ACCOUNT"
"""Variables: what tokens are signed for, `https://HOST/*`, and the account that signs them."""

CREDENTIALS = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts"
LIFETIME_S = 3600
"""The longest that IAP takes ("Programmatic authentication", 2026-11)."""
EARLY_S = 600
"""A token is asked for again so long before it ends."""


class Tokens:
    """Tokens of one account for one audience; each is kept until it is about to end."""

    def __init__(self, audience: str, account: str) -> None:
        self.audience, self.account = audience, account
        self._token, self._ends = "", 0.0

    def token(self) -> str:
        """One that holds for ten minutes at least. Raises GoogleError, with what to look at."""
        now = time.time()
        if now > self._ends - EARLY_S:
            self._token = self._signed(now)
            self._ends = now + LIFETIME_S
        return self._token

    def _signed(self, now: float) -> str:
        who, until = self.account, int(now) + LIFETIME_S
        claims = {"iss": who, "sub": who, "aud": self.audience, "iat": int(now), "exp": until}
        headers = {"Authorization": f"Bearer {access_token()}", "Content-Type": "application/json"}
        body = json.dumps({"payload": json.dumps(claims)}).encode()
        try:
            return str(answer_of(f"{CREDENTIALS}/{who}:signJwt", headers, body)["signedJwt"])
        except GoogleError as error:
            right = f"has the job's account the right iam.serviceAccounts.signJwt on {who}?"
            raise GoogleError(f"{error}: {right}", error.status) from None


def from_environment() -> Tokens | None:
    """Those that the job's environment asks for; None where it asks for none."""
    audience, account = os.environ.get(IAP_AUDIENCE), os.environ.get(IAP_ACCOUNT)
    return Tokens(audience, account) if audience and account else None
