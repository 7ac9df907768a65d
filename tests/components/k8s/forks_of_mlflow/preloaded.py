"""A process that has MLflow's client, its stores and the libraries of its server, of which programs are forks.

Read from a socket: a request for each, with its three files; written: its process id. The fork is handed to whoever
started this process (`tests/components/k8s/forked_mlflow.py`), which becomes its parent.

What reads the environment of a server as it is imported, each program imports itself: `mlflow.server`, `mlflow.cli` and
the client of Prometheus.
"""

import gc
import importlib
import socket
import sys

import forks  # beside this file

SHARED = (
    "mlflow",
    "mlflow.gateway.budget",
    "mlflow.genai",
    "mlflow.metrics",
    "mlflow.store.db.utils",
    "mlflow.store.model_registry.sqlalchemy_store",
    "mlflow.store.tracking.sqlalchemy_store",
    "aiohttp",
    "alembic.command",
    "boto3",
    "fastapi",
    "flask_wtf",
    "pandas",
    "psycopg2",
    "scipy",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.protocols.http.auto",
)
OWN = ("mlflow.server", "mlflow.cli", "prometheus_client")

if __name__ == "__main__":
    for name in SHARED:
        importlib.import_module(name)
    early = [name for name in OWN if name in sys.modules]
    if early:
        raise RuntimeError(f"imported before there is an environment: {early}")
    gc.collect()
    gc.freeze()  # forks share what is not looked at
    forks.serve(socket.socket(fileno=int(sys.argv[1])))
