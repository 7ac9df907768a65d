"""A recommendation and a comparison on the terminal, at most 100 columns wide."""

from __future__ import annotations

import io
import math

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from trainyard.advice import Comparison, Option, Recommendation
from trainyard.advice.work import Asked
from trainyard.cli.recommend_units import duration, minutes, money, short

WIDTH = 100


def as_text(recommendation: Recommendation, comparison: Comparison | None = None, *, explain: bool = False) -> str:
    """What `show` prints, without colour: for golden files."""
    console = Console(file=io.StringIO(), width=WIDTH, highlight=False, color_system=None)
    show(console, recommendation, comparison, explain=explain)
    text = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def console() -> Console:
    """Standard output, not wider than the tables are made for."""
    out = Console(highlight=False)
    return (
        Console(highlight=False, width=min(out.width, WIDTH))
        if out.is_terminal
        else Console(highlight=False, width=WIDTH)
    )


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
        _comparison(out, comparison, explain=explain)
    if explain:
        _explain(out, recommendation)


def headline(recommendation: Recommendation) -> str:
    """What was asked, in a line."""
    request = recommendation.request
    parts = [f"{request.task}: {work_line(recommendation.asked)}" if request.task != "tabular" else "tabular"]
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


def work_line(asked: Asked) -> str:
    """The model and how much it is trained on."""
    model = asked.work.model
    name = model.name if "parameters" in model.name else f"{model.name}, {short(model.params)} parameters"
    if "parameters" in model.name:
        name = f"{short(model.params)} parameters"
    if asked.images is not None:
        return f"{name}, {short(asked.images)} images"
    return f"{name}, {short(asked.work.tokens)} tokens"


def _deadline(hours: float) -> str:
    return f"{hours / 24:g} days" if hours >= 48 else f"{hours:g} hour{'s' if hours != 1 else ''}"


def _table(options: tuple[Option, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for heading, justify in (
        ("", "right"),
        ("instances", "left"),
        ("GPUs", "left"),
        ("paid", "left"),
        ("parallelism", "left"),
        ("time", "left"),
        ("cost USD", "left"),
    ):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for place, option in enumerate(options, 1):
        copies = f"{option.copies}×" if option.copies > 1 else ""
        table.add_row(
            str(place),
            f"{copies}{option.nodes} {option.machine.type}",
            f"{option.gpus * option.copies} {option.machine.gpu.name.removesuffix('GB')}",
            _paid(option),
            _strategy(option),
            duration(option.hours) + ("!" if option.may_be_late and option.meets_deadline else ""),
            money(option.cost_usd),
            style="bold" if place == 1 else None,
        )
    return table


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
    rate, unit = speed(recommendation.asked, fit.tokens_per_second.typical)
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
    bullet(
        out,
        "interruptions",
        f"{often}; checkpoint every {minutes(broken.interval_minutes)}",
    )
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


def speed(asked: Asked, per_second: float) -> tuple[float, str]:
    """What a fit does in a second and its unit: images for vision, tokens for the rest."""
    if asked.images is None:
        return per_second, "tokens/s"
    return per_second / asked.work.sequence, "images/s"


def bullet(out: Console, name: str, text: str, style: str = "bold") -> None:
    """A named line, folded beside its name."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=17 if name == "no recommendation" else 13, style=style, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(name, escape(text))
    out.print(Padding(grid, (0, 0, 0, 2)))


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
    for index, line in enumerate(lines):
        bullet(out, "beware" if index == 0 else "", line, "bold yellow")
    for index, line in enumerate(recommendation.assumptions):
        bullet(out, "assumed" if index == 0 else "", line)


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
    for index, line in enumerate(recommendation.left_out):
        bullet(out, "left out" if index == 0 else "", line)


def _comparison(out: Console, comparison: Comparison, *, explain: bool) -> None:
    option = comparison.option
    out.print(
        f"\n[bold]A month of {short(comparison.gpu_hours_per_month)} hours of {escape(option.machine.gpu.name)}: "
        "managed, own cluster or owned[/]"
    )
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("USD a month", no_wrap=True)
    table.add_column("of it", overflow="fold")
    for way in comparison.ways:
        best = way.name == comparison.cheapest
        parts = "; ".join(f"{line.what} {short(line.usd)}" for line in way.lines)
        table.add_row(way.name, money(way.monthly_usd), parts, style="bold" if best else None)
    out.print(table)
    servers = f"{comparison.servers} server{'s' if comparison.servers > 1 else ''} of 8"
    bullet(out, "purchase", f"{money(comparison.purchase_usd)} USD: {servers}, fabric and storage")
    bullet(out, "payback", _payback(comparison))
    even = comparison.break_even_utilisation
    bullet(
        out,
        "break-even",
        f"owned costs less than the cluster on demand above {even:.0%} utilisation"
        if even <= 1
        else "owned never costs less than the cluster on demand, even at full use",
    )
    for index, note in enumerate(comparison.notes):
        bullet(out, "note" if index == 0 else "", note, "bold yellow")
    used = [item for item in comparison.assumptions if _used(item.key, option)]
    listed = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    listed.add_column("assumption (--assume KEY=VALUE)", no_wrap=True)
    listed.add_column("value", no_wrap=True)
    listed.add_column("unit and source" if explain else "unit", overflow="fold", style="dim")
    for item in used:
        value = short(item.value) if item.given else money(item.range)
        listed.add_row(item.key, value, f"{item.unit}; {item.source}, {item.date} ({item.evidence})" if explain and not
                       item.given else item.unit + (" (given)" if item.given else ""))  # fmt: skip
    out.print()
    out.print(listed)
    if not explain:
        out.print("  [dim]--explain adds where each is from[/]")


def _used(key: str, option: Option) -> bool:
    return "." not in key or key.endswith("." + option.machine.gpu.name)


def _payback(comparison: Comparison) -> str:
    months = comparison.payback_months

    def said(value: float) -> str:
        return "never" if math.isinf(value) or value > 240 else f"{value:.0f}"

    if said(months.typical) == "never":
        best = said(months.low)
        return "never at this use" + (f" ({best} months at best)" if best != "never" else "")
    against = said(comparison.payback_cheapest_months)
    return (
        f"{said(months.typical)} months ({said(months.low)} to {said(months.high)}) against the cluster on demand; "
        f"{against}{' months' if against != 'never' else ''} against the cheapest way to rent"
    )
