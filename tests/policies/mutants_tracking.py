"""Mutants of the tracking server: walls between teams taken down one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.policies.cases_sign_on import GOOD
from tests.policies.mutants import DEPLOYMENT, Mutant, edit
from trainyard.recorded.model import UNKNOWN

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SECRET = "kubernetes:core/v1:Secret"
Into = Callable[[dict[str, Any]], None]


def _server(change: Into) -> Into:
    """Changes the container that the server runs in."""

    def into(inputs: dict[str, Any]) -> None:
        (server,) = [each for each in inputs["spec"]["template"]["spec"]["containers"] if each["name"] == "server"]
        change(server)

    return into


def _without_option(option: str) -> Into:
    def change(server: dict[str, Any]) -> None:
        server["command"] = [part for part in server["command"] if not str(part).startswith(option)]

    return change


def _variable(name: str, value: str) -> Into:
    def change(server: dict[str, Any]) -> None:
        (entry,) = [each for each in server["env"] if each["name"] == name]
        entry["value"] = value

    return change


def _older(server: dict[str, Any]) -> None:
    server["image"] = "burakince/mlflow:3.14.0@sha256:" + "a" * 64


def _configuration(old: str, new: str) -> Into:
    def into(inputs: dict[str, Any]) -> None:
        held = inputs["stringData"].value
        if held is UNKNOWN:  # the preview: it names a database that is not there yet
            inputs["metadata"]["annotations"] = {"changed": "too"}
            return
        text = held["basic_auth.ini"]
        assert old in text
        inputs["stringData"] = {**held, "basic_auth.ini": text.replace(old, new)}

    return into


def _deployment(policy: str, what: str, change: Into) -> Mutant:
    return Mutant(policy, what, change=edit(DEPLOYMENT, "mlflow-deployment", _server(change)))


def _secret(what: str, old: str, new: str) -> Mutant:
    change = edit(SECRET, "mlflow-server", _configuration(old, new))
    return Mutant("tracking-open-to-other-teams", what, change=change)


def _signed_on(**changes: Any) -> Into:
    """Tells the guard of an identity provider, as the component does, with changes."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["data"]["sign-on.json"] = json.dumps({**GOOD, **changes})

    return into


def _sign_on(what: str, **changes: Any) -> Mutant:
    return Mutant("sign-on-lets-in-others", what, change=edit(CONFIG_MAP, "mlflow-runtime", _signed_on(**changes)))


TRACKING = (
    _sign_on("no audience", audience=""),
    _sign_on("an issuer without TLS", issuer="http://login.acme.example/tenant"),
    _sign_on("two teams of one group", teams={"vision": "ml", "language": "ml"}),
    _deployment("tracking-without-authentication", "no accounts", _without_option("--app-name")),
    _deployment("tracking-without-authentication", "no TLS", _without_option("--uvicorn-opts")),
    _deployment(
        "tracking-without-authentication", "what nobody judges is open", _variable("MLFLOW_BASIC_AUTH_FAIL_CLOSED", "0")
    ),
    _deployment("tracking-gateway-on", "all providers", _variable("MLFLOW_GATEWAY_ALLOWED_PROVIDERS", "openai")),
    _deployment("tracking-version-untested", "3.14.0", _older),
    _secret("every team edits all", "default_permission = NO_PERMISSIONS", "default_permission = EDIT"),
    _secret(
        "MLflow's own authorization", "tracking_guard:authorize", "mlflow.server.auth:authenticate_request_basic_auth"
    ),
)
