"""What the policies say of a stack, for a person."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape

from trainyard import output
from trainyard.review.policy_check.model import PolicyReport


def show(report: PolicyReport, console: Console | None = None, *, title: str = "") -> None:
    """A line a violation with what to change, then what was accepted and the sum; long lines are not folded."""
    console = console or Console(highlight=False, soft_wrap=True)
    if title:
        console.print(f"\n[bold]{title}[/]")
    for violation in report.violations:
        colour = "red" if violation.level == "mandatory" else "yellow"
        console.print(
            f"[bold {colour}]{violation.level}[/] {violation.severity} [bold]{violation.policy}[/] "
            f"{escape(f'{violation.component} {violation.name}'.strip() or report.stack)}"
        )
        console.print(f"    {escape(violation.message)}")
        console.print(f"    [dim]{escape(violation.remediation)} ({escape(', '.join(violation.controls))})[/]")
    for accepted in report.accepted:
        console.print(
            f"[dim]accepted {accepted.policy} {escape(accepted.urn.rsplit('::', 1)[-1])} until {accepted.expires}:"
            f" {escape(accepted.reason)} ({escape(accepted.owner)})[/]"
        )
    mandatory = len(report.mandatory)
    console.print(
        f"{escape(report.stack)}: {report.policies} policies, {mandatory} mandatory and"
        f" {len(report.violations) - mandatory} advisory violations, {len(report.accepted)} accepted,"
        f" {report.seconds:.1f} s"
    )


def as_text(reports: Iterable[PolicyReport]) -> str:
    """Several stacks as plain text."""

    def write(console: Console) -> None:
        for report in reports:
            show(report, console)

    return output.as_text(write, soft_wrap=True)
