"""Ends a notebook's server when its kernels and terminals have done nothing for a while, whoever looks at it.

An extension of Jupyter Server, sent to the pod as text: it imports the standard library, and Tornado when it is loaded.
It goes by what ran and not by requests: an open tab makes requests for ever, and its pod would keep a GPU.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

NAME = "ends_when_idle"


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where Jupyter Server finds the extension."""
    return [{"module": NAME}]


def idle_s(now: datetime, started: datetime, moments: Sequence[datetime], states: Sequence[str]) -> float:
    """Seconds since something was done; 0 while a kernel computes.

    `moments` are when kernels and terminals last did something, those that have ended too; `states` what kernels are
    doing.
    """
    if any(state == "busy" for state in states):
        return 0.0
    return max(0.0, (now - max([started, *moments])).total_seconds())


def _moment(value: datetime | str) -> datetime:
    """A moment as the server keeps it: a datetime, or text as its API writes it."""
    found = datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else value
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def seen(server: Any, last: list[datetime]) -> tuple[list[datetime], list[str]]:
    """The moments and states of a running server. `last` keeps the moment of terminals that have ended."""
    kernels = server.kernel_manager
    moments = [_moment(kernels.last_kernel_activity)] if kernels.last_kernel_activity else []
    states = [kernel["execution_state"] for kernel in kernels.list_kernels()]
    terminals = server.web_app.settings.get("terminal_manager")
    if terminals is not None:
        last += [_moment(terminal["last_activity"]) for terminal in terminals.list()]
        last[:] = [max(last)] if last else []
    return [*moments, *last], states


def _load_jupyter_server_extension(server: Any) -> None:
    """Begins to look."""
    from tornado.ioloop import PeriodicCallback

    told = server.config["EndsWhenIdle"]
    after_s, every_s = float(told["after_s"]), float(told["every_s"])
    started = datetime.now(UTC)
    last: list[datetime] = []

    def look() -> None:
        moments, states = seen(server, last)
        seconds = idle_s(datetime.now(UTC), started, moments, states)
        if seconds >= after_s:
            server.log.warning("%s: nothing ran for %d seconds; the server ends", NAME, seconds)
            server.stop()

    server.log.info("%s: looks every %d s, ends after %d s without work", NAME, every_s, after_s)
    PeriodicCallback(look, every_s * 1000).start()
