"""Truth tables of where teams' pods get to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.policies.truth import OK, UNDECIDED, VIOLATED, kubernetes, table, team, unknown
from trainyard.recorded.model import RecordedResource

OWN = {"podSelector": {}}
HTTPS = [{"port": 443}]


def of_team(name: str) -> Mapping[str, Any]:
    """A peer: all pods of a team."""
    return {"namespaceSelector": {"matchLabels": {"ml.platform/team": name}}}


def called(namespace: str, **pods: Any) -> Mapping[str, Any]:
    """A peer: pods of a namespace by its name."""
    selector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    return {**selector, **({"podSelector": pods} if pods else {})}


def block(cidr: str, *but: str) -> Mapping[str, Any]:
    """A peer by address."""
    return {"ipBlock": {"cidr": cidr, **({"except": list(but)} if but else {})}}


def policy(name: str, out: Sequence[Any] = (), into: Sequence[Any] = (), *, what: str = "more") -> RecordedResource:
    """A network policy of a team's namespace for all of its pods: peers that they get to, and that get to them."""
    rules = {
        "egress": [peer if "to" in peer else {"to": [peer]} for peer in out],
        "ingress": [peer if "from" in peer else {"from": [peer]} for peer in into],
    }
    given = {key: value for key, value in rules.items() if value}
    spec = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], **given}
    return kubernetes("networking.k8s.io/v1:NetworkPolicy", what, f"team-{name}", spec=spec)


def closed(name: str) -> tuple[RecordedResource, ...]:
    """A team whose pods reach each other, and nobody else."""
    return (team(name), policy(name, [OWN], [OWN], what="within"))


APART = (*closed("a"), *closed("b"))

CASES = [
    *table(
        "team-reaches-another-team",
        ("apart", OK, APART),
        ("one team alone", OK, closed("a")),
        (
            "out of one, into the other",
            VIOLATED,
            [*APART, policy("a", [of_team("b")]), policy("b", (), [of_team("a")])],
        ),
        ("out of one only", VIOLATED, [*APART, policy("a", [of_team("b")])]),
        ("into the other only", VIOLATED, [*APART, policy("b", (), [of_team("a")])]),
        (
            "by the namespace's name",
            VIOLATED,
            [*APART, policy("a", [called("team-b")]), policy("b", (), [called("team-a")])],
        ),
        (
            "by a label that members write themselves",
            VIOLATED,
            [*APART, policy("a", [of_team("b")]), policy("b", (), [called("team-a", matchLabels={"shared": "yes"})])],
        ),
        (
            "by address on the way out",
            VIOLATED,
            [*APART, policy("a", [block("10.0.0.0/8")]), policy("b", (), [of_team("a")])],
        ),
        (
            "HTTPS to everywhere, and a door on 443",
            VIOLATED,
            [
                *APART,
                policy("a", [{"to": [block("0.0.0.0/0")], "ports": HTTPS}]),
                policy("b", (), [{"from": [of_team("a")], "ports": HTTPS}]),
            ],
        ),
        (
            "HTTPS to everywhere, and a door on another port",
            VIOLATED,
            [
                *APART,
                policy("a", [{"to": [block("0.0.0.0/0")], "ports": HTTPS}]),
                policy("b", (), [{"from": [of_team("a")], "ports": [{"port": 8080}]}]),
            ],
        ),
        ("no wall around either", VIOLATED, [team("a"), team("b")]),
        ("no wall around one of them", OK, [*closed("a"), team("b")]),
        (
            "a third namespace of the platform's",
            OK,
            [*APART, policy("a", [called("mlflow")]), policy("b", [called("mlflow")], [called("monitoring")])],
        ),
        ("unknown", UNDECIDED, [*APART, unknown(policy("b", (), [of_team("a")]), "spec", "ingress")]),
    ),
]
