"""What became of a stack, in the terminal: the verdict, the money and the next step first, then all that was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from trainyard.problems import count
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.change import terminal as change_terminal
from trainyard.review.policy_check.model import Accepted, PolicyReport, Violation
from trainyard.review.reports.rehearsal import (
    Branch,
    clock,
    grouped,
    short_type,
    times,
    totals_of,
    tree_of,
    where,
)
from trainyard.review.review import Outcome, Review, Unjudged
from trainyard.review.verdict import Money, State, Verdict, dollars

_STYLES = {"good": "green", "warn": "yellow", "bad": "bold red"}


def head(outcome: Outcome) -> RenderableType:
    """The verdict in at most ten lines: what it is, what it costs, what was looked at, what to do next."""
    told = outcome.verdict
    table = _labelled()
    if told.money is not None:
        table.add_row("money", _month(told.money))
        table.add_row("budget", Text(told.money.sentence, style=_STYLES[told.money.mood]))
    if isinstance(outcome, Review):
        for label, figure in _figures(outcome):
            table.add_row(label, figure)
    for index, step in enumerate(told.next_steps):
        table.add_row("" if index else "next", Text(step, style="bold" if not index else ""))
    return Group(Text(f"{told.headline}.", style=_STYLES[told.state.mood]), table)


def report(outcome: Outcome, *, tree: bool = False) -> RenderableType:
    """The whole report: the verdict, then findings and violations in full, then, if asked, components and path."""
    parts: list[RenderableType] = [head(outcome), *_details(outcome)]
    if isinstance(outcome, Review) and tree:
        rehearsal = outcome.rehearsal
        parts += [Text(), _tree(tree_of(rehearsal)), Text(), _totals(outcome)]
        if rehearsal.critical_path:
            parts += [Text(), _path(rehearsal)]
    elif isinstance(outcome, Review):
        parts.append(Text("--tree shows the components and the critical path, --html FILE writes a page.", style="dim"))
    return Group(*parts)


def summary_line(verdict: Verdict) -> tuple[str, Text, str, str]:
    """A stack among many: state, name, its month beside the budget, what it is."""
    money = verdict.money
    month = ""
    if money is not None:
        of = f" of {dollars(money.budget)}" if money.budget is not None else ""
        month = f"{dollars(money.expected)}{of}"
    said = verdict.headline.removeprefix(f"{verdict.stack} ")
    return verdict.stack, Text(verdict.state.value, style=_STYLES[verdict.state.mood]), month, said


def many(verdicts: Sequence[Verdict]) -> RenderableType:
    """Several stacks at a glance: how many are what, a line each, and what to do first."""
    counted = [(state, sum(told.state is state for told in verdicts)) for state in State]
    said = ", ".join(f"{number} {state.value}" for state, number in counted if number)
    worst = max((told.state for told in verdicts), key=list(State).index, default=State.SOUND)
    table = Table(box=None, show_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name, justify in (("stack", "left"), ("verdict", "left"), ("USD a month of the budget", "right")):
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    table.add_column("", overflow="fold")
    for told in verdicts:
        table.add_row(*summary_line(told))
    return Group(Text(f"{count(len(verdicts), 'stack')}: {said}.", style=_STYLES[worst.mood]), table)


def alone(outcome: Outcome) -> RenderableType:
    """The only stack of a check: the verdict, then findings and violations in full."""
    return Group(head(outcome), *_details(outcome))


def details(outcome: Outcome) -> RenderableType | None:
    """A stack among many, in full; None where there is nothing to say beyond its line."""
    if isinstance(outcome, Review) and outcome.verdict.state is State.SOUND and _is_silent(outcome):
        return None
    return Group(Text(), head(outcome), *_details(outcome))


def _is_silent(review: Review) -> bool:
    """Whether a sound stack has nothing to tell: nothing accepted, and nothing that changes."""
    return not review.judged.accepted and (review.change is None or review.change.nothing)


def _labelled() -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _month(money: Money) -> Text:
    text = Text(f"USD a month: {dollars(money.idle)} idle, ")
    text.append(f"{dollars(money.expected)} expected", style="bold")
    text.append(f", {dollars(money.at_most)} at most")
    return text


def _figures(review: Review) -> Iterator[tuple[str, str]]:
    told, rehearsal = review.verdict, review.rehearsal
    if review.policies is not None:
        counts = f"{told.mandatory} mandatory and {count(told.advisory, 'advisory violation')}"
        accepted = f", {told.accepted} accepted" if told.accepted else ""
        yield "policies", f"{review.policies.policies} judged: {counts}{accepted}"
    made = sum(resource.is_made and not resource.read for resource in rehearsal.resources)
    found = f"{count(told.errors, 'error')}" if told.errors else "nothing would be refused, and all of it works"
    warnings = f", {count(told.warnings, 'warning')}" if told.warnings else ""
    yield "program", f"{count(made, 'resource')}: {found}{warnings}"
    if rehearsal.critical_path and not told.errors:
        stands, ends = rehearsal.minutes_until_proof, rehearsal.minutes
        proof = f", then {ends - stands:.0f} for the smoke jobs" if ends > stands else ""
        yield "first up", f"{count(round(stands), 'minute')} at least{proof}"


def _details(outcome: Outcome) -> Iterator[RenderableType]:
    """Problems of the settings, findings, violations and what was accepted, each with a heading."""
    if isinstance(outcome, Unjudged):
        if outcome.mistakes:
            yield from _problems(outcome)
        return
    if outcome.change is not None:
        yield Text()
        yield from change_terminal.parts(outcome.change)
    if outcome.rehearsal.findings:
        yield Text()
        yield from _findings(outcome.rehearsal)
    if outcome.policies is not None and (outcome.policies.violations or outcome.policies.accepted):
        yield Text()
        yield from _policies(outcome.policies)


def _problems(outcome: Unjudged) -> Iterator[RenderableType]:
    yield Text()
    yield Text("Settings", style="bold")
    for mistake in outcome.mistakes:
        problem = mistake.problem
        place = outcome.file if mistake.line is None else f"{outcome.file}:{mistake.line}"
        text = Text()
        text.append(problem.key, style="bold")
        text.append(f"  {place}", style="dim")
        text.append(f"\ngot {problem.got}; {problem.allowed}")
        if problem.hint:
            text.append(f"\n{problem.hint}", style="cyan")
        yield Padding(text, (0, 0, 0, 2))


def _findings(rehearsal: Rehearsal) -> Iterator[RenderableType]:
    warnings = len(rehearsal.findings) - len(rehearsal.errors)
    title = Text("Findings", style="bold")
    title.append(f"  {count(len(rehearsal.errors), 'error')}, {count(warnings, 'warning')}", style="dim")
    yield title
    for component, group in grouped(rehearsal.findings):
        yield Text(component, style="bold")
        for same in group:
            finding = same.finding
            text = Text()
            text.append(f"{finding.level} ", style="red" if finding.level == "error" else "yellow")
            text.append(f"{finding.rule}", style="dim")
            for subject in same.subjects:
                text.append(f"\n{subject}", style="bold")
            text.append(f"\n{finding.message}")
            for tail in (finding.allowed, finding.hint):
                if tail:
                    text.append(f"\n{tail}", style="cyan")
            yield Padding(text, (0, 0, 0, 2))


def _policies(report: PolicyReport) -> Iterator[RenderableType]:
    """A paragraph a violation with what to change, then what was accepted."""
    mandatory = len(report.mandatory)
    title = Text("Policies", style="bold")
    title.append(
        f"  {mandatory} mandatory, {len(report.violations) - mandatory} advisory, {len(report.accepted)} accepted",
        style="dim",
    )
    yield title
    for violations in _by_policy(report.violations):
        yield Padding(_violation(violations, report.stack), (0, 0, 0, 2))
    for accepted in report.accepted:
        yield Padding(Text(_accepted(accepted), style="dim"), (0, 0, 0, 2))


def _by_policy(violations: Sequence[Violation]) -> list[list[Violation]]:
    """Violations of one policy and level together: what to change is the same for all of them."""
    found: dict[tuple[str, str], list[Violation]] = {}
    for violation in violations:
        found.setdefault((violation.policy, violation.level), []).append(violation)
    return list(found.values())


def _violation(violations: Sequence[Violation], stack: str) -> Text:
    """The policy, a line a place, and what to change."""
    first = violations[0]
    text = Text()
    text.append(first.level, style="bold red" if first.level == "mandatory" else "bold yellow")
    text.append(f" {first.severity} ", style="")
    text.append(first.policy, style="bold")
    for violation in violations:
        where = f"{violation.component} {violation.name}".strip() or stack
        text.append(f"\n{where}: {violation.message}", style="")
    text.append(f"\n{first.remediation} ({', '.join(first.controls)})", style="dim")
    return text


def _accepted(accepted: Accepted) -> str:
    name = accepted.urn.rsplit("::", 1)[-1] or "the stack"
    return f"accepted {accepted.policy} {name} until {accepted.expires}: {accepted.reason} ({accepted.owner})"


def _totals(review: Review) -> RenderableType:
    table = _labelled()
    for label, figure in totals_of(review):
        table.add_row(label, figure)
    return Group(Text("Totals", style="bold"), table)


def _tree(root: Branch) -> Tree:
    def label(branch: Branch) -> Text:
        text = Text(branch.name, style="bold")
        if branch.kind:
            text.append(f"  {branch.kind}", style="dim")
        text.append(f"  {branch.total}", style="cyan")
        if branch.errors:
            text.append(f"  {count(branch.errors, 'error')}", style="bold red")
        if branch.warnings:
            text.append(f"  {count(branch.warnings, 'warning')}", style="yellow")
        return text

    def grow(tree: Tree, branch: Branch) -> None:
        for figure in branch.figures:
            tree.add(Text(figure, style="green"))
        if branch.counts:
            tree.add(Text(", ".join(times(type_, number) for type_, number in sorted(branch.counts.items())), "dim"))
        for name in sorted(branch.branches):
            inner = branch.branches[name]
            grow(tree.add(label(inner)), inner)

    tree = Tree(label(root), guide_style="dim")
    grow(tree, root)
    return tree


def _path(rehearsal: Rehearsal) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    table.add_column("takes", justify="right", no_wrap=True)
    table.add_column("done at", justify="right", no_wrap=True)
    table.add_column("type", no_wrap=True)
    table.add_column("resource", overflow="fold")
    for step in rehearsal.critical_path:
        table.add_row(clock(step.seconds), clock(step.finish), short_type(step.type), where(step))
    title = Text("Critical path of the first up", style="bold")
    title.append("  (minutes; a lower bound: published times, nothing queues)", style="dim")
    return Group(title, table)
