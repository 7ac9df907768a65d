"""The keys of an identity provider: when they are fetched, how long they are good for, which are left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.attacks import issuer as provider
from tests.attacks.issuer import AUDIENCE, HOST, ISSUER, KEYS_PATH
from tests.components.k8s.addresses import ADDRESSES
from tests.components.k8s.certificates import authority
from tests.components.k8s.mlflow_support import recorded
from tests.pulumi_harness import plain
from trainyard.components.k8s.mlflow_runtime import sign_on
from trainyard.components.k8s.mlflow_runtime.sign_on import AGAIN_SECONDS, KEEP_SECONDS, REFRESH_SECONDS, Keys

ONE, TWO = provider.rsa("one"), provider.curve("two")


class Source:
    """What an issuer answers, and what time it is."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.answer: bytes | OSError = self.set_of(ONE)
        self.log: list[str] = []
        self.keys = Keys("https://x/keys", get=self.get, clock=lambda: self.now, log=self.log.append)

    @staticmethod
    def set_of(*keys: Any) -> bytes:
        return json.dumps({"keys": [key.as_dict(private=False) for key in keys]}).encode()

    def get(self, url: str, proxy: str) -> bytes:
        self.asked += 1
        if isinstance(self.answer, OSError):
            raise self.answer
        return self.answer


def test_keys_are_fetched_when_they_are_old_or_one_is_missing() -> None:
    source = Source()
    assert source.keys.find("one") and source.keys.find("one")
    assert source.asked == 1
    source.answer = source.set_of(ONE, TWO)
    assert source.keys.find("two") is None, "not more than once in a while"
    assert source.asked == 1
    source.now += AGAIN_SECONDS
    assert source.keys.find("two")
    assert source.asked == 2
    source.answer = source.set_of(TWO)
    source.now += REFRESH_SECONDS
    assert source.keys.find("one") is None, "a key that the issuer withdrew is good no more"


@pytest.mark.parametrize("failure", [OSError("no way"), b"<html>", b"[]", b'{"keys": 1}', b'{"keys": []}', b"\xff"])
def test_the_last_keys_are_good_while_the_issuer_is_out_of_order_and_not_for_ever(failure: bytes | OSError) -> None:
    source = Source()
    assert source.keys.find("one")
    source.answer = failure
    source.now += REFRESH_SECONDS
    assert source.keys.find("one")
    assert "cannot be read" in source.log[-1]
    source.now += KEEP_SECONDS
    with pytest.raises(sign_on.TokenError, match="cannot be read at the moment"):
        source.keys.find("one")
    source.answer = source.set_of(ONE)
    source.now += AGAIN_SECONDS
    assert source.keys.find("one")


def test_an_issuer_that_never_answered_is_asked_once_in_a_while() -> None:
    source = Source()
    source.answer = OSError("no way")
    for _ in range(5):
        with pytest.raises(sign_on.TokenError):
            source.keys.find("one")
    assert source.asked == 1


def test_keys_that_sign_nothing_here_are_left_out() -> None:
    public = ONE.as_dict(private=False)
    others: list[Any] = [
        {**public, "kid": "encrypts", "use": "enc"},
        {key: value for key, value in public.items() if key != "kid"},
        {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
        {"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
        {**ONE.as_dict(private=True), "kid": "private"},
        {"kty": "EC", "kid": "other-curve", "crv": "P-384", "x": "AA", "y": "AA"},
        {"kty": "RSA", "kid": "broken", "n": "!", "e": 3},
        {"kty": "quantum", "kid": "new"},
        "text",
    ]
    assert set(sign_on.keys_of(json.dumps({"keys": [*others, public]}).encode())) == {"one"}
    with pytest.raises(ValueError, match="no key"):
        sign_on.keys_of(json.dumps({"keys": others}).encode())


def test_keys_come_over_tls_by_way_of_the_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ca.pem").write_text(authority()[0])
    url = f"https://{HOST}{KEYS_PATH}"
    with provider.issuer(ONE) as found:
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            sign_on.fetch(url, found.proxy)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        assert set(sign_on.keys_of(sign_on.fetch(url, found.proxy))) == {"one"}
        with pytest.raises(OSError, match="503"):
            sign_on.fetch(f"https://{HOST}/elsewhere", found.proxy)
        with pytest.raises(OSError, match="403"):
            sign_on.fetch("https://other.example/keys", found.proxy)
        with pytest.raises(OSError, match="HTTPS only"):
            sign_on.fetch(f"http://{HOST}{KEYS_PATH}", found.proxy)
        found.redirect = "https://other.example/keys"
        with pytest.raises(OSError, match="302"):
            sign_on.fetch(url, found.proxy)


GOOD: dict[str, Any] = {
    "issuer": ISSUER,
    "audience": AUDIENCE,
    "keys_url": f"https://{HOST}{KEYS_PATH}",
    "claim": "groups",
    "person_claim": "email",
    "teams": {"vision": "ml-vision"},
}
PROXY = {"url": "http://proxy:3129", "namespace": "egress-proxy", "port": 3129}
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"issuer": "http://login.example"}, "issuer has to be https"),
        ({"keys_url": "http://login.example/keys"}, "keys_url has to be https"),
        ({"keys_url": "https://login.example:8443/keys"}, "port 443"),
        ({"audience": ""}, "audience is empty"),
        ({"claim": ""}, "claim is empty"),
        ({"teams": {}}, "group of its own"),
        ({"teams": {"vision": ""}}, "group of its own"),
        ({"teams": {"vision": "ml", "language": "ml"}}, "group of its own"),
        ({"teams": {"speech": "ml"}}, "'speech', which is no team"),
    ],
)
def test_a_sign_on_that_lets_in_others_is_refused(change: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        recorded(sign_on={**GOOD, **change})


def test_the_guard_is_told_and_the_way_is_open_to_the_proxy_alone() -> None:
    def made(**changes: Any) -> tuple[dict[str, str], list[Any], dict[str, str]]:
        recording = recorded(**changes)
        data = plain(recording.one("kubernetes:core/v1:ConfigMap").inputs)["data"]
        egress = plain(recording.one(POLICY, "mlflow-server-egress").inputs)["spec"]["egress"]
        template = recording.one("kubernetes:apps/v1:Deployment").inputs["spec"]["template"]
        return data, egress, template["metadata"]["annotations"]

    data, egress, annotations = made(sign_on={**GOOD, "proxy": PROXY})
    without, before, others = made()
    assert set(data) - set(without) == {"sign-on.json"}
    assert annotations != others, "another provider is another pod"
    (way,) = [rule for rule in egress if rule not in before]
    assert way["ports"] == [{"protocol": "TCP", "port": 3129}]
    assert way["to"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "egress-proxy"}}}]
    _, direct, _ = made(sign_on=GOOD)
    (outside,) = [rule for rule in direct if rule not in before]
    assert outside["to"][0]["ipBlock"]["cidr"] == "0.0.0.0/0"
    assert ADDRESSES["own"][0] in outside["to"][0]["ipBlock"]["except"]


def test_the_guard_reads_what_the_component_writes(tmp_path: Path) -> None:
    data = plain(recorded(sign_on={**GOOD, "proxy": PROXY}).one("kubernetes:core/v1:ConfigMap").inputs)["data"]
    file = tmp_path / "sign-on.json"
    file.write_text(data["sign-on.json"])
    tokens = sign_on.Tokens.of_file(file, print)
    assert (tokens.issuer, tokens.audience, tokens.keys.proxy) == (ISSUER, AUDIENCE, "http://proxy:3129")
    assert tokens.teams == {"vision": "ml-vision"}
    for change in ({"audience": ""}, {"keysUrl": "http://x"}, {"teams": {"a": "g", "b": "g"}}, {"issuer": None}):
        file.write_text(json.dumps({**json.loads(data["sign-on.json"]), **change}))
        with pytest.raises(ValueError, match=r"sign-on\.json"):
            sign_on.Tokens.of_file(file, print)
