"""A tracking server on Cloud Run: does it listen where it is asked, under its own name, with a database that it
reaches?

Source: Cloud Run, "Configure container health checks", "Direct VPC egress" and "Deterministic URLs"; MLflow 3.17.2
(`--allowed-hosts`, its paths without a check of the host); Cloud SQL, "IAM database authentication"; as read and
generally known in 2026-11.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from trainyard.recorded.read import split_url
from trainyard.recorded.types import CLOUD_SQL, GCP_DATABASE_USER, GCP_NETWORK, GCP_RUN_JOB, GCP_RUN_SERVICE
from trainyard.rehearsal.context import Stack, View

DOOR: Final = "gcp:iap/webCloudRunServiceIamMember:WebCloudRunServiceIamMember"
ROOT: Final = "--default-artifact-root="
HOSTS: Final = "--allowed-hosts="
HOSTS_VARIABLE: Final = "MLFLOW_SERVER_ALLOWED_HOSTS"
STORE: Final = "--backend-store-uri="
PORT: Final = "--port="
_TAKE_A_VALUE: Final = (ROOT, HOSTS, STORE, PORT)
_UNGUARDED: Final = ("--disable-security-middleware", "MLFLOW_SERVER_DISABLE_SECURITY_MIDDLEWARE")
"""What lets every host by: an option, or its variable."""
_GUARDED_SINCE: Final = (3, 5)
"""MLflow knows no allowed hosts before (its release notes, 3.5.0)."""
_VERSION: Final = re.compile(r"mlflow(?:-[a-z]+)*:v?(\d+)\.(\d+)\b")

_UNCHECKED: Final = ("/health", "/version")
"""Paths that MLflow answers under any host (mlflow.server.security_utils, 3.17.2)."""
_OF_AN_ACCOUNT: Final = ".iam"
"""How the name of an account ends, as PostgreSQL knows it."""
_LARGE: Final = "Cloud Run takes no request above 32 MiB, and a model is larger"


def container_of(view: View, at: str) -> str:
    """Where the container is that requests go to: the one with a port where others run beside it, else the first."""
    own = (path for path, each in view.items(f"{at}containers") if "ports" in each)
    return next(own, f"{at}containers[0]")


def words_of(view: View, at: str) -> list[str]:
    """The command of the server; an option and its value are one word, as they may be written."""
    own = container_of(view, at)
    words = [*view.texts(f"{own}.commands"), *view.texts(f"{own}.args")]
    joined: list[str] = []
    for word in words:
        if joined and f"{joined[-1]}=" in _TAKE_A_VALUE:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def check(stack: Stack) -> None:
    """Looks at services, and at jobs that reach a database as they do."""
    for view in stack.of_type(GCP_RUN_SERVICE):
        words = words_of(view, "template.")
        _ports(view, words)
        _database(stack, view, "template.", words)
        _mounted(stack, view, "template.")
        if "mlflow" in words and "server" in words:
            _mlflow(view, words)
    for view in stack.of_type(GCP_RUN_JOB):
        _database(stack, view, "template.template.", words_of(view, "template.template."))
        _mounted(stack, view, "template.template.")
    for view in stack.of_type(DOOR):
        service = view.referred("cloudRunServiceName", GCP_RUN_SERVICE)
        if service is None or service.resource.read:  # of one that is looked up only the name is known
            continue
        if service.lacks("iapEnabled") or service.flag("iapEnabled") is False:
            message = f"lets somebody through IAP, which does not stand before {service.resource.name}: nobody comes in"
            view.error("run-iap-off", "cloudRunServiceName", message, hint="iapEnabled: true on the service")


def _ports(view: View, words: list[str]) -> None:
    """What listens and what is sent to are one port."""
    at = container_of(view, "template.")
    listens = _listens(words)
    unknown = any(view.is_unknown(path) for path in (f"{at}.ports", f"{at}.ports.containerPort"))
    port = view.number(f"{at}.ports.containerPort") or 8080  # Cloud Run's default
    if listens.isdigit() and not unknown and int(listens) != port:
        message = f"requests go to {port:g}, and the server listens on {listens}"
        view.error("run-port", f"{at}.ports.containerPort", message, hint=listens)


def _listens(words: list[str]) -> str:
    return next((word.removeprefix(PORT) for word in words if word.startswith(PORT)), "")


def _mlflow(view: View, words: list[str]) -> None:
    at = container_of(view, "template.")
    variables = _variables(view, at)
    allowed = next((word.removeprefix(HOSTS) for word in words if word.startswith(HOSTS)), None)
    guarded = _is_guarded(view, at, allowed is not None) and not {*words, *variables}.intersection(_UNGUARDED)
    for probe in ("startupProbe", "livenessProbe") if guarded and allowed != "*" else ():
        path = view.text(f"{at}.{probe}.httpGet.path")
        if path is not None and path not in _UNCHECKED:
            message = f"{path} is answered under the server's own host alone, which no probe names: no instance is well"
            view.error("run-probe", f"{at}.{probe}.httpGet.path", message, hint=_UNCHECKED[0])
    listens = _listens(words)
    for probe in ("startupProbe", "livenessProbe"):  # MLflow has one port alone, for probes too
        probed = view.number(f"{at}.{probe}.httpGet.port")
        if probed is not None and listens.isdigit() and probed != int(listens):
            message = f"asks port {probed:g}, and the server listens on {listens}: no instance is ever well"
            view.error("run-probe", f"{at}.{probe}.httpGet.port", message, hint=listens)
    name = view.text("name")
    if name and guarded and allowed is not None and not any(_is_own(host, name) for host in allowed.split(",")):
        message = (
            f"answers requests for {allowed}, and is reached as {name}-PROJECTNUMBER.REGION.run.app: all are refused"
        )
        view.error("run-hosts", f"{at}.args", message, hint=f"{HOSTS}{name}-….run.app")
    elif name and guarded and allowed is None and HOSTS_VARIABLE not in variables:
        message = "answers no request for its own name: without --allowed-hosts MLflow knows localhost alone"
        view.error("run-hosts", f"{at}.args", message, hint=f"{HOSTS}{name}-….run.app")
    if "--no-serve-artifacts" not in words and not any(word.startswith(f"{ROOT}gs://") for word in words):
        view.warning(
            "run-artifacts", f"{at}.args", f"files of runs go through the server: {_LARGE}", hint=f"{ROOT}gs://…"
        )


def _is_guarded(view: View, at: str, asked_to: bool) -> bool:
    """Whether MLflow asks by which name it is called: a version that knows how, as its image says or its options do."""
    version = _VERSION.search(view.text(f"{at}.image") or "")
    return asked_to or (version is not None and (int(version[1]), int(version[2])) >= _GUARDED_SINCE)


def _variables(view: View, at: str) -> set[str]:
    return {str(each.get("name")) for _, each in view.items(f"{at}.envs")}


def _is_own(host: str, name: str) -> bool:
    """Whether a host that is allowed is the service's own, a domain of somebody's before it, or a pattern."""
    return host.startswith(f"{name}-") or "*" in host or ("." in host and not host.endswith(".run.app"))


def _database(stack: Stack, view: View, at: str, words: list[str]) -> None:
    """A private address is reached by the network that it is in; a login without a password is an account's."""
    uri = next((word.removeprefix(STORE) for word in words if "postgresql" in word.partition("://")[0]), "")
    parts = split_url(re.sub(r"\+\w+(?=://)", "", uri, count=1)) if uri else None
    if parts is None or not parts.hostname:
        return
    for instance in stack.of_type(CLOUD_SQL):
        if instance.resource.outputs.get("privateIpAddress") != parts.hostname:
            continue
        _reached(view, at, instance)
        user = unquote(parts.username or "")
        if user.endswith(_OF_AN_ACCOUNT):
            _by_token(stack, view, at, instance, user)


def _mounted(stack: Stack, view: View, at: str) -> None:
    """Sockets of databases: Cloud Run's proxy goes to the public address, and where there is none to the private."""
    instances = {str(one.resource.outputs.get("connectionName")): one for one in stack.of_type(CLOUD_SQL)}
    for path, _ in view.items(f"{at}volumes"):
        for name in view.texts(f"{path}.cloudSqlInstance.instances"):
            instance = instances.get(name)
            given = "settings.ipConfiguration"
            if (
                instance is not None
                and not instance.resource.read
                and instance.flag(f"{given}.ipv4Enabled") is False
                and instance.text(f"{given}.privateNetwork")
            ):
                _reached(view, at, instance)


def _reached(view: View, at: str, instance: View) -> None:
    if view.blurred(f"{at}vpcAccess"):
        return
    path, of = f"{at}vpcAccess.networkInterfaces[0].network", "settings.ipConfiguration.privateNetwork"
    network, theirs = view.text(path), instance.text(of)
    if view.lacks(f"{at}vpcAccess"):
        message = f"has no way into a network, and {instance.resource.name} has a private address alone"
        view.error("run-network", f"{at}vpcAccess", message, hint="vpcAccess with the network's subnet")
    elif network and theirs and network.rpartition("/")[2] != theirs.rpartition("/")[2]:
        mine = view.referred(path, GCP_NETWORK)
        if mine is not None and mine is instance.referred(of, GCP_NETWORK):
            return  # the one by its name, the other by its id
        message = f"goes into {network}, and {instance.resource.name} is reached from {theirs}"
        view.error("run-network", path, message, hint=theirs)


def _by_token(stack: Stack, view: View, at: str, instance: View, user: str) -> None:
    place = f"{container_of(view, at)}.args"
    if not instance.resource.read:  # else its flags are not said, and its users may be made elsewhere
        flags = {str(each.get("name")): each.get("value") for _, each in instance.items("settings.databaseFlags")}
        if flags.get("cloudsql.iam_authentication") != "on" and not instance.blurred("settings.databaseFlags"):
            message = f"{view.resource.name} logs in with a token, which the instance takes with the flag alone"
            instance.error("run-login", "settings.databaseFlags", message, hint="cloudsql.iam_authentication: on")
        known = _users(stack, instance)
        if known and user not in known:
            message = f"logs in as {user}, which nobody makes a user"
            view.error("run-login", place, message, hint=", ".join(known))
    own = view.text(f"{at}serviceAccount")
    if own and own.removesuffix(".gserviceaccount.com") != user:
        message = f"logs in as {user} and runs as {own}, whose token it has"
        view.error("run-login", place, message, hint=own.removesuffix(".gserviceaccount.com"))


def _users(stack: Stack, instance: View) -> list[str]:
    """Who logs in to an instance; nobody where somebody's name or place is not known, or a group's members do."""
    found: list[str] = []
    for user in stack.of_type(GCP_DATABASE_USER):
        of, name = user.referred("instance", CLOUD_SQL), user.text("name")
        if of is None or name is None or (user.text("type") or "").startswith("CLOUD_IAM_GROUP"):
            return []
        if of.resource.urn == instance.resource.urn:
            found.append(name)
    return found
