"""An estimate on the terminal, at most 100 columns wide."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from trainyard.advice import Estimate
from trainyard.advice.estimation import Verdict
from trainyard.advice.parallelism import NOTHING_TO_SHARD
from trainyard.advice.report.terminal import bullet, bullets, speed, table, work_line
from trainyard.advice.units import duration, minutes, money, short


def show(out: Console, estimate: Estimate) -> None:
    """Prints the hours, the memory of every way, the cost, and what to beware of."""
    out.print(f"[bold]{escape(headline(estimate))}[/]\n")
    fit = estimate.fit
    if fit is None:
        bullet(out, "does not fit" if estimate.verdicts else "no estimate", estimate.refusal, "bold red")
    else:
        _time(out, estimate)
    if estimate.verdicts:
        first = estimate.verdicts[0]
        out.print(
            f"\n[bold]Memory[/]: GiB a GPU of {first.usable_gib:.1f} usable, with {first.micro_batch} "
            f"sequence{'s' if first.micro_batch > 1 else ''} of {estimate.workload.work.sequence:,} tokens at once"
        )
        out.print(_memory(estimate))
    if estimate.offers:
        out.print()
        out.print(_offers(estimate))
    _notes(out, estimate)


def headline(estimate: Estimate) -> str:
    """The request and the hardware in one line."""
    machine, request = estimate.machine, estimate.request
    on = f"{estimate.nodes} × {machine.type}" if machine.regions else f"{estimate.gpus} × {machine.gpu.name}"
    optimizer = () if request.optimizer == "adamw" else (request.optimizer,)
    return " · ".join([f"{request.task}: {work_line(estimate.workload)}", request.precision, *optimizer, on])


def _time(out: Console, estimate: Estimate) -> None:
    fit, training, total = estimate.fit, estimate.training_hours, estimate.gpu_hours
    broken = estimate.interruptions
    assert fit and training and total and broken and estimate.hours
    rate, unit = speed(estimate.workload, fit.tokens_per_second.typical)
    bullet(out, "time", f"{duration(training)} of training; {duration(estimate.hours)} with start-up")
    bullet(out, "GPU hours", money(total))
    peak = f", {fit.mfu.typical:.0%} of the peak ({fit.mfu.low:.0%} to {fit.mfu.high:.0%})" if fit.mfu.typical else ""
    bullet(out, "speed", f"{short(rate)} {unit}, {short(rate / estimate.gpus)} a GPU{peak}")
    batch = f"micro-batch {fit.micro_batch}, {fit.accumulation} a step"
    bullet(out, "way", f"{fit.name}, {batch}; {fit.margin:.0%} of the GPU's memory free")
    bullet(out, "interruptions", f"{broken.expected.typical:.1f} of hardware expected; checkpoint every "
           f"{minutes(broken.interval_minutes)}")  # fmt: skip


def _memory(estimate: Estimate) -> Table:
    of_several = [verdict for verdict in estimate.verdicts if verdict.reason != NOTHING_TO_SHARD]
    shown = of_several or estimate.verdicts
    hosts = any(verdict.host_gib for verdict in shown)
    made = table("way", "states", "activ.", "needed", *(["host"] if hosts else []), "max batch", gap=1)
    for column in made.columns[1:]:
        column.justify = "right"
    made.add_column("", overflow="fold")
    for verdict in shown:
        host = _gib(verdict.host_gib) if verdict.host_gib else ""
        made.add_row(
            verdict.name,
            _gib(verdict.states_gib),
            _gib(verdict.activations_gib),
            _gib(verdict.needed_gib),
            *([host] if hosts else []),
            f"{verdict.largest_micro_batch:,}" if verdict.largest_micro_batch else "",
            _said(verdict),
        )
    return made


def _said(verdict: Verdict) -> str:
    tight = ", too close to call" if verdict.tight else ""
    return f"[green]fits[/]{tight}" if verdict.fits else f"[red]no[/], {escape(verdict.reason)}{tight}"


def _gib(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _offers(estimate: Estimate) -> Table:
    made = table("paid", "USD a node and hour", "time", "cost USD")
    for offer in estimate.offers:
        usd = offer.price.usd_per_hour
        made.add_row(
            offer.capacity.replace("reserved-", "reserved "), money(usd), duration(offer.hours), money(offer.cost_usd)
        )
    return made


def _notes(out: Console, estimate: Estimate) -> None:
    if estimate.flags or estimate.assumptions:
        out.print()
    bullets(out, "beware", estimate.flags, "bold yellow")
    bullets(out, "assumed", estimate.assumptions)
