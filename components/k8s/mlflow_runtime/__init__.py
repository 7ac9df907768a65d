"""The programs that run inside the MLflow pod, shipped to it as one ConfigMap.

They are plain files here, not imported by the component: each runs alone in the image, which has Python,
psycopg2 and prometheus_client beside MLflow, joserfc where people sign on, and nothing of Trainyard. The one that
fetches the password of the database comes with the database (`MlflowDatabaseArgs`).

* `migrate.py`: brings the database schema up to date, one replica at a time.
* `serve.py`: hands secrets from mounted files to the MLflow server.
* `tracking_guard.py`: the part of the server that says who asks and whether the request may go on.
* `sign_on.py`: judges the tokens of people who sign on, where the stack names an identity provider.
* `users.py`: makes the accounts of the teams and their people.
* `metrics.py`: serves the server's metrics on a port of its own, without an account.
"""

from importlib.resources import files

PROGRAMS = ("migrate.py", "serve.py", "tracking_guard.py", "sign_on.py", "users.py", "metrics.py")


def sources() -> dict[str, str]:
    """File name to source text of every program: the data of the ConfigMap."""
    return {name: files(__name__).joinpath(name).read_text(encoding="utf-8") for name in PROGRAMS}
