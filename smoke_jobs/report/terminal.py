"""Progress and result on a terminal; plain lines where it is none (a pipe, CI)."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from trainyard.smoke_jobs.ddp.result import figure_text, unproven_text
from trainyard.smoke_jobs.launch.follow import CheckDone, Ended

STYLES: Mapping[str, str] = {
    "pass": "green",
    "fail": "bold red",
    "below": "bold yellow",
    "skipped": "dim",
    "preempted": "bold yellow",
    "timeout": "bold red",
    "error": "bold red",
}

HEADLINES: Mapping[str, str] = {
    "pass": "It can train: every check that applies passed",
    "fail": "It cannot train: a check failed",
    "below": "It trains, but below a threshold",
    "preempted": "Stopped before the end (preempted); run it again",
    "timeout": "Out of time",
    "error": "The job broke",
    "usage": "The job was told wrong options",
}
"""The verdict in words, for the terminal and the page."""

NOT_ASKED = "not asked for"
"""The worker's reason where `--check` named others."""


class Progress:
    """The live view of a running job, a context manager; implements `trainyard.smoke_jobs.launch.follow.View`.

    On a terminal one line a finished check and a spinner on what runs; elsewhere a line an event, each once.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._status = ""

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=8, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def status(self, text: str) -> None:
        """Shows what the job waits for or does."""
        if text == self._status:
            return
        self._status = text
        if self._live is not None:
            self._live.update(Spinner("dots", Text(text)))
        else:
            self._console.print(f"smoke: {escape(text)}", soft_wrap=True)

    def still_wanted(self) -> None:
        """Does nothing: of a single job Ctrl-C reaches the thread that follows it."""

    def check_done(self, done: CheckDone) -> None:
        """Shows a finished check."""
        style = STYLES.get(done.verdict, "")
        self._console.print(
            f"[dim]{done.number:2}/{done.total}[/] {done.name:<13} [{style}]{done.verdict:<8}[/] "
            f"[dim]{done.seconds:6.1f} s[/]  {escape(done.text)}",
            soft_wrap=True,
        )


def headline(document: Mapping[str, Any]) -> str:
    """The verdict in words; a pass of some checks is not called more than that."""
    if document["verdict"] == "pass" and any(check["reason"] == NOT_ASKED for check in document["checks"]):
        return "The chosen checks passed"
    return HEADLINES.get(document["verdict"], str(document["verdict"]))


def nodes_text(document: Mapping[str, Any]) -> str:
    """How large the run was: `16 ranks on 2 nodes`."""
    topology = document["topology"]
    return f"{topology['world_size']} ranks on {topology['nodes']} node{'' if topology['nodes'] == 1 else 's'}"


def limit_text(check: Mapping[str, Any]) -> str:
    """`>= 0.05 (gate)`, or an empty text where the check has no threshold."""
    limit = check["threshold"]
    if not limit:
        return ""
    sign = "<=" if check["figure"] and check["figure"]["better"] == "lower" else ">="
    return f"{sign} {limit['floor']:.4g} ({limit['kind']})"


def cost_text(document: Mapping[str, Any]) -> str:
    """Duration, device hours and price of a run."""
    cost = document["cost"]
    money = "price unknown" if cost["usd"] is None else f"{cost['usd']:.2f} USD"
    return f"{document['timings']['seconds']:.1f} s, {cost['device_hours']:.4f} device hours, {money}"


def table(document: Mapping[str, Any]) -> RenderableType:
    """The result: one row a check, then what is wrong, then the verdict."""
    rows = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name, justify in (("check", "left"), ("verdict", "left"), ("seconds", "right"), ("figure", "left")):
        rows.add_column(name, justify=justify, no_wrap=name != "figure")  # type: ignore[arg-type]
    rows.add_column("threshold")
    for check in document["checks"]:
        rows.add_row(
            check["name"],
            Text(check["verdict"], STYLES.get(check["verdict"], "")),
            f"{check['seconds']:.1f}",
            figure_text(check["figure"]),
            limit_text(check),
        )
    reasons: dict[tuple[str, str], list[str]] = {}
    for check in document["checks"]:
        if check["verdict"] != "pass":
            reasons.setdefault((check["verdict"], check["reason"]), []).append(check["name"])
    notes = [
        Text.assemble((", ".join(names), STYLES[verdict]), f": {reason}")
        for (verdict, reason), names in reasons.items()
    ]
    errors = [
        Text(f"rank {error['rank']} on {error['host']}: {error['message']}", "red") for error in document["errors"]
    ]
    if text := unproven_text(document):
        errors.append(Text(text, "dim"))
    topology, verdict = document["topology"], document["verdict"]
    where = f"{nodes_text(document)}, {topology['model'] or topology['device']}"
    last = Text.assemble(
        (f"{headline(document)} (exit {document['exit_code']})", STYLES.get(verdict, "")),
        f" · {where} · {cost_text(document)}",
    )
    return Group(rows, Text(""), *notes, *errors, *([Text("")] if notes or errors else []), last)


def show(ended: Ended, console: Console, errors: Console) -> None:
    """Prints the result, or where there is none the reason and the end of the log."""
    if ended.document is not None:
        console.print(table(ended.document), soft_wrap=not console.is_terminal)
        if ended.reason:
            errors.print(f"[dim]{escape(ended.reason)}[/]", soft_wrap=True)
        return
    for line in ended.log[-30:]:
        errors.print(f"[dim]  {escape(line)}[/]", soft_wrap=True)
    errors.print(f"[bold red]error[/]: {escape(ended.reason)} (exit {ended.exit_code})", soft_wrap=True)
