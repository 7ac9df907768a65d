"""`trainyard catalog`: the prices that everything is reckoned with, and how to get current ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from trainyard.cli.files import write_json
from trainyard.cli.project import JsonOption, fail, progress

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
        str, typer.Option(help="The Google Cloud region whose prices are asked for; the catalogue has each region's.")
    ] = "us-central1",
    cloud: Annotated[CloudName | None, typer.Option(help="Ask this cloud only. By default each that answers.")] = None,
    json_file: JsonOption = None,
) -> None:
    """Current prices from the clouds' price APIs beside the catalogue's. Writes only with --apply.

    AWS takes the usual credentials (AWS_PROFILE, …) of an identity that may pricing:GetProducts,
    ec2:DescribeSpotPriceHistory, ec2:DescribeReservedInstancesOfferings and ec2:DescribeCapacityBlockOfferings; Google
    Cloud takes GOOGLE_API_KEY or GOOGLE_OAUTH_ACCESS_TOKEN.
    Exit codes: 0 done; 2 no cloud answers, or the catalogue cannot be written.
    """
    from trainyard.refresh import refresh as refreshing
    from trainyard.refresh import report
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
        write_json(json_file, {**found.as_json(), "written": list(written)})
    if json_file is None or str(json_file) != "-":
        report.show_refresh(found, written)


@app.command("list")
def list_prices(
    text: Annotated[str, typer.Argument(help="Only rows with this text in them, like p5 or fsx.")] = "",
    stale: Annotated[bool, typer.Option("--stale", help="Only prices older than 180 days.")] = False,
    json_file: JsonOption = None,
) -> None:
    """The catalogue's prices: a line a table, or the rows that are asked for."""
    from trainyard.refresh import report
    from trainyard.refresh.overview import priced_rows
    from trainyard.refresh.tables import catalog_folder

    rows = [
        row
        for row in priced_rows(catalog_folder(), datetime.now(UTC).date())
        if text.lower() in f"{row.table} {row.name} {row.region}".lower() and (row.stale or not stale)
    ]
    if json_file is not None:
        write_json(json_file, [row.as_json() for row in rows])
        if str(json_file) == "-":
            return
    if text or stale:
        report.show_rows(rows)
    else:
        report.show_tables(rows)


def _check_region(region: str) -> None:
    from trainyard.catalog import regions
    from trainyard.problems import nearest

    if region not in regions():
        hint = nearest(region, regions())
        fail(f"--region {region}: no such AWS region is known{'; ' + hint if hint else ''}")
