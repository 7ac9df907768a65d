"""Whose token a request carries: single sign-on of people at the tracking server, beside the passwords of logins.

A token is a JSON Web Token that the identity provider signed (OpenID Connect: an ID token, or an access token of RFC
9068). It is good when one of the issuer's present keys signed it with RS256 or ES256, for this audience, and it is
within its time. A claim of it names groups; the group of exactly one team makes it that team's, with the rights of the
team's account and no others. Who is of no team or of several is refused: a request has one account.

Keys are fetched from one address that the stack names, over HTTPS, and no request of a client moves it: nothing is
read from the token's own header but which key and which algorithm. They are fetched again when they are old or a token
names a key that is not among them, at most once in `AGAIN_SECONDS`; where the issuer does not answer, the last ones
are good for `KEEP_SECONDS`.

The file that `tracking_guard.py` reads holds `issuer`, `audience`, `keysUrl`, `claim`, `personClaim`, `teams` (team to
group) and, where there is one, `proxy`.
"""

import http.client
import json
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError
from joserfc.jwk import ECKey, RSAKey

KINDS = {"RS256": "RSA", "ES256": "EC"}
"""The algorithms that are taken, and the type of key of each: a public key is never a shared secret, and `none` is not
among them."""
LEAST_RSA_BITS = 2048
"""RFC 7518 section 3.3."""
SKEW_SECONDS = 60
REFRESH_SECONDS = 600.0
AGAIN_SECONDS = 30.0
KEEP_SECONDS = 86_400.0
FETCH_SECONDS = 5.0
LARGEST_BYTES = 1 << 20
LONGEST_TOKEN = 16_384


class TokenError(Exception):
    """The token does not say who somebody is; the text says why and holds nothing of it."""


class NoTeamError(Exception):
    """The token is good, and its owner is of no team here, or of several; the text says so."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keys are at the address that the stack names, or nowhere."""

    def redirect_request(self, *_: Any) -> None:
        """None leaves the answer what it is, which is a failure."""


def fetch(url: str, proxy: str) -> bytes:
    """What is at an address. Raises OSError where it does not answer."""
    if not url.startswith("https://"):
        raise OSError("keys are fetched over HTTPS only")
    handlers = [urllib.request.ProxyHandler({"https": proxy} if proxy else {}), _NoRedirects()]
    try:
        with urllib.request.build_opener(*handlers).open(url, timeout=FETCH_SECONDS) as answer:
            content: bytes = answer.read(LARGEST_BYTES + 1)
    except http.client.HTTPException as error:
        raise OSError(f"{type(error).__name__}") from None
    if len(content) > LARGEST_BYTES:
        raise OSError(f"more than {LARGEST_BYTES} bytes")
    return content


Key = RSAKey | ECKey


def keys_of(content: bytes) -> dict[str, Key]:
    """The keys of a key set (RFC 7517) that sign tokens, by their id. Raises ValueError where it is none.

    A key without an id, for another use or of another kind is left out: one that we do not know must not close the door
    to the others.
    """
    found: dict[str, Key] = {}
    listed = json.loads(content)
    if not isinstance(listed, dict) or not isinstance(listed.get("keys"), list):
        raise ValueError("no key set")
    for data in listed["keys"]:
        if not isinstance(data, dict) or not isinstance(data.get("kid"), str) or data.get("use", "sig") != "sig":
            continue
        kind = data.get("kty")
        try:
            if kind == "RSA":
                rsa = RSAKey.import_key(data)
                if rsa.raw_value.key_size >= LEAST_RSA_BITS and not rsa.is_private:
                    found[data["kid"]] = rsa
            elif kind == "EC" and data.get("crv") == "P-256":
                curve = ECKey.import_key(data)
                if not curve.is_private:
                    found[data["kid"]] = curve
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    if not found:
        raise ValueError("no key that signs tokens with RS256 or ES256")
    return found


@dataclass
class Keys:
    """The issuer's keys, as of the last time that they were fetched."""

    url: str
    proxy: str = ""
    get: Callable[[str, str], bytes] = fetch
    clock: Callable[[], float] = time.monotonic
    log: Callable[[str], None] = print
    _known: dict[str, Key] = field(default_factory=dict)
    _fetched: float = float("-inf")
    _tried: float = float("-inf")
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, name: str) -> Key | None:
        """The key of this id. Raises TokenError when the issuer's keys are not known."""
        with self._lock:
            now = self.clock()
            wanted = name not in self._known or now - self._fetched >= REFRESH_SECONDS
            if wanted and now - self._tried >= AGAIN_SECONDS:
                self._fetch(now)
            if now - self._fetched >= KEEP_SECONDS:
                raise TokenError("the issuer's keys cannot be read at the moment")
            return self._known.get(name)

    def _fetch(self, now: float) -> None:
        self._tried = now
        try:
            self._known = keys_of(self.get(self.url, self.proxy))
        except (OSError, ValueError) as error:
            self.log(f"sign-on: the keys at {self.url} cannot be read: {type(error).__name__}: {error}")
        else:
            self._fetched = now


@dataclass(frozen=True)
class Tokens:
    """Judges tokens, as one stack's settings have it."""

    issuer: str
    audience: str
    claim: str
    person_claim: str
    teams: Mapping[str, str]
    keys: Keys

    @classmethod
    def of_file(cls, path: Path, log: Callable[[str], None]) -> "Tokens":
        """Reads the configuration. Raises ValueError or KeyError where it lacks something."""
        found = json.loads(path.read_text("utf-8"))
        texts = {key: found[key] for key in ("issuer", "audience", "keysUrl", "claim", "personClaim")}
        for key, value in texts.items():
            if not isinstance(value, str) or not value:
                raise ValueError(f"{path.name}: {key} is empty")
        if not texts["keysUrl"].startswith("https://"):
            raise ValueError(f"{path.name}: keysUrl is not https")
        teams = dict(found["teams"])
        if len(set(teams.values())) < len(teams):
            raise ValueError(f"{path.name}: two teams have one group")
        return cls(
            issuer=texts["issuer"],
            audience=texts["audience"],
            claim=texts["claim"],
            person_claim=texts["personClaim"],
            teams=teams,
            keys=Keys(texts["keysUrl"], found.get("proxy", ""), log=log),
        )

    def login(self, token: str) -> tuple[str, str]:
        """The team of a token's owner, and who that is. Raises TokenError or NoTeamError."""
        claims = self._claims(token)
        groups = claims.get(self.claim)
        held = {groups} if isinstance(groups, str) else set()
        if isinstance(groups, list):
            held = {each for each in groups if isinstance(each, str)}
        teams = sorted(team for team, group in self.teams.items() if group in held)
        if not teams:
            raise NoTeamError(f"no group in the token's claim {self.claim!r} is a team's here")
        if len(teams) > 1:
            raise NoTeamError(
                f"the token is of the teams {' and '.join(teams)}, and a request has one account: use a login of the "
                "team that you mean"
            )
        person = claims.get(self.person_claim)
        return teams[0], person if isinstance(person, str) and person else str(claims["sub"])

    def _key(self, token: Any) -> Key:
        """The key that a token names; the library has read no more of it than its header."""
        header = token.headers()
        algorithm, name = header.get("alg"), header.get("kid")
        if algorithm not in KINDS:
            raise TokenError(f"the token is signed with none of {', '.join(KINDS)}")
        if not isinstance(name, str):
            raise TokenError("the token does not name the key that signed it")
        key = self.keys.find(name)
        if key is None or key.key_type != KINDS[algorithm]:
            raise TokenError("the token is signed with no key of the issuer's")
        return key

    def _claims(self, token: str) -> dict[str, Any]:
        if len(token) > LONGEST_TOKEN:
            raise TokenError("the token is too long")
        try:
            claims = jwt.decode(token, self._key, algorithms=list(KINDS)).claims
            # `nbf` and `iat` are compared where they are there; a token without an essential one is refused.
            jwt.JWTClaimsRegistry(
                leeway=SKEW_SECONDS,
                iss={"essential": True, "value": self.issuer},
                aud={"essential": True, "value": self.audience},
                exp={"essential": True},
                sub={"essential": True},
            ).validate(claims)
        except ExpiredTokenError:
            raise TokenError("the token has expired") from None
        except ClaimError as error:
            raise TokenError(f"the token's claim {error.claim!r} is not what it has to be") from None
        except (JoseError, ValueError, TypeError) as error:
            raise TokenError(f"the token cannot be read: {type(error).__name__}") from None
        return claims
