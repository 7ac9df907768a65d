"""Writes the alerts that Alertmanager sends to its log, a line of JSON each, for a ground whose monitoring reads logs.

    python -m keepers.alert_log CONFIGURATION

It has no rights and asks nobody. It runs in an image with Python and uses the standard library only. What it writes
begins with what Cloud Logging reads of a line: how bad it is, and a message. CONFIGURATION is the port to answer at.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LONGEST = 4 * 2**20
"""Bytes that Alertmanager may send at once: hundreds of alerts have a few hundred thousand."""
SECONDS = 20
"""How long a connection may say nothing."""

_SEVERITIES = {"critical": "CRITICAL", "warning": "WARNING", "notice": "NOTICE"}


def lines(sent: Mapping[str, Any]) -> list[dict[str, str]]:
    """The lines of what Alertmanager sent (its webhook, version 4). Raises ValueError for what is none."""
    alerts = sent.get("alerts")
    if not isinstance(alerts, list) or not all(isinstance(alert, dict) for alert in alerts):
        raise ValueError("no list of alerts")
    return [_line(alert) for alert in alerts]


def _line(alert: Mapping[str, Any]) -> dict[str, str]:
    labels, notes = alert.get("labels") or {}, alert.get("annotations") or {}
    name, status = str(labels.get("alertname", "")), str(alert.get("status", ""))
    firing = status == "firing"
    summary = str(notes.get("summary", ""))
    return {
        "severity": _SEVERITIES.get(str(labels.get("severity")), "INFO") if firing else "INFO",
        "message": f"[{status}] {name}: {summary}",
        "status": status,
        "alert": name,
        "level": str(labels.get("severity", "")),
        "cluster": str(labels.get("cluster", "")),
        "namespace": str(labels.get("namespace", "")),
        "team": str(labels.get("team", "")),
        "summary": summary,
        "runbook": str(notes.get("runbook_url", "")),
        "since": str(alert.get("startsAt", "")),
    }


class Handler(BaseHTTPRequestHandler):
    """POST / takes alerts, GET / says that it is there."""

    timeout = SECONDS

    def do_GET(self) -> None:
        """It is there."""
        self._answer(200)

    def do_POST(self) -> None:
        """Alerts; Alertmanager sends again what is answered with 500 and above."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            self._answer(411)
        elif int(length) > LONGEST:
            self._answer(413)
        else:
            try:
                sent = json.loads(self.rfile.read(int(length)))
                found = lines(sent) if isinstance(sent, dict) else []
            except ValueError:
                self._answer(400)
                return
            for line in found:
                sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
            self._answer(200)

    def _answer(self, code: int) -> None:
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing of what went well: the log is the alerts'."""


def main(arguments: Sequence[str]) -> int:
    """Answers at the port for as long as its pod lives."""
    if len(arguments) != 1 or not arguments[0].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    with ThreadingHTTPServer(("", int(arguments[0])), Handler) as server:
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
