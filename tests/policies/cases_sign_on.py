"""Truth table of single sign-on at the tracking server."""

from __future__ import annotations

import json
from typing import Any

from tests.policies.truth import OK, UNDECIDED, VIOLATED, kubernetes, table, unknown
from trainyard.recorded.model import RecordedResource

GOOD = {
    "issuer": "https://login.acme.example/tenant",
    "audience": "6f1d3c0e",
    "keysUrl": "https://login.acme.example/tenant/keys",
    "claim": "groups",
    "personClaim": "email",
    "teams": {"vision": "ml-vision", "language": "ml-language"},
}


def told(**changes: Any) -> RecordedResource:
    """The configuration with changes; None takes a key away."""
    found = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    return held(json.dumps(found))


def held(text: Any) -> RecordedResource:
    return kubernetes("core/v1:ConfigMap", "runtime", "mlflow", data={"serve.py": "", "sign-on.json": text})


CASES = table(
    "sign-on-lets-in-others",
    ("an issuer, an audience, a group a team", OK, told()),
    ("by way of a proxy", OK, told(proxy="http://egress-proxy.egress-proxy.svc.cluster.local:3129")),
    ("keys at another host, as Google has them", OK, told(keysUrl="https://www.googleapis.com/oauth2/v3/certs")),
    ("no sign-on", OK, kubernetes("core/v1:ConfigMap", "runtime", "mlflow", data={"serve.py": ""})),
    ("no data", OK, kubernetes("core/v1:ConfigMap", "runtime", "mlflow")),
    ("somebody else's file", OK, held('{"audience": "", "issuer": "http://x"}')),
    ("somebody else's file, no JSON", OK, held("issuer: http://x")),
    ("somebody else's list", OK, held("[1]")),
    ("an issuer over http", VIOLATED, told(issuer="http://login.acme.example")),
    ("no issuer", VIOLATED, told(issuer=None)),
    ("keys over http", VIOLATED, told(keysUrl="http://login.acme.example/keys")),
    ("no audience", VIOLATED, told(audience=None)),
    ("an empty audience", VIOLATED, told(audience=" ")),
    ("any audience", VIOLATED, told(audience="*")),
    ("a list of audiences", VIOLATED, told(audience=["a", "b"])),
    ("one group for two teams", VIOLATED, told(teams={"vision": "ml", "language": "ml"})),
    ("an empty group", VIOLATED, told(teams={"vision": ""})),
    ("a group of administrators", VIOLATED, told(teams={"admin": "ml-admins"})),
    ("teams as a list", VIOLATED, told(teams=["vision"])),
    ("unknown", UNDECIDED, unknown(held(""), "data")),
)
