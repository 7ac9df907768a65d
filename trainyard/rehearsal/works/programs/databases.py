"""Databases that programs connect to: the server is recorded, so the database, the port and TLS are known.

Source: PostgreSQL documentation, "Connection URIs" and "SSL Support"; RDS user guide, "Using SSL with a PostgreSQL DB
instance" (`rds.force_ssl` is 1 by default from 15 on); Cloud SQL documentation, "Configure SSL/TLS", `sslMode`
(2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from trainyard.conventions.gcp import DATABASE_PORTS
from trainyard.problems import nearest
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import CLOUD_SQL, DATABASE, DATABASE_PARAMETERS, GCP_DATABASE_USER, GCP_SQL_DATABASE
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.programs.told import told
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_URI: Final = re.compile(
    r"(?P<scheme>postgres(?:ql)?|mysql)(?:\+\w+)?://(?:(?P<user>[^:@/\s\"']*)(?::[^@/\s\"']*)?@)?(?P<host>[\w.-]+)(?::(?P<port>\d+))?"
    r"/(?P<name>[\w.-]+)(?P<more>\?[^\s\"']*)?"
)
_IP: Final = re.compile(r"\d+\.\d+\.\d+\.\d+")
_ALWAYS: Final = frozenset({"postgres", "template0", "template1", "rdsadmin", "cloudsqladmin", "mysql"})
_MAKES: Final = re.compile(r"create\s+database", re.IGNORECASE)
_LETS_IN: Final = re.compile(r"create\s+(?:user|role)\s+(?:if\s+not\s+exists\s+)?[\"'`]?(?P<name>\w+)", re.IGNORECASE)
_LOGINS: Final = ("postgresql:index/role:Role", "mysql:index/user:User")
_FORCED_SINCE: Final = 15


@dataclass(frozen=True, slots=True)
class _Server:
    view: View
    hosts: frozenset[str]
    names: frozenset[str] | None  # None: not known
    port: int | None
    asks_tls: bool
    asks_certificate: bool = False


def check(stack: Stack, cluster: Cluster) -> None:
    """Every address of a database in what programs are told."""
    servers = [*_of_rds(stack), *_of_cloud_sql(stack)]
    if not servers:
        return
    texts = [one for one in told(cluster) if "://" in one[2]]
    for view, path, text in texts:
        for found in _URI.finditer(text):
            for server in servers:
                if found["host"] in server.hosts:
                    _connects(view, path, found, server, cluster)
    for server in servers:
        _logs_in(stack, server, texts, cluster)
    _elsewhere(stack, servers, texts)


def _of_rds(stack: Stack) -> Iterator[_Server]:
    others = _made_by_a_provider(stack)
    for view in stack.of_type(DATABASE):
        outputs = view.resource.outputs
        hosts = {str(outputs[key]) for key in ("address", "hostname") if isinstance(outputs.get(key), str)}
        name = view.text("dbName")
        known = (
            None
            if view.is_unknown("dbName") or view.has("snapshotIdentifier") or view.has("replicateSourceDb")
            else name
        )
        port = view.number("port")
        engine, version = view.text("engine") or "", view.text("engineVersion") or ""
        major = re.match(r"\d+", version)
        group = view.referred("parameterGroupName", DATABASE_PARAMETERS)
        forced = engine == "postgres" and major is not None and int(major[0]) >= _FORCED_SINCE
        for _, parameter in group.items("parameters") if group is not None else ():
            if parameter.get("name") in ("rds.force_ssl", "require_secure_transport"):
                forced = str(parameter.get("value")).lower() in ("1", "on", "true")
        yield _Server(
            view, frozenset(hosts), frozenset({known, *others}) if known is not None else None,
            int(port) if port is not None else None, forced,
        )  # fmt: skip


def _of_cloud_sql(stack: Stack) -> Iterator[_Server]:
    for view in stack.of_type(CLOUD_SQL):
        outputs = view.resource.outputs
        keys = ("privateIpAddress", "publicIpAddress", "dnsName")
        hosts = {str(outputs[key]) for key in keys if isinstance(outputs.get(key), str)}
        names = {
            database.text("name")
            for database in stack.of_type(GCP_SQL_DATABASE)
            if view in (database.referred("instance", CLOUD_SQL), None) or database.is_unknown("instance")
        }
        known = frozenset(str(name) for name in names) if names and None not in names else None
        forced = view.text("settings.ipConfiguration.sslMode") in (
            "ENCRYPTED_ONLY", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED",
        )  # fmt: skip
        engine = (view.text("databaseVersion") or "").partition("_")[0]
        certified = view.text("settings.ipConfiguration.sslMode") == "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"
        yield _Server(view, frozenset(hosts), known, DATABASE_PORTS.get(engine), forced, certified)


def _logs_in(stack: Stack, server: _Server, texts: Sequence[tuple[View, str, str]], cluster: Cluster) -> None:
    """One of the users that programs log in to Cloud SQL as is made with it: a program may make others then."""
    users = [
        user
        for user in stack.of_type(GCP_DATABASE_USER)
        if user.referred("instance", CLOUD_SQL) is server.view or user.is_unknown("instance")
    ]
    names = {user.text("name") for user in users}
    asked = {
        found["user"]: (view, path)
        for view, path, text in texts
        for found in _URI.finditer(text)
        if found["host"] in server.hosts and found["user"]
    }
    known = bool(names) and None not in names and all(user.text("type") in (None, "BUILT_IN") for user in users)
    if (server.view.text("databaseVersion") or "").startswith("MYSQL"):
        names |= {"root"}  # which each has, with a password of the instance's own
    known = known and not any(view.type in _LOGINS for view in stack.views)
    if not known or not asked or not asked.keys().isdisjoint(names | _ALWAYS) or any("$" in one for one in asked):
        return
    if asked.keys().isdisjoint(_let_in(cluster)):  # which reads every program of the stack: asked last
        name, (view, path) = sorted(asked.items())[0]
        there = sorted(map(str, names))
        view.error(
            "programs-database", path, f"logs in as {show(name)} to {server.view.name}, which has no such user",
            allowed=f"one of {', '.join(there)}", hint=nearest(name, there),
        )  # fmt: skip


def _elsewhere(stack: Stack, servers: Sequence[_Server], texts: Sequence[tuple[View, str, str]]) -> None:
    """An account that is made a user of one instance logs in at that one's address."""
    hosts = {host for server in servers for host in server.hosts}
    logins = {
        user.text("name"): server
        for server in servers
        for user in stack.of_type(GCP_DATABASE_USER)
        if not server.view.has("settings.ipConfiguration.pscConfigs")  # of which each network has an address of its own
        if (user.text("type") or "").startswith("CLOUD_IAM") and user.referred("instance", CLOUD_SQL) is server.view
    }
    for view, path, text in texts if logins and hosts else ():
        for found in _URI.finditer(text):
            server = logins.get(unquote(found["user"] or ""))
            if server is not None and server.hosts and _IP.fullmatch(found["host"]) and found["host"] not in hosts:
                if found["host"].startswith("127."):
                    continue  # a proxy beside it
                message = f"logs in as {unquote(found['user'])} at {found['host']}, and {server.view.name} is elsewhere"
                view.error("programs-database", path, message, allowed=", ".join(sorted(server.hosts)))


def _let_in(cluster: Cluster) -> set[str]:
    """The users that programs of the stack make in SQL."""
    return {
        found["name"]
        for holder in (*(view.mapping("data") for view in cluster.of("ConfigMap")), *_commands(cluster))
        for _, text in known_texts(holder)
        for found in _LETS_IN.finditer(text)
    }


def _made_by_a_provider(stack: Stack) -> set[str]:
    return {
        str(view.text("name"))
        for view in stack.views
        if view.type in ("postgresql:index/database:Database", "mysql:index/database:Database")
    }


def _connects(view: View, path: str, found: re.Match[str], server: _Server, cluster: Cluster) -> None:
    name, port, more = found["name"], found["port"], found["more"] or ""
    title = server.view.text("identifier") or server.view.name
    if server.names is not None and name not in server.names | _ALWAYS and not _somebody_makes(cluster):
        view.error(
            "programs-database",
            path,
            f"connects to the database {show(name)} of {title}, which has none of that name",
            allowed=f"one of {', '.join(sorted(server.names))}",
            hint=nearest(name, server.names),
        )
    if server.port is not None and port is not None and int(port) != server.port:
        view.error(
            "programs-database", path, f"connects to port {port} of {title}, which listens on {server.port}",
            allowed=str(server.port),
        )  # fmt: skip
    if server.view.text("settings.connectorEnforcement") == "REQUIRED":
        view.error(
            "programs-database", path, f"connects to the address of {title}, which only lets in who comes through a "
            "connector", allowed="Cloud SQL's proxy or a connector, or connectorEnforcement NOT_REQUIRED",
        )  # fmt: skip
    if server.asks_certificate and "sslcert=" not in more:
        view.error(
            "programs-database", path, f"connects to {title} without a certificate of its own, which refuses that",
            allowed="sslcert and sslkey, or sslMode ENCRYPTED_ONLY on the instance",
        )  # fmt: skip
    if _IP.fullmatch(found["host"]) and re.search(r"[?&]sslmode=verify-full(&|$)", more):
        view.error(
            "programs-database", path, f"verifies the name in {title}'s certificate, which names no address",
            allowed="sslmode=verify-ca, or the instance's DNS name",
        )  # fmt: skip
    if server.asks_tls and re.search(r"[?&]sslmode=(disable|allow)(&|$)", more):
        view.error(
            "programs-database", path, f"connects to {title} without TLS, which refuses that",
            allowed="sslmode=require or verify-full",
        )  # fmt: skip


def _somebody_makes(cluster: Cluster) -> bool:
    """Whether a program of the stack makes databases itself."""
    return any(
        _MAKES.search(text)
        for holder in (*(view.mapping("data") for view in cluster.of("ConfigMap")), *_commands(cluster))
        for _, text in known_texts(holder)
    )


def _commands(cluster: Cluster) -> Iterator[Any]:
    for pod in cluster.pods:
        for container in pod.containers:
            yield from (container.body.get(key) for key in ("command", "args"))
