"""Mutants of what a second list of breakages opened and no policy told: each is told by one now."""

from __future__ import annotations

from typing import Any

from tests.policies.cases_openings import called, of_labels, webhook
from tests.policies.mutants import DEPLOYMENT, Change, Mutant, edit, put
from tests.policies.mutants_reach import _with as with_rule
from tests.policies.mutants_walls_network import BUCKET_POLICY, POLICY, statement
from tests.policies.rights_changes import added
from trainyard.recorded.types import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS


def asked(type_: str, **client: Any) -> Change:
    """A webhook more that is asked about pods and secrets."""
    return added(type_, "more", dict(webhook(**client)[1].inputs))


def told(old: str, new: str) -> Change:
    """Tells the tracking server something else, where it is known."""

    def into(inputs: dict[str, Any]) -> None:
        for container in inputs["spec"]["template"]["spec"]["containers"]:
            words = container.get("command")
            if isinstance(words, list):
                container["command"] = [
                    word.replace(old, new) if isinstance(word, str) and word.startswith("--backend-store-uri") else word
                    for word in words
                ]

    return edit(DEPLOYMENT, "mlflow-deployment", into)


OPENINGS = (
    Mutant(
        "admission-by-outsiders",
        "pods are changed elsewhere",
        change=asked(MUTATING_WEBHOOKS, url="https://inject.example.com/"),
    ),
    Mutant(
        "admission-by-outsiders",
        "a team is asked",
        change=asked(VALIDATING_WEBHOOKS, service={"namespace": "team-vision", "name": "w"}),
    ),
    Mutant(
        "team-reaches-controllers",
        "a team's pods out to Kueue",
        change=edit(POLICY, "teams-tabular-allow-within-team", with_rule("egress", {"to": [called("kueue-system")]})),
    ),
    Mutant(
        "team-reaches-controllers",
        "a team's pods into Prometheus",
        change=edit(
            POLICY,
            "monitoring-default-deny",
            with_rule("ingress", {"from": [of_labels(ml_platform__team="vision")], "ports": [{"port": 9090}]}),
        ),
    ),
    Mutant(
        "bucket-without-owner-binding",
        "whoever has an account",
        change=statement(
            BUCKET_POLICY,
            "acme-demo-checkpoints-policy",
            "DenyOtherOwners",
            put("Condition", "StringNotEquals", value={"aws:PrincipalAccount": "*"}),
        ),
    ),
    Mutant("tracking-database-unchecked", "whoever answers", change=told("sslmode=verify-full", "sslmode=require")),
    Mutant("tracking-database-unchecked", "the master user", change=told("mlflow_server_v1@", "mlflow@")),
)
