"""What the keepers ask: the API server, with the pod's own account, and Prometheus. Standard library only."""

import json
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .heartbeat import beat

SERVER = "https://kubernetes.default.svc"
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CONFLICT = 409
"""The API server's answer to an apply without force of a field that somebody else has set."""
GONE = 404
"""Its answer to a question about what is not there."""


def ask(path: str, body: Mapping[str, Any] | None = None, manager: str = "", *, merge: bool = False) -> dict[str, Any]:
    """A call of the API server: a read; with a field manager an apply without force, without one a new object, or a
    merge with what is there.
    """
    token = (ACCOUNT / "token").read_text()
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    data, method, query = None, "GET", ""
    if body is not None:
        kind = "apply-patch+yaml" if manager else "merge-patch+json" if merge else "json"  # JSON is YAML
        headers["Content-Type"] = f"application/{kind}"
        data, method = json.dumps(body).encode(), "PATCH" if manager or merge else "POST"
        query = f"?fieldManager={manager}" if manager else ""
    request = urllib.request.Request(f"{SERVER}{path}{query}", data, headers, method=method)  # noqa: S310
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    with urllib.request.urlopen(request, timeout=20, context=context) as answer:  # noqa: S310 - the server's own name
        found: dict[str, Any] = json.load(answer)
        return found


def figures(prometheus: str, expression: str, at: float) -> list[tuple[Mapping[str, str], float]]:
    """What Prometheus says at a moment: labels and value of each series. Raises OSError or ValueError."""
    query = urllib.parse.urlencode({"query": expression, "time": f"{at:.3f}"})
    with urllib.request.urlopen(f"{prometheus}/api/v1/query?{query}", timeout=60) as answer:  # noqa: S310 - configured
        found = json.load(answer)
    try:
        rows: Sequence[Mapping[str, Any]] = found["data"]["result"]
        return [(row["metric"], float(row["value"][1])) for row in rows]
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"Prometheus answered what is no table of figures: {error!r}") from error


def say(**what: Any) -> None:
    """A line of the log."""
    print(json.dumps(what, sort_keys=True), flush=True)


def for_ever(
    argv: Sequence[str], usage: str | None, every_seconds: float, turn: Callable[[dict[str, Any], float], bool]
) -> int:
    """Takes a keeper's turns with its configuration, the only argument; with another number of them says the usage.

    A turn says whether it was whole: all that it came for was answered. Its pod is ready while one was, not long ago.
    """
    if len(argv) != 1:
        print(usage, file=sys.stderr)
        return 2
    configuration: dict[str, Any] = json.loads(argv[0])
    beat()
    while True:
        try:
            if turn(configuration, time.time()):
                beat()
        except (OSError, ValueError) as error:  # the server is away: nothing is changed, and it is asked again
            say(failed=str(error))
        time.sleep(every_seconds)
