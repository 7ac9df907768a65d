"""Security: secrets that stand in the clear, in what pods are given and in the stack file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from trainyard.policies import pods
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.policies.secret_shapes import plain_secret, secret_shape
from trainyard.policies.stack_settings import plain_values
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.read import follow, is_set, known_texts, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import CONFIG_MAP, GCP_RUN_JOB, GCP_RUN_SERVICE, HELM_RELEASE, TRAIN_JOB

_ENVIRONMENTS = ("env", "extraenv", "envvars", "extraenvvars", "environment")
"""Keys of charts' values that hold environment variables, in small letters."""

_ON_RUN = {GCP_RUN_SERVICE: ("template",), GCP_RUN_JOB: ("template", "template")}
"""Where the containers of Cloud Run are."""


@resource_rule(
    "secret-in-the-clear",
    "No password, key or token stands in the clear in what pods and containers of Cloud Run are given.",
    types=(*pods.TYPES, TRAIN_JOB, CONFIG_MAP, HELM_RELEASE, GCP_RUN_SERVICE, GCP_RUN_JOB),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.4.1", "NIST 800-53r5 IA-5(7)", "ISO 27001:2022 A.5.17"),
    fix="Put it into a Secret and refer to that (valueFrom.secretKeyRef, or a file), or into the cloud's secret store.",
)
def secret_in_the_clear(resource: RecordedResource, _: Config) -> Iterator[str]:
    """By the shape of the value and by the variable's name; the value itself is never told."""
    if resource.type == CONFIG_MAP:
        data = value_at(resource.inputs, "data", unknown={}) or {}
        yield from _told("data", data.items() if isinstance(data, Mapping) else ())
    elif resource.type == HELM_RELEASE:
        values = value_at(resource.inputs, "values", unknown={}) or {}
        yield from dict.fromkeys((*_of_values(values, "values"), *_shapes(values, "values")))
    elif resource.type in _ON_RUN:
        for at, container in enumerate(list_at(resource.inputs, *_ON_RUN[resource.type], "containers")):
            where = f"container {at}"
            yield from _told(where, map(_variable, list_at(container, "envs")))
            for key in ("commands", "args"):
                yield from _shapes(value_at(container, key, unknown=[]), f"{where}: {key}")
    else:
        for where, container in pods.containers(resource):
            yield from _told(where, map(_variable, list_at(container, "env")))
            for key in ("command", "args"):
                yield from _shapes(value_at(container, key, unknown=[]), f"{where}: {key}")


def _variable(variable: Any) -> tuple[str, Any]:
    """Name and plain value; None where the value comes from somewhere else."""
    if is_set(variable, "valueFrom") or is_set(variable, "valueSource"):
        return "", None
    return str(value_at(variable, "name", default="")), value_at(variable, "value", unknown=UNKNOWN)


def _entry(name: str, value: Any) -> tuple[str, Any]:
    """A variable of a mapping: a text, or what a list would have beside its name (`value`, `valueFrom`)."""
    return _variable({"name": name, **value}) if isinstance(value, Mapping) else (name, value)


def _told(where: str, given: Any) -> Iterator[str]:
    for name, value in given:
        kind = plain_secret(str(name), value)
        if kind:
            yield f"{where}: {name} is {kind}, in the clear"


def _shapes(value: Any, where: str) -> Iterator[str]:
    for path, text in known_texts(value):
        kind = secret_shape(text)
        if kind:
            yield f"{where}{path if path.startswith('[') else f'.{path}' if path else ''} is {kind}, in the clear"


def _of_values(value: Any, where: str) -> Iterator[str]:
    """Environment variables among a chart's values: as a mapping, or as a list of names with values."""
    if isinstance(value, Mapping):
        for key in value:
            item, place = follow(value, key), f"{where}.{key}"
            inner = value_at(item, unknown=None)
            if str(key).lower() in _ENVIRONMENTS and isinstance(inner, Mapping):
                yield from _told(place, (_entry(name, value_at(inner, name, unknown=UNKNOWN)) for name in inner))
            elif str(key).lower() in _ENVIRONMENTS and isinstance(inner, (list, tuple)):
                yield from _told(place, map(_variable, list_at(inner)))
            else:
                yield from _of_values(inner, place)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _of_values(value_at(item, unknown=None), f"{where}[{index}]")


@stack_rule(
    "key-in-the-stack-file",
    "The stack file holds no key of a cloud, no password and no token in the clear.",
    types=(),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 1.14", "NIST 800-53r5 IA-5(7)", "ISO 27001:2022 A.5.17"),
    fix="Sign in by federation, and take the key out: `pulumi config rm KEY`. What must stay: `config set --secret`.",
)
def key_in_the_stack_file(_: Resources, __: Config) -> Iterator[StackViolation]:
    """Keys of all namespaces: `aws:secretKey`, `gcp:credentials`, a kubeconfig with a token. Encrypted ones pass."""
    values = plain_values()
    if values is None:
        raise NotApplicable(
            "an engine does not tell a pack which values are encrypted; `trainyard check` reads the file"
        )
    told: set[str] = set()
    for path, value in values:
        kind = plain_secret(path.rsplit(".", 1)[-1].rsplit(":", 1)[-1], value)
        if kind and not any(path.startswith((f"{above}.", f"{above}[")) for above in told):
            told.add(path)
            yield None, f"{path} is {kind}, in the clear"
