"""Security: the tracking server. It asks who somebody is, keeps teams apart, and is the version that was attacked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from pulumi_policy import Severity

from trainyard.catalog import pins
from trainyard.policies import pods, tracking_starts
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnreadableInput, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DATABASE, GCP_DATABASE_USER

_CONTROLS = ("CIS EKS 1.5.0 5.1.1", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3")


def _servers(resource: RecordedResource) -> Iterator[tuple[str, Any, list[str]]]:
    """Every container that starts an MLflow server: where it is, the container, and its command line."""
    for where, container in pods.containers(resource):
        for line in tracking_starts.lines(container):
            yield where, container, line


def _option(line: list[str], name: str) -> str:
    """The value of an option, given as `--name=value` or as `--name value`; empty where it is not there."""
    for at, part in enumerate(line):
        if part == name:
            return line[at + 1] if at + 1 < len(line) else ""
        if part.startswith(f"{name}="):
            return part.removeprefix(f"{name}=")
    return ""


def _variable(container: Any, name: str) -> str | None:
    """The value of an environment variable of a container; None where it has none."""
    for entry in list_at(container, "env"):
        if value_at(entry, "name") == name:
            return str(value_at(entry, "value", default=""))
    return None


@resource_rule(
    "tracking-without-authentication",
    "The tracking server asks for a login, refuses routes that nobody judges, and takes passwords over TLS only.",
    types=pods.TYPES,
    severity=Severity.CRITICAL,
    controls=_CONTROLS,
    fix="Start the server as MlflowServer does: --app-name=basic-auth, and a certificate in --uvicorn-opts.",
)
def tracking_without_authentication(resource: RecordedResource, _: Config) -> Iterator[str]:
    """The options of `mlflow server`, read in MLflow 3.17.2."""
    for where in tracking_starts.unseen(resource):
        yield f"{where}: what it starts cannot be read: whether it asks for a login, nobody can tell"
    for where, container, line in _servers(resource):
        asks = _option(line, "--app-name") == "basic-auth"
        if not asks:
            yield f"{where}: mlflow server without --app-name=basic-auth lets anybody in"
        if (_variable(container, "MLFLOW_BASIC_AUTH_FAIL_CLOSED") or "true").lower() not in ("true", "1"):
            yield f"{where}: MLFLOW_BASIC_AUTH_FAIL_CLOSED is off: routes that nobody judges are open"
        yield from _hosts(where, line)
        if asks and not _has_accounts(resource, container):
            yield f"{where}: MLFLOW_AUTH_CONFIG_PATH names no file of a volume: MLflow's own password is known"
        if "--ssl-certfile" not in _option(line, "--uvicorn-opts"):
            yield f"{where}: {'passwords come' if asks else 'what is sent comes'} in without TLS"


def _hosts(where: str, line: list[str]) -> Iterator[str]:
    """Whether a page of anybody's may send requests by a person's browser."""
    if "--disable-security-middleware" in line or "*" in _option(line, "--allowed-hosts").split(","):
        yield f"{where}: requests for any host are taken, so any page sends them by a person's browser"
    if "*" in _option(line, "--cors-allowed-origins").split(","):
        yield f"{where}: pages of any origin may send requests by a person's browser and read the answers"


def _has_accounts(resource: RecordedResource, container: Any) -> bool:
    """Whether the accounts' configuration may come from a volume that something is in; not said: it may."""
    path = _variable(container, "MLFLOW_AUTH_CONFIG_PATH")
    if path is None:
        return bool(list_at(container, "envFrom"))
    mounts = [mount for mount in list_at(container, "volumeMounts") if _below(path, str(value_at(mount, "mountPath")))]
    if not path or not mounts:
        return not path  # from elsewhere (valueFrom), or a file of the image
    nearest = max(mounts, key=lambda mount: len(str(value_at(mount, "mountPath"))))
    name = value_at(nearest, "name")
    for _, spec in pods.pod_specs(resource):
        for volume in list_at(spec, "volumes"):
            if value_at(volume, "name") == name and value_at(volume, "emptyDir") is not None:
                return any(
                    value_at(mount, "name") == name
                    for first in list_at(spec, "initContainers")
                    for mount in list_at(first, "volumeMounts")
                )
    return True


def _below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place.rstrip('/')}/")


@resource_rule(
    "tracking-gateway-on",
    "The tracking server calls no other servers for its users.",
    types=pods.TYPES,
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 CM-7", "ISO 27001:2022 A.8.19"),
    fix="Set MLFLOW_GATEWAY_ALLOWED_PROVIDERS to none.",
)
def tracking_gateway_on(resource: RecordedResource, _: Config) -> Iterator[str]:
    """A gateway secret with any address made the server ask its own localhost (MLflow 3.14.0)."""
    for where, container, _line in _servers(resource):
        if (providers := _variable(container, "MLFLOW_GATEWAY_ALLOWED_PROVIDERS")) != "none":
            yield f"{where}: MLFLOW_GATEWAY_ALLOWED_PROVIDERS is {providers or 'not set'}: all providers are allowed"
        if (_variable(container, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION") or "").lower() in ("true", "1"):
            yield f"{where}: MLFLOW_SERVER_ENABLE_JOB_EXECUTION is on: the server runs jobs for its users"


@stack_rule(
    "tracking-database-unchecked",
    "The tracking server checks who answers for its database, and signs in there as one who changes rows only.",
    types=(*pods.TYPES, DATABASE, GCP_DATABASE_USER),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-8", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.24"),
    fix="Leave sslmode=verify-full with the cloud's root in --backend-store-uri, and the server's own user.",
)
def tracking_database_unchecked(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Without its certificate checked, whoever answers is the database, and gets the password. The master user of RDS,
    and a user that Cloud SQL's API makes, own every table and may do what a server never has to."""
    owners = {str(value_at(found.inputs, "username", default="")) for found in resources.of(DATABASE)}
    owners |= {str(value_at(found.inputs, "name", unknown="")) for found in resources.of(GCP_DATABASE_USER)}
    for resource in resources.of(*pods.TYPES):
        for where, container, line in _servers(resource):
            address = _address(_option(line, "--backend-store-uri"))
            if not address.scheme.startswith(("postgresql", "mysql")) or not address.hostname or _local(address):
                continue
            told = parse_qs(address.query)
            checks = told.get("sslmode") or told.get("ssl_mode") or [_by_variable(address, container)]
            if checks[0].lower() not in ("verify-full", "verify-ca", "verify_identity", "verify_ca"):
                yield resource, f"{where}: sslmode={checks[0] or 'default'} takes whoever answers for the database"
            if address.username in owners - {""}:
                yield resource, f"{where}: {address.username} owns the database: the server may change its tables too"


def _address(text: str) -> SplitResult:
    """An address of a database, whose password may hold brackets as they are: SQLAlchemy takes them.

    Raises:
        UnreadableInput: what is left is no address.
    """
    try:
        return urlsplit(re.sub(r"(?<=://)[^/]*(?=@)", lambda found: quote(found[0], safe=":%@"), text))
    except ValueError as error:
        raise UnreadableInput("--backend-store-uri", str(error)) from None


def _by_variable(address: SplitResult, container: Any) -> str:
    """What PostgreSQL's client goes by where the address does not say."""
    return (_variable(container, "PGSSLMODE") or "") if address.scheme.startswith("postgresql") else ""


def _local(address: SplitResult) -> bool:
    """Whether a database answers in the pod itself: a proxy of the cloud's beside the server."""
    return address.hostname in ("localhost", "127.0.0.1", "::1")


@resource_rule(
    "tracking-version-untested",
    "The tracking server is of the version that the attacks were tried on.",
    types=pods.TYPES,
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SI-2", "ISO 27001:2022 A.8.8"),
    fix="Take the image of trainyard/catalog/versions.yaml, or raise the version there and run tests/attacks.",
)
def tracking_version_untested(resource: RecordedResource, _: Config) -> Iterator[str]:
    """An image of another registry may be the same version; only the tag tells."""
    for where, container, _line in _servers(resource):
        image = str(value_at(container, "image", default=""))
        if (found := _version(image)) != (tested := _version(pins().image("mlflow"))):
            yield f"{where}: {image} is {found or 'of no version'}, tested is {tested}"


def _version(image: str) -> str:
    """`3.17.2` of `registry:5000/mlflow:v3.17.2-full@sha256:…`; empty where the tag is none."""
    _, colon, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    return tag.removeprefix("v").partition("-")[0] if colon else ""
