"""Every connection to the database is made with a token of the service's own account, so that there is no password.

Python imports a module of this name when it starts, in each process of the server. SQLAlchemy then asks here before
each connection: a token ends after an hour, and an instance that Cloud Run let sleep may wake later than that, so that
it is asked for when it is needed and not by a clock. The metadata server keeps one until it is about to end.
"""

import json
import os
import urllib.request


def token() -> str:
    """A token of the account that the container runs as, which Cloud SQL takes for its password."""
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    request = urllib.request.Request(
        f"http://{host}/computeMetadata/v1/instance/service-accounts/default/token",
        headers={"Metadata-Flavor": "Google"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        return str(json.loads(answer.read())["access_token"])


def listen() -> None:
    """Has SQLAlchemy ask before each connection."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    @event.listens_for(Engine, "do_connect")
    def login(dialect: object, record: object, args: object, parameters: dict[str, object]) -> None:
        del record, args
        if getattr(dialect, "name", "") == "postgresql":
            parameters["password"] = token()


listen()
