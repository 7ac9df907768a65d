"""A month's account for people: a page with a part for each team, a file of rows, a table for the terminal."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from trainyard.output import page
from trainyard.plan.team_budgets import CHIP_PRICES, GPU_PRICES
from trainyard.review.chargeback.model import SMALL_SHARE, Account, Chargeback, Idle
from trainyard.review.chargeback.read import span_of
from trainyard.review.verdict import dollars

KEYS = {
    "spent": "in proportion to what each team spent",
    "budget": "in proportion to the teams' budgets",
    "equal": "evenly among the teams",
}
"""In words, what shared costs are divided by."""
WHOLE = 0.95
"""A ledger that has counted less of the month is said to lack something."""


def percent(share: float | None) -> str:
    """`37 %`; a word where there is no figure."""
    return "no figure" if share is None else f"{100 * share:.0f} %"


def usd(amount: float | None) -> str:
    """Dollars, or that there is no figure."""
    return "no figure" if amount is None else dollars(amount)


def wait(seconds: float | None) -> str:
    """`12 min`; a word where no job started."""
    if seconds is None:
        return "no figure"
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours = seconds / 3600
    return f"{seconds / 60:.0f} min" if hours < 2 else f"{hours:.1f} h" if hours < 10 else f"{hours:.0f} h"


def gaps(found: Chargeback) -> list[str]:
    """What does not add up, and by how much; whole sentences."""
    told = []
    if found.coverage < WHOLE:
        told.append(
            f"The ledger has counted {percent(found.coverage)} of the month: monitoring is younger, was away, or keeps "
            "figures for too few days. What was held in the rest is in no sum here."
        )
    hours = "GPU and chip hours" if found.counts_chips else "GPU hours"
    settings = f"{GPU_PRICES} sets those of GPUs"
    if found.counts_chips:
        settings += f", {CHIP_PRICES.format('POOL', 'CAPACITY')} those of chips"
    for account in found.accounts:
        name = account.team.name
        if account.spent_usd is None:
            told.append(f"{name}: the ledger has no figure of this month.")
        elif account.has_gap:
            told.append(
                f"{name}: {dollars(account.gap_usd)} USD between what was spent and its {hours} at the month's last "
                "prices; one of them changed in the month, or a capacity is in the plan no more."
            )
        elif abs(account.gap_usd) >= 1:
            told.append(
                f"{name}: {dollars(account.gap_usd)} USD between what was spent and its {hours}, less "
                "than a hundredth: what began or ended within five minutes is in the one and not in the other."
            )
        told.extend(
            f"{name}: {line.hours:,.0f} {line.flavor.unit} hours of {line.flavor.name}, which has no price."
            for line in account.lines
            if line.flavor.usd is None
        )
    rest = found.uncounted_usd
    kinds: tuple[Idle, ...] = ("GPU nodes", "TPU nodes", "CPU nodes")
    wanted = [kind for kind in kinds if kind != "TPU nodes" or found.counts_chips]
    lacks = [kind for kind in wanted if kind not in found.idle_usd]
    if lacks:
        told.append(f"Nothing measured what stood idle of {' and '.join(lacks)}: it is in no sum but the bill's.")
    if rest is None:
        told.append(
            "No bill was given (--bill): network, buckets, file systems, the database and whatever else the cloud "
            "charges for are in no sum."
        )
    elif rest < -SMALL_SHARE * found.counted_usd:
        told.append(
            f"{dollars(-rest)} USD more were counted than billed ({percent(-rest / found.counted_usd)}): the prices "
            f"are too high, and {settings}; or the bill is not whole yet."
        )
    elif found.bill_usd and rest > SMALL_SHARE * found.bill_usd:
        told.append(
            f"{dollars(rest)} USD of the bill ({percent(rest / found.bill_usd)}) were counted nowhere: network, "
            "buckets, file systems, the database, disks of nodes, taxes; or prices that are too low."
        )
    return told


REST = "not counted: network, buckets, file systems, database"


def shares(found: Chargeback) -> list[tuple[str, float]]:
    """What is shared, part by part; the parts are the whole."""
    parts: list[tuple[str, float]] = [(f"idle {kind}", usd) for kind, usd in found.idle_usd.items()]
    if found.platform_usd is not None:
        parts.append(("the platform's own pods and volumes", found.platform_usd))
    if found.uncounted_usd is not None:
        parts.append((REST if found.uncounted_usd >= 0 else "counted beyond the bill", found.uncounted_usd))
    return parts


def rows(found: Chargeback) -> list[dict[str, str]]:
    """A row a team and flavor, then one a team of what it shares; for a spreadsheet."""
    told = []
    for account in found.accounts:
        for line in account.lines:
            unit = line.flavor.unit.lower()
            told.append(
                {
                    "month": found.month,
                    "team": account.team.name,
                    "what": f"{unit}s",
                    "pool": line.flavor.pool,
                    "capacity": line.flavor.capacity,
                    **_HOURS,
                    f"{unit}_hours": f"{line.hours:.2f}",
                    f"usd_per_{unit}_hour": "" if line.flavor.usd is None else f"{line.flavor.usd:.4f}",
                    "usd": "" if line.usd is None else f"{line.usd:.2f}",
                }
            )
        rest = {"not in the lines": account.gap_usd if account.spent_usd is not None else None}
        rest |= {"cpu": account.cpu_usd, "volumes": account.volume_usd}
        if account.shared_usd is not None:
            rest[f"shared costs, {KEYS[found.key]}"] = account.shared_usd
        for what, amount in rest.items():
            told.append(
                {
                    "month": found.month,
                    "team": account.team.name,
                    "what": what,
                    **{"pool": "", "capacity": "", **_HOURS},
                    "usd": "" if amount is None else f"{amount:.2f}",
                }
            )
    return told


COLUMNS = ("month", "team", "what", "pool", "capacity", "gpu_hours", "usd_per_gpu_hour", "usd")
_OF_CHIPS = ("chip_hours", "usd_per_chip_hour")
"""Columns besides, where there are TPU slices."""
_HOURS = dict.fromkeys(("gpu_hours", "usd_per_gpu_hour", *_OF_CHIPS), "")


def as_csv(found: Chargeback) -> str:
    """The rows as a file."""
    text = io.StringIO()
    columns = (*COLUMNS, *(_OF_CHIPS if found.counts_chips else ()))
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(found))
    return text.getvalue()


def table(found: Chargeback) -> Table:
    """A line a team, for the terminal."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    chips = ("chip hours",) if found.counts_chips else ()
    of_gpus = ("GPU hours", "spot", "idle")
    for title in ("team", "spent", "budget", *of_gpus, *chips, "jobs", "wait", "CPU", "volumes", "shared"):
        made.add_column(title, justify="left" if title == "team" else "right", no_wrap=True)
    for account in found.accounts:
        hours = account.gpu_hours
        made.add_row(
            account.team.name,
            usd(account.spent_usd),
            dollars(account.team.budget_usd),
            f"{hours:,.0f}",
            percent(account.spot_hours / hours) if hours else "",
            percent(account.idle_share) if hours else "",
            *([f"{account.chip_hours:,.0f}"] if chips else []),
            f"{account.succeeded + account.failed}",
            wait(account.wait_seconds),
            dollars(account.cpu_usd),
            dollars(account.volume_usd),
            "" if account.shared_usd is None else dollars(account.shared_usd),
        )
    return made


def as_html(found: Chargeback) -> str:
    """The page: the month, then each team's own."""
    start, end = span_of(found.month)
    return page(
        Path(__file__).parents[1] / "reports" / "chargeback.html.j2",
        {"usd": usd, "percent": percent, "wait": wait, "day": _day},
        found=found,
        gaps=gaps(found),
        key=KEYS[found.key],
        shares=shares(found),
        curves={account.team.name: curve(account, start, end) for account in found.accounts},
        title=datetime.fromtimestamp(start, UTC).strftime("%B %Y"),
    )


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%d %B}".lstrip("0")


def curve(account: Account, start: int, end: int) -> dict[str, str | float]:
    """What was spent over the month, in a box of 600 by 120, and the height of the budget in it."""
    top = max([usd for _, usd in account.course] + [float(account.team.budget_usd), 1.0]) * 1.05

    def point(at: float, amount: float) -> str:
        return f"{600 * (at - start) / (end - start):.1f},{120 - 120 * amount / top:.1f}"

    return {
        "points": " ".join(point(at, amount) for at, amount in account.course),
        "budget": round(120 - 120 * account.team.budget_usd / top, 1),
    }
