"""Security: teams in the tracking server. What one made another sees at most."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.conventions import MLFLOW_ADMIN, MLFLOW_AUTHORIZATION, MLFLOW_PERMISSIONS
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.read import mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import CONFIG_MAP, SECRET

_CONFIGURATION = "basic_auth.ini"


_CONTROLS = ("CIS EKS 1.5.0 5.1.1", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3")


@stack_rule(
    "tracking-open-to-other-teams",
    "What a team keeps in the tracking server another team sees at most, and the guard of the requests is in use.",
    types=(SECRET, CONFIG_MAP),
    severity=Severity.HIGH,
    controls=_CONTROLS,
    fix="Set mlflow.defaultPermission to NO_PERMISSIONS or READ, and leave the authorization function as it is.",
)
def tracking_open_to_other_teams(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """The configuration of MLflow's accounts, in whichever Secret it is, and the function that it names."""
    for resource in resources.of(SECRET):
        text = value_at(resource.inputs, "stringData", _CONFIGURATION)
        if text is not None:
            yield from ((resource, message) for message in _accounts(str(text)))
            yield from _functions(resources, value_at(resource.inputs, "metadata", "namespace"))


def _functions(resources: Resources, namespace: Any) -> Iterator[StackViolation]:
    """Whether the module of the guard is among the programs of the server's namespace, and decides anything. Where no
    program of Python's is recorded there, an image may have it."""
    module, _, function = MLFLOW_AUTHORIZATION.partition(":")
    there = [
        (found, mapping_at(found.inputs, "data"))
        for found in resources.of(CONFIG_MAP)
        if value_at(found.inputs, "metadata", "namespace") == namespace
    ]
    programs = [(found, data) for found, data in there if any(key.endswith(".py") for key in data)]
    having = [(found, str(data[f"{module}.py"])) for found, data in programs if f"{module}.py" in data]
    if programs and not having:
        yield programs[0][0], f"{module}.py, which asks who may do what, is not among the programs"
    for found, text in having:
        if not _decides(text, function):
            yield found, f"{module}.py has no {function} that could refuse anybody"


def _decides(text: str, function: str) -> bool:
    """Whether a function of a program may say one thing or another: it asks, catches, raises or calls."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    bodies = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    deciding = (ast.If, ast.IfExp, ast.BoolOp, ast.Compare, ast.Raise, ast.Try, ast.Call, ast.Match)
    return any(isinstance(each, deciding) for body in bodies for each in ast.walk(body))


def _accounts(text: str) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
        found = dict(parser["mlflow"])
    except (configparser.Error, KeyError):
        yield f"{_CONFIGURATION} is no configuration of MLflow's accounts"
        return
    if (default := found.get("default_permission")) not in MLFLOW_PERMISSIONS:
        yield f"default_permission is {default}: more than seeing what another team made"
    if (function := found.get("authorization_function")) != MLFLOW_AUTHORIZATION:
        yield f"authorization_function is {function}, not {MLFLOW_AUTHORIZATION}"
    if found.get("admin_username", MLFLOW_ADMIN) != MLFLOW_ADMIN:
        yield f"admin_username is not {MLFLOW_ADMIN}, whose logins the guard knows"
