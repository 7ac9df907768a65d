"""`trainyard catalog`: the prices that everything is reckoned with, and how to get current ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli.files import write_whole
from trainyard.cli.project import fail, progress

if TYPE_CHECKING:
    from rich.console import Console

    from trainyard.refresh.model import Refresh
    from trainyard.refresh.overview import PricedRow

WIDTH = 100

app = typer.Typer(no_args_is_help=True, help="The prices that plans and costs are reckoned with.")


class CloudName(StrEnum):
    """A cloud with a price API."""

    AWS = "aws"
    GCP = "gcp"


@app.command("refresh")
def refresh(
    apply: Annotated[bool, typer.Option("--apply", help="Write the new prices into the catalogue.")] = False,
    region: Annotated[str, typer.Option(help="The AWS region whose prices the catalogue is to hold.")] = "us-east-1",
    gcp_region: Annotated[
        str, typer.Option(help="The Google Cloud region whose prices the catalogue is to hold.")
    ] = "us-central1",
    cloud: Annotated[CloudName | None, typer.Option(help="Ask this cloud only. By default each that answers.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write what was found; '-' is standard output.")
    ] = None,
) -> None:
    """Current prices from the clouds' price APIs beside the catalogue's. Writes only with --apply.

    AWS takes the usual credentials (AWS_PROFILE, …) of an identity that may pricing:GetProducts,
    ec2:DescribeSpotPriceHistory, ec2:DescribeReservedInstancesOfferings and ec2:DescribeCapacityBlockOfferings; Google
    Cloud takes GOOGLE_API_KEY or GOOGLE_OAUTH_ACCESS_TOKEN.
    Exit codes: 0 done; 2 no cloud answers, or the catalogue cannot be written.
    """
    from trainyard.refresh import refresh as refreshing
    from trainyard.refresh.model import RefreshError
    from trainyard.refresh.tables import apply as write
    from trainyard.refresh.tables import catalog_folder

    folder = catalog_folder()
    _check_region(region)
    written: Sequence[str] = ()
    try:
        with progress("asking for current prices"):
            found = refreshing.refresh(
                folder,
                today=datetime.now(UTC).date(),
                clouds=[cloud.value] if cloud else refreshing.CLOUDS,
                region=region,
                gcp_region=gcp_region,
            )
        if apply:
            written = write(found.changes, folder)
    except RefreshError as error:
        fail(str(error))
    if json_file is not None:
        told = {**found.as_json(), "written": list(written)}
        write_whole(json_file, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    if json_file is None or str(json_file) != "-":
        _show(found, written)


@app.command("list")
def list_prices(
    text: Annotated[str, typer.Argument(help="Only rows with this text in them, like p5 or fsx.")] = "",
    stale: Annotated[bool, typer.Option("--stale", help="Only prices older than 180 days.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """The catalogue's prices: a line a table, or the rows that are asked for."""
    from trainyard.refresh.overview import priced_rows
    from trainyard.refresh.tables import catalog_folder

    rows = [
        row
        for row in priced_rows(catalog_folder(), datetime.now(UTC).date())
        if text.lower() in f"{row.table} {row.name} {row.region}".lower() and (row.stale or not stale)
    ]
    if as_json:
        typer.echo(json.dumps([row.as_json() for row in rows], indent=2, ensure_ascii=False))
        return
    if text or stale:
        _show_rows(rows)
    else:
        _show_tables(rows)


def _check_region(region: str) -> None:
    from trainyard.catalog import regions
    from trainyard.problems import nearest

    if region not in regions():
        hint = nearest(region, regions())
        fail(f"--region {region}: no such AWS region is known{'; ' + hint if hint else ''}")


def _show(found: Refresh, written: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    console = _console()
    for cloud, reason in found.failures.items():
        console.print(Text(f"{cloud} was left out: {reason}", style="yellow"))
    different = found.different
    if different:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
        for name in ("table", "row"):
            table.add_column(name, overflow="fold")
        for name in ("was", "is", "change"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("unit", style="dim", overflow="fold")
        for change in different:
            percent = change.percent
            quote = change.quote
            table.add_row(
                quote.table.removesuffix(".csv"),
                quote.name,
                "new" if change.old is None else f"{change.old:g}",
                f"{quote.value:g}",
                "" if percent is None else Text(f"{percent:+.1f} %", style="red" if percent > 0 else "green"),
                quote.unit,
            )
        console.print(table)
    confirmed = len(found.changes) - len(different)
    console.print(
        f"{len(different)} differ, {confirmed} confirmed, {len(found.skipped)} left as they are "
        f"({', '.join(found.clouds)})"
    )
    for entry in found.skipped:
        console.print(Text(f"  {entry.table.removesuffix('.csv')} {entry.name}: {entry.reason}", style="dim"))
    if written:
        console.print(f"written: {', '.join(written)}")
    elif found.changes:
        console.print("nothing is written; --apply writes them")


def _show_tables(rows: Sequence[PricedRow]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    table.add_column("table")
    for name in ("prices", "oldest", "newest", "older than 180 days"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in dict.fromkeys(row.table for row in rows):
        mine = [row for row in rows if row.table == name]
        dates = sorted(row.date for row in mine)
        table.add_row(name, str(len(mine)), dates[0], dates[-1], str(sum(row.stale for row in mine)))
    _console().print(table)


def _show_rows(rows: Sequence[PricedRow]) -> None:
    from rich.table import Table
    from rich.text import Text

    if not rows:
        _console().print("no price in the catalogue is like that")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    for name in ("price of", "figure", "region"):
        table.add_column(name, overflow="fold")
    table.add_column("date", no_wrap=True)
    table.add_column("source", overflow="fold", style="dim")
    for row in rows:
        day = Text(row.date, style="yellow" if row.stale else "")
        table.add_row(row.name, row.figure, row.region, day, row.source)
    _console().print(table)


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)
