"""`trainyard chargeback`: what each team held in a month, against its budget."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
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


LOCAL = "http://localhost:9090"
"""Where Prometheus is after `kubectl port-forward`."""


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
        list[str] | None,
        typer.Option(
            metavar="[CLUSTER=]URL",
            help="Prometheus of the stack: `kubectl -n monitoring port-forward svc/monitoring-prometheus 9090`. One a "
            f"cluster, with its name, where there are several. {LOCAL} by default.",
            show_default=False,
        ),
    ] = None,
    bill: Annotated[
        float | None,
        typer.Option(metavar="USD", min=0, help="What the cloud billed: what is counted is held against it."),
    ] = None,
    bill_from_account: Annotated[
        bool,
        typer.Option(
            "--bill-from-account", help="Ask AWS for it: Cost Explorer, by the tag `project`; 0.01 USD a question."
        ),
    ] = False,
    shared_by: Annotated[SharedBy, typer.Option(help="What shared costs are divided by.")] = SharedBy.spent,
    html_file: HtmlOption = None,
    csv_file: Annotated[Path | None, file_option("--csv", help="A row a team and capacity; '-' likewise.")] = None,
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """What each team held in a month and what that cost: spent against budget, GPU hours, idle share, waits, spot.

    From the ledger that the stack's Prometheus keeps, at the plan's prices, with nodes without GPUs, volumes and what
    stood idle; what does not add up, with the bill where it is given, is said.

    Exit codes: 0; 2 the settings or options are wrong, or Prometheus has no figures.
    """
    check_outputs({"--html": html_file, "--csv": csv_file, "--json": json_file})
    month = month or _last_month()
    if not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", month) or month < "1970-01":
        fail(f"--month {month}: must be a month, like 2026-12")
    if bill is not None and bill_from_account:
        fail("--bill and --bill-from-account: only one of them says what was billed")
    plan = read_plan(project, stack)
    clusters = {cluster.name: cluster for cluster in plan.clusters if cluster.ledger is not None}
    if not clusters:
        fail(f"{stack} has no ledger: it has no cluster, or monitoring.enabled is false")
    urls = _addresses(prometheus or [LOCAL], list(clusters))
    from trainyard.output import console
    from trainyard.review.chargeback.document import as_document
    from trainyard.review.chargeback.model import Figures, account_of, merged
    from trainyard.review.chargeback.read import NoFigures, figures_of
    from trainyard.review.chargeback.report import as_csv, as_html, gaps, table

    by_cluster: dict[str, Figures] = {}
    for name, url in urls.items():
        try:
            by_cluster[name] = figures_of(url, month, time.time())
        except NoFigures as error:
            fail(f"--prometheus {url}: {error}")
        except ValueError as error:
            fail(f"--month {error}")
        if not by_cluster[name].coverage:
            fail(f"--month {month}: the Prometheus at {url} has nothing of it in its ledger")
    several = len(clusters) > 1
    figures = merged(by_cluster) if several else next(iter(by_cluster.values()))
    if bill_from_account:
        bill = _billed(plan, month)
    flavors = [_flavors(one, f"{name}/" if several else "") for name, one in clusters.items()]
    flavors += [_flavors_of_chips(plan)]
    found = account_of(
        stack,
        month,
        _teams(plan, list(clusters.values()), several=several),
        [flavor for own in flavors for flavor in own],
        figures,
        bill_usd=bill,
        key=shared_by.value,
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


def _addresses(given: Sequence[str], clusters: Sequence[str]) -> dict[str, str]:
    """The address of each cluster's Prometheus, by the cluster's name; one cluster needs no name."""
    found: dict[str, str] = {}
    for text in given:
        name, url = clusters[0], text
        if not re.match(r"https?://", text):
            name, _, url = text.partition("=")
        elif len(clusters) > 1:
            known = ", ".join(clusters)
            fail(f"--prometheus {text}: must name its cluster, like {clusters[0]}={text}; there are {known}")
        if not re.match(r"https?://", url):
            fail(f"--prometheus {text}: must be an address, like {LOCAL}, or CLUSTER={LOCAL}")
        if name not in clusters:
            fail(f"--prometheus {text}: no cluster {name} counts anything; there is {', '.join(clusters)}")
        if name in found:
            fail(f"--prometheus {text}: {name} has one already, {found[name]}")
        found[name] = url
    missing = [name for name in clusters if name not in found]
    if missing:
        fail(f"--prometheus: {', '.join(missing)} has none; without it the month lacks what was held there")
    return found


def _billed(plan: Plan, month: str) -> float:
    """What AWS billed the environment for; ends the command where it does not say."""
    ground = plan.ground
    if ground.kind != "aws":
        fail("--bill-from-account: AWS alone is asked; on other grounds --bill says what was billed")
    from trainyard.account.aws import CannotAskError, account_of
    from trainyard.review.chargeback.aws_bill import bill_of

    tag = "project", dict(plan.core.tags)["project"]
    try:
        found = bill_of(
            account_of(ground.region, ground.login.assume_role, ground.login.profile), month, tag, time.time()
        )
    except CannotAskError as error:
        fail(f"--bill-from-account: {error}: {error.remedy}")
    if not found.by_service:
        fail(
            f"--bill-from-account: AWS has billed nothing with the tag {tag[0]}={tag[1]} in {month}: a tag counts from "
            "the day on which the payer's account activated it; --bill says what was billed"
        )
    if found.estimated:
        typer.echo(f"AWS may still change what it has billed for {month}.", err=True)
    return found.usd


def _teams(plan: Plan, clusters: Sequence[ClusterPlan], *, several: bool) -> list[Team]:
    from trainyard.review.chargeback.model import Team

    found = []
    for team in plan.core.teams:
        own = [(cluster, one) for cluster in clusters for one in cluster.teams if one.name == team.name]
        queues = tuple(
            f"{cluster.name}/{queue}" if several else queue
            for cluster, one in own
            for queue in (one.cluster_queue, one.off_peak_queue)
            if queue is not None
        )
        found.append(Team(team.name, own[0][1].namespace, queues, team.monthly_budget_usd))
    return found


def _flavors(cluster: ClusterPlan, prefix: str) -> list[Flavor]:
    from trainyard.review.chargeback.model import Flavor

    prices = {price.name: price.usd for price in cluster.ledger.gpu_hour_usd} if cluster.ledger else {}
    return [
        Flavor(
            f"{prefix}{flavor.name}",
            f"{prefix}{flavor.pool}",
            flavor.capacity,
            prices.get(flavor.name),
            cluster.pool(flavor.pool).node.usd_per_gpu_hour,
        )
        for flavor in cluster.scheduling.flavors
    ]


def _flavors_of_chips(plan: Plan) -> list[Flavor]:
    """Capacities of TPU slices, which one ground alone has, on its one cluster."""
    from trainyard.review.chargeback.model import Flavor

    ground = plan.ground
    if ground.kind != "gcp":
        return []
    return [
        Flavor(each.name, pool.name, each.capacity, each.chip_hour_usd, pool.usd_per_chip_hour, "chip")
        for pool in ground.tpu_pools
        for each in pool.capacities
    ]
