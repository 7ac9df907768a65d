"""A server on Cloud Run beyond its port and its login: who reaches it, whether its database has room for it, how long
it may take to start, what has to have run before it, and in which place its secrets are.

Source: Cloud Run documentation, "Restrict network ingress", "Configure container health checks" and "Execute jobs";
SQLAlchemy, "Connection pooling" (5 connections and 10 more); MLflow 3.17.2 (`--workers`, 4; an engine for tracking, one
for the registry and one for accounts); Secret Manager, "Regional secrets"; as generally known in 2026-11; of databases,
`catalog.database_connections`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.catalog.database_connections import of_cloud_sql
from trainyard.conventions import MLFLOW_POOLS, MLFLOW_POOLS_WITHOUT_ACCOUNTS
from trainyard.problems import count
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_REGIONAL_SECRET,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SCHEDULE,
    GCP_SECRET,
)
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.managed.gcp.servers import DOOR, container_of, words_of

_SECRETS: Final = (GCP_REGIONAL_SECRET, GCP_SECRET)
_SECRET: Final = re.compile(
    r"(?:https://secretmanager\.(?P<host>[a-z0-9-]+)\.rep\.googleapis\.com/v1/)?"
    r"projects/[^/\s]+/(?:locations/(?P<place>[a-z0-9-]+)/)?secrets/(?P<name>[\w-]+)"
)
_PEOPLE: Final = ("user:", "group:", "domain:")
_ORIGINS: Final = "--cors-allowed-origins="
_WORKERS: Final = "--workers="
_USUAL_WORKERS: Final = 4
_POOL, _MORE = "MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW"
_USUAL_POOL: Final = {_POOL: 5, _MORE: 10}
_LEAST_START_SECONDS: Final = 20
"""MLflow imports itself, opens its database and forks its workers: on one processor ten seconds and more."""
_ADDRESS: Final = re.compile(r"postgres(?:ql)?(?:\+\w+)?://[^\s\"']*@(?P<host>[\w.-]+)")

_UPGRADES: Final = re.compile(r"upgrade|migrat")
"""A word of a command that brings tables up to date: other jobs read and write them, before and after."""


def check(stack: Stack) -> None:
    """Every service and job of Cloud Run."""
    services, jobs = stack.of_type(GCP_RUN_SERVICE), stack.of_type(GCP_RUN_JOB)
    places = dict(_places(stack)) if services or jobs else {}
    for view in services:
        words = words_of(view, "template.")
        _ingress(view, stack)
        _secrets(view, "template.", places)
        if "mlflow" in words and "server" in words:
            _origins(view, words)
            _starts(view)
            _connections(view, words, stack)
        _migrated(view, words, jobs, stack)
    for view in jobs:
        _secrets(view, "template.template.", places)
        _runs(view, stack)


def _ingress(view: View, stack: Stack) -> None:
    """People come from browsers, which are in no network of the project's."""
    ingress = view.text("ingress")
    if ingress not in ("INGRESS_TRAFFIC_INTERNAL_ONLY", "INGRESS_TRAFFIC_NONE"):
        return
    for door in stack.of_type(DOOR):
        of, member = door.referred("cloudRunServiceName", GCP_RUN_SERVICE), door.text("member") or ""
        if of is view and member.startswith(_PEOPLE):
            message = f"only what is inside the network reaches it, and IAP lets {member} in, who come by a browser"
            view.warning("run-ingress", "ingress", message, allowed="INGRESS_TRAFFIC_ALL: IAP asks who comes")
            return


def _origins(view: View, words: list[str]) -> None:
    for word in words:
        for origin in word.removeprefix(_ORIGINS).split(",") if word.startswith(_ORIGINS) else ():
            if origin != "*" and not origin.startswith("https://") and ".run.app" in origin:
                message = (
                    f"answers pages of {origin}, and Cloud Run serves its own by https: the page's calls are refused"
                )
                place = f"{container_of(view, 'template.')}.args"
                view.error("run-origins", place, message, allowed="https://…")


def _starts(view: View) -> None:
    at = f"{container_of(view, 'template.')}.startupProbe"
    if view.lacks(at) or view.blurred(at):
        return
    period, times, first = (
        default if view.lacks(f"{at}.{key}") else view.number(f"{at}.{key}")
        for key, default in (("periodSeconds", 10), ("failureThreshold", 3), ("initialDelaySeconds", 0))
    )
    if period is None or times is None or first is None:
        return
    if first + period * times < _LEAST_START_SECONDS:
        message = (
            f"{count(first + period * times, 'second')} to start, and MLflow takes longer: no instance is ever well"
        )
        allowed = f"{_LEAST_START_SECONDS} seconds or more: failureThreshold times periodSeconds"
        view.error("run-probe", f"{at}.failureThreshold", message, allowed=allowed)


def _connections(view: View, words: list[str], stack: Stack) -> None:
    """What all instances' pools may ask for, beside what the database takes."""
    at = container_of(view, "template.")
    told = {str(each.get("name")): each.get("value") for _, each in view.items(f"{at}.envs")}
    pool, more = (as_number(told.get(key, usual)) for key, usual in _USUAL_POOL.items())
    workers = next((word.removeprefix(_WORKERS) for word in words if word.startswith(_WORKERS)), str(_USUAL_WORKERS))
    most = view.number("template.scaling.maxInstanceCount") or view.number("scaling.maxInstanceCount")
    instance = _database(words, stack)
    if instance is None or pool is None or more is None or most is None or not workers.isdigit():
        return
    takes = _takes(instance)
    has_accounts = any(word.startswith("--app-name") for word in words)
    pools = MLFLOW_POOLS if has_accounts else MLFLOW_POOLS_WITHOUT_ACCOUNTS
    asked = most * int(workers) * pools * (pool + max(more, 0))
    if takes is not None and asked > takes:
        message = (
            f"{most:g} instances of {workers} workers may hold {asked:g} connections, and {instance.resource.name} "
            f"takes {takes:g}: the others are refused"
        )
        view.warning(
            "run-connections", "template.scaling.maxInstanceCount", message, hint=f"fewer instances, or {_POOL}"
        )


def _takes(instance: View) -> float | None:
    if instance.resource.read or instance.blurred("settings.databaseFlags"):
        return None
    for _, each in instance.items("settings.databaseFlags"):
        if each.get("name") == "max_connections":
            return as_number(each.get("value"))
    return of_cloud_sql(instance.text("settings.tier") or "")


def _database(words: list[str], stack: Stack) -> View | None:
    hosts = {found["host"] for word in words for found in _ADDRESS.finditer(word)}
    for instance in stack.of_type(CLOUD_SQL):
        if instance.resource.outputs.get("privateIpAddress") in hosts:
            return instance
    return None


def _migrated(view: View, words: list[str], jobs: list[View], stack: Stack) -> None:
    """A job that is run when it is made, on the service's own database, has to have ended before the service starts."""
    hosts = {found["host"] for word in words for found in _ADDRESS.finditer(word)}
    for job in jobs if hosts else ():
        told = words_of(job, "template.template.")
        theirs = {found["host"] for word in told for found in _ADDRESS.finditer(word)}
        runs = job.has("runExecutionToken") or job.is_unknown("runExecutionToken")
        upgrades = any(_UPGRADES.search(word) for word in told)
        if upgrades and runs and hosts & theirs and not _waits(stack, view, job) and not _waits(stack, job, view):
            message = f"does not wait for {job.resource.name}, which brings its database up to date"
            view.error("run-before-migration", "template", message, hint="dependsOn the job")


def _waits(stack: Stack, view: View, job: View) -> bool:
    """Whether one waits for the other, itself or by what it waits for."""
    return job.resource.urn in stack.waits_for(view.resource)


def _runs(job: View, stack: Stack) -> None:
    """What a service waits for has run when it is made; else it was made, and nobody started it. Grants on a job wait
    for it too: those whom they are given to start it."""
    if any(job.has(key) or job.is_unknown(key) for key in ("runExecutionToken", "startExecutionToken")):
        return
    waits = next((one for one in stack.resources.of(GCP_RUN_SERVICE) if job.resource.urn in one.dependencies), None)
    name = job.text("name") or ""
    if waits is None or _started(stack, name):
        return
    message = f"{waits.name} waits for it, and nothing starts it: it is made, and never runs"
    job.error(
        "run-never-started", "runExecutionToken", message, hint="runExecutionToken, which another value runs anew"
    )


def _started(stack: Stack, name: str) -> bool:
    callers = (GCP_SCHEDULE, "gcp:workflows/workflow:Workflow", "command:local:Command")
    return any(name in str(view.inputs) for type_ in callers for view in stack.of_type(type_))


def _places(stack: Stack) -> Iterator[tuple[str, str]]:
    """Secrets by name, with the region that each is in; empty for one without."""
    for type_ in _SECRETS:
        for view in stack.of_type(type_):
            name, place = view.text("secretId"), view.text("location")
            if name is not None and not view.is_unknown("location"):
                yield name, place or ""


def _secrets(view: View, at: str, places: Mapping[str, str]) -> None:
    own = f"{container_of(view, at)}.args"
    for word in words_of(view, at):
        found = _SECRET.search(word)
        if found is None or found["name"] not in places:
            continue
        place = places[found["name"]]
        said = {one for one in (found["host"], found["place"]) if one}
        if said - {place} or (place and not found["place"]):
            message = f"asks for the secret {found['name']} in {', '.join(sorted(said)) or 'no region'}, and it is "
            where = f"in {place}" if place else "in none"
            view.error("run-secret", own, f"{message}{where}: it is not found", allowed=place or "no locations/…")
