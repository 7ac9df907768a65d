"""A recommendation and a comparison on the terminal, at most 100 columns wide."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from trainyard import output
from trainyard.advice import Comparison, Option, Recommendation
from trainyard.advice.report import comparison_text
from trainyard.advice.report.terminal import bullet, bullets, speed, table, work_line
from trainyard.advice.units import duration, minutes, money, short


def as_text(recommendation: Recommendation, comparison: Comparison | None = None, *, explain: bool = False) -> str:
    """What `show` prints, without colour."""
    return output.as_text(lambda out: show(out, recommendation, comparison, explain=explain))


def show(
    out: Console, recommendation: Recommendation, comparison: Comparison | None = None, *, explain: bool = False
) -> None:
    """Prints the ranked options, what the best one takes, what drives its cost, and what to beware of."""
    out.print(f"[bold]{escape(headline(recommendation))}[/]")
    if recommendation.refusal:
        out.print()
        bullet(out, "no recommendation", recommendation.refusal, "bold red")
        if recommendation.nearest:
            out.print("\nclosest:")
            out.print(_table(recommendation.nearest))
    else:
        out.print()
        out.print(_table(recommendation.options))
        _best(out, recommendation)
    _notes(out, recommendation)
    if comparison is not None:
        comparison_text.show(out, comparison, explain=explain)
    if explain:
        _explain(out, recommendation)


def headline(recommendation: Recommendation) -> str:
    """The request in one line."""
    request = recommendation.request
    parts = [f"{request.task}: {work_line(recommendation.workload)}" if request.task != "tabular" else "tabular"]
    parts.append(request.precision)
    if request.sweep > 1:
        parts.append(f"sweep of {request.sweep}")
    if request.monthly_runs is not None:
        parts.append(f"{request.monthly_runs:g} a month")
    parts.append(f"{request.cloud} {recommendation.region}")
    parts.append(f"within {_deadline(recommendation.deadline_hours)}")
    if request.budget_usd is not None:
        parts.append(f"for {short(request.budget_usd)} USD")
    return " · ".join(parts)


def _deadline(hours: float) -> str:
    return f"{hours / 24:g} days" if hours >= 48 else f"{hours:g} hour{'s' if hours != 1 else ''}"


def _table(options: tuple[Option, ...]) -> Table:
    made = table("", "instances", "GPUs", "paid", "parallelism", "time", "cost USD", gap=1)
    made.columns[0].justify = "right"
    for place, option in enumerate(options, 1):
        copies = f"{option.copies}×" if option.copies > 1 else ""
        made.add_row(
            str(place),
            f"{copies}{option.nodes} {option.machine.type}",
            f"{option.gpus * option.copies} {option.machine.gpu.name.removesuffix('GB')}",
            _paid(option),
            _strategy(option),
            duration(option.hours) + ("!" if option.may_be_late and option.meets_deadline else ""),
            money(option.cost_usd),
            style="bold" if place == 1 else None,
        )
    return made


def _paid(option: Option) -> str:
    short_ = {"capacity-block": "block", "flex-start": "flex"}
    return short_.get(option.capacity, option.capacity.replace("reserved-", "reserved "))


def _strategy(option: Option) -> str:
    fit = option.fit
    way = fit.name.removesuffix(", recompute").replace(" + ", "+").replace(" × ", "·")
    return f"{way} {fit.micro_batch}×{fit.accumulation}{' rc' if fit.recompute else ''}"


def _best(out: Console, recommendation: Recommendation) -> None:
    best = recommendation.options[0]
    fit, broken, checkpoint = best.fit, best.interruptions, best.checkpoint
    rate, unit = speed(recommendation.workload, fit.tokens_per_second.typical)
    out.print("\n[bold]The first in detail[/]")
    accumulated = f" × {fit.accumulation} accumulated" if fit.accumulation > 1 else ""
    bullet(
        out,
        "parallelism",
        f"{fit.name}; micro-batch {fit.micro_batch}{accumulated} on {best.gpus} GPU{'s' if best.gpus > 1 else ''}",
    )
    bullet(
        out,
        "memory",
        f"{fit.states_gib:.1f} GiB of states and {fit.activations_gib:.1f} of activations in "
        f"{fit.usable_gib:.1f} usable a GPU: {fit.margin:.0%} free"
        + (f"; {fit.host_gib:.0f} GiB on each host" if fit.host_gib else ""),
    )
    peak = f", {fit.mfu.typical:.0%} of the peak" if fit.mfu.typical else ""
    bullet(out, "speed", f"{short(rate)} {unit}{peak}")
    expected = broken.expected
    often = "fewer than 0.1 expected"
    if expected.high >= 0.1:
        often = f"{expected.typical:.1f} expected (up to {expected.high:.1f})"
    bullet(out, "interruptions", f"{often}; checkpoint every {minutes(broken.interval_minutes)}")
    bullet(
        out,
        "checkpoints",
        f"{short(checkpoint.size_gb)} GB each, saved in {minutes(checkpoint.save_seconds / 60)} to {checkpoint.tier} "
        f"at {checkpoint.tier_gb_per_s:.3g} GB/s; in five minutes {checkpoint.wanted_gb_per_s:.2g} GB/s would do",
    )
    bullet(
        out,
        "data",
        f"{short(best.data.mb_per_s)} MB/s, {short(best.data.per_gpu_mb_per_s)} a GPU: {best.data.tier}",
    )
    if best.monthly_usd is not None:
        bullet(out, "a month", f"{money(best.monthly_usd)} USD")
    driver = recommendation.drivers[0]
    bullet(
        out,
        "driven by",
        f"{driver.name}, {driver.value}: cost ×{driver.factor_low:.2f} to ×{driver.factor_high:.2f}",
        "bold cyan",
    )
    for driver in recommendation.drivers[1:]:
        bullet(out, "", f"then {driver.name}, {driver.value}: ×{driver.factor_low:.2f} to ×{driver.factor_high:.2f}")


def _notes(out: Console, recommendation: Recommendation) -> None:
    shown = recommendation.options or recommendation.nearest
    by_flag: dict[str, list[int]] = {}
    for place, option in enumerate(shown, 1):
        for flag in option.flags:
            by_flag.setdefault(flag, []).append(place)
    lines = list(recommendation.flags)
    if any(option.may_be_late and option.meets_deadline for option in shown):
        lines.append("!: late if the high end comes true")
    lines += [f"{', '.join(map(str, places))}: {flag}" for flag, places in by_flag.items()]
    if lines or recommendation.assumptions:
        out.print()
    if recommendation.opinion:
        bullet(out, "rule of thumb", recommendation.opinion)
    bullets(out, "beware", lines, "bold yellow")
    bullets(out, "assumed", recommendation.assumptions)


def _explain(out: Console, recommendation: Recommendation) -> None:
    out.print("\n[bold]Where the figures come from[/]")
    shown = recommendation.options or recommendation.nearest
    for figure in dict.fromkeys(figure for option in shown for figure in option.price.figures):
        old = " (old)" if figure in recommendation.stale else ""
        bullet(out, "price", f"{figure.what}: {figure.source}, {figure.date}{old}")
    for driver in recommendation.drivers:
        bullet(out, "driver", f"{driver.name}: {driver.source}")
    bullet(
        out,
        "utilisation",
        "mosaicml/llm-foundry tables, from 64 to 512 GPUs times 0.86 (torchtitan compiled); see docs/recommender.md",
    )
    bullet(out, "memory", "DeepSpeed, Megatron-Bridge and EleutherAI formulas; see trainyard/advice/memory.py")
    bullets(out, "left out", recommendation.left_out)
