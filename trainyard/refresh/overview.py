"""What the catalogue holds: its priced rows, how old they are, and of which region."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from trainyard.catalog.staleness import is_stale
from trainyard.cost.model import a_unit
from trainyard.refresh.tables import Table


@dataclass(frozen=True, slots=True)
class PricedRow:
    """A row of the catalogue that has a price or a saving."""

    table: str
    name: str
    figure: str  # "0.045 USD a hour", "67 % below on-demand"
    region: str
    date: str
    source: str
    stale: bool

    def as_json(self) -> dict[str, Any]:
        """All fields of the row as plain values."""
        return asdict(self)


# Table: columns of the name, column of the figure, its unit, column of the region, source and date.
_TABLES = {
    "aws_instances.csv": (("type",), "usd_per_hour", "USD an hour", "price_region", "price_source", "price_date"),
    "aws_cpu_instances.csv": (("type",), "usd_per_hour", "USD an hour", "price_region", "price_source", "price_date"),
    "aws_services.csv": (("key",), "usd", "USD {unit}", "region", "source", "date"),
    "spot.csv": (("cloud", "match"), "savings_percent", "% below on-demand", "region", "source", "date"),
    "commitments.csv": (("cloud", "kind", "match"), "savings_percent", "% below on-demand", "", "source", "date"),
    "blocks.csv": (("cloud", "kind", "match"), "usd_per_hour", "USD an hour", "region", "source", "date"),
    "managed_prices.csv": (("managed",), "usd_per_hour", "USD an hour", "region", "source", "date"),
    "gcp_instances.csv": (("type",), "usd_per_hour", "USD an hour", "", "price_source", "price_date"),
    "gcp_cpu_instances.csv": (("type",), "usd_per_hour", "USD an hour", "price_region", "price_source", "price_date"),
    "gcp_region_prices.csv": (("type",), "usd_per_hour", "USD an hour", "region", "source", "date"),
    "gcp_tpu_prices.csv": (("accelerator",), "usd_per_chip_hour", "USD an hour and chip", "region", "source", "date"),
    "gcp_services.csv": (("key",), "usd", "USD {unit}", "region", "source", "date"),
}


def priced_rows(folder: Path, today: date) -> Iterator[PricedRow]:
    """Every row with a figure, table by table in their order."""
    for table, (names, figure, unit, region, source, day) in _TABLES.items():
        for row in Table(folder, table).rows:
            if not row[figure]:
                continue
            yield PricedRow(
                table=table,
                name=" ".join(row[column] for column in names),
                figure=f"{float(row[figure]):g} {unit.format(unit=a_unit(row.get('unit', '')))}",
                region=row[region] if region else "",
                date=row[day],
                source=row[source],
                stale=is_stale(row[day], today),
            )
