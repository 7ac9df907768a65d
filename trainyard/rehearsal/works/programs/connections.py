"""Connections that the processes of a tracking server hold together, against those that its database takes.

Sources: SQLAlchemy documentation, "Connection Pooling" (an engine holds at most `pool_size` and `max_overflow`); MLflow
3.17.2 (a process has an engine for tracking, one for the registry and one for accounts) (2026-11); of databases,
`catalog.database_connections`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.catalog.database_connections import KEPT, of_cloud_sql, of_rds
from trainyard.conventions import MLFLOW_POOLS, MLFLOW_POOLS_WITHOUT_ACCOUNTS
from trainyard.recorded.read import as_number, known_texts
from trainyard.recorded.types import CLOUD_SQL, DATABASE, DATABASE_PARAMETERS
from trainyard.rehearsal.context import Stack, View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_POOL: Final = {"MLFLOW_SQLALCHEMYSTORE_POOL_SIZE": 5, "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW": 10}
"""What MLflow is told of its pool, with SQLAlchemy's own default."""
_STORE: Final = re.compile(r"--backend-store-uri[= ]postgres[\w+]*://(?:[^@/\s]*@)?(?P<host>[\w.-]+)")
_Limit = tuple[frozenset[str], View, str, float, bool]
"""Hosts of a database, what says how many connections it takes and at which path, how many, and whether it is said."""


def check(stack: Stack, cluster: Cluster) -> None:
    """Every tracking server that asks a database of the stack."""
    limits = [*_of_rds(stack), *_of_cloud_sql(stack)]
    for pod in cluster.pods if limits else ():
        for container in pod.containers:
            host, asked = _asked(container)
            pods = _at_once(pod)
            for hosts, view, path, most, said in limits if asked and pods else ():
                if host not in hosts or asked * pods <= most - KEPT:
                    continue
                tell = view.error if said else view.warning  # what the cloud gives itself is roughly known alone
                tell(
                    "programs-connections",
                    path,
                    f"allows {most:g} connections, and {pods:g} pods of {pod.title} may hold {asked:g} each while they "
                    "are replaced: requests fail with 'too many clients'",
                    allowed=f"{asked * pods + KEPT:g} or more",
                )


def _of_rds(stack: Stack) -> Iterator[_Limit]:
    for database in stack.of_type(DATABASE):
        hosts = _hosts(database, "address", "hostname")
        group = database.referred("parameterGroupName", DATABASE_PARAMETERS)
        said = False
        for path, one in group.items("parameters") if group is not None else ():
            most = as_number(one.get("value"))
            if one.get("name") == "max_connections" and most is not None and group is not None:
                said = True
                yield hosts, group, f"{path}.value", most, True
        most = of_rds(database.text("instanceClass") or "") if database.text("engine") == "postgres" else None
        read = group is not None or database.lacks("parameterGroupName")
        if not said and most is not None and read:
            yield hosts, database, "instanceClass", most, False


def _of_cloud_sql(stack: Stack) -> Iterator[_Limit]:
    for database in stack.of_type(CLOUD_SQL):
        hosts = _hosts(database, "privateIpAddress", "publicIpAddress", "dnsName")
        said = False
        for path, one in database.items("settings.databaseFlags"):
            most = as_number(one.get("value"))
            if one.get("name") == "max_connections" and most is not None:
                said = True
                yield hosts, database, f"{path}.value", most, True
        most = of_cloud_sql(database.text("settings.tier") or "")
        is_known = (database.text("databaseVersion") or "").startswith("POSTGRES")
        if not said and most is not None and is_known and not database.blurred("settings.databaseFlags"):
            yield hosts, database, "settings.tier", most, False


def _hosts(database: View, *keys: str) -> frozenset[str]:
    outputs = database.resource.outputs
    return frozenset(str(outputs[key]) for key in keys if isinstance(outputs.get(key), str))


def _asked(container: Container) -> tuple[str, float]:
    """The host of a tracking server's database, and the connections that one pod may hold to it."""
    words = [text for key in ("command", "args") for _, text in known_texts(container.body.get(key))]
    said = " ".join(words)
    store = _STORE.search(said)
    if "mlflow server" not in said or store is None:
        return "", 0
    workers = re.search(r"--workers[= ](\d+)", said)
    env = {
        str(one.get("name")): as_number(one.get("value"))
        for one in listed(container.body.get("env"))
        if isinstance(one, Mapping)
    }
    pool = sum(env.get(name) or default for name, default in _POOL.items())
    pools = MLFLOW_POOLS if "--app-name" in said else MLFLOW_POOLS_WITHOUT_ACCOUNTS
    return store["host"], (int(workers[1]) if workers else 4) * pools * pool


def _at_once(pod: Pod) -> float:
    """Pods that are there during a rolling update."""
    replicas = pod.view.number("spec.replicas")
    surge = pod.view.value("spec.strategy.rollingUpdate.maxSurge")
    if replicas is None or pod.view.text("kind") != "Deployment":
        return 0
    more = as_number(surge)
    return replicas + (more if more is not None else 0)
