"""`trainyard chargeback`: what each team held in a month, against its budget."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli.files import check_outputs, write_json, write_whole
from trainyard.cli.project import HtmlOption, JsonOption, ProjectOption, StackArgument, fail, file_option, read_plan

if TYPE_CHECKING:
    from trainyard.plan.parts import ClusterPlan, Plan
    from trainyard.review.chargeback.model import Flavor, Team


class SharedBy(StrEnum):
    """What shared costs are divided by."""

    spent = "spent"
    budget = "budget"
    equal = "equal"


def chargeback(
    stack: StackArgument,
    month: Annotated[
        str, typer.Option(metavar="YYYY-MM", help="The month, in UTC. The last that is over by default.")
    ] = "",
    prometheus: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Prometheus of the stack: `kubectl -n monitoring port-forward svc/monitoring-prometheus 9090`.",
        ),
    ] = "http://localhost:9090",
    bill: Annotated[
        float | None, typer.Option(metavar="USD", min=0, help="What the cloud billed: the rest is shared costs.")
    ] = None,
    shared_by: Annotated[SharedBy, typer.Option(help="What shared costs are divided by.")] = SharedBy.spent,
    html_file: HtmlOption = None,
    csv_file: Annotated[Path | None, file_option("--csv", help="A row a team and capacity; '-' likewise.")] = None,
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """What each team held in a month and what that cost: spent against budget, GPU hours, idle share, waits, spot.

    From the ledger that the stack's Prometheus keeps, at the plan's prices; what does not add up is said.

    Exit codes: 0; 2 the settings or options are wrong, or Prometheus has no figures.
    """
    check_outputs({"--html": html_file, "--csv": csv_file, "--json": json_file})
    month = month or _last_month()
    if not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", month) or month < "1970-01":
        fail(f"--month {month}: must be a month, like 2026-12")
    if not re.match(r"https?://", prometheus):
        fail(f"--prometheus {prometheus}: must be an address, like http://localhost:9090")
    plan = read_plan(project, stack)
    (cluster, *_) = plan.clusters or (None,)
    if cluster is None or cluster.ledger is None:
        fail(f"{stack} has no ledger: it has no cluster, or monitoring.enabled is false")
    from trainyard.output import console
    from trainyard.review.chargeback.document import as_document
    from trainyard.review.chargeback.model import account_of
    from trainyard.review.chargeback.read import NoFigures, figures_of
    from trainyard.review.chargeback.report import as_csv, as_html, gaps, table

    try:
        figures = figures_of(prometheus, month, time.time())
    except NoFigures as error:
        fail(f"--prometheus {prometheus}: {error}")
    except ValueError as error:
        fail(f"--month {error}")
    if not figures.coverage:
        fail(f"--month {month}: the Prometheus at {prometheus} has nothing of it in its ledger")
    found = account_of(
        stack, month, _teams(plan, cluster), _flavors(cluster), figures, bill_usd=bill, key=shared_by.value
    )
    if html_file is not None:
        write_whole(html_file, as_html(found))
    if csv_file is not None:
        write_whole(csv_file, as_csv(found))
    if json_file is not None:
        write_json(json_file, as_document(found))
    if "-" not in (str(html_file), str(csv_file), str(json_file)):
        out = console()
        out.print(table(found))
        for gap in gaps(found):
            out.print(gap, style="dim", markup=False)


def _last_month() -> str:
    today = datetime.now(UTC)
    year, month = (today.year, today.month - 1) if today.month > 1 else (today.year - 1, 12)
    return f"{year}-{month:02}"


def _teams(plan: Plan, cluster: ClusterPlan) -> list[Team]:
    from trainyard.review.chargeback.model import Team

    budgets = {team.name: team.monthly_budget_usd for team in plan.core.teams}
    return [
        Team(team.name, team.namespace, team.cluster_queue, budgets[team.name], team.off_peak_queue)
        for team in cluster.teams
    ]


def _flavors(cluster: ClusterPlan) -> list[Flavor]:
    from trainyard.review.chargeback.model import Flavor

    prices = {price.name: price.usd for price in cluster.ledger.gpu_hour_usd} if cluster.ledger else {}
    return [
        Flavor(
            flavor.name,
            flavor.pool,
            flavor.capacity,
            prices.get(flavor.name),
            cluster.pool(flavor.pool).node.usd_per_gpu_hour,
        )
        for flavor in cluster.scheduling.flavors
    ]
