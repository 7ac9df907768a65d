"""What the clouds' managed training costs: the service's own price of a machine, else a factor on the machine's price.

`catalog/managed_prices.csv` has prices that were read, by type; `catalog/managed_instances.csv` a factor by the start
of the family's name for every other type.
"""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.advice.hardware import Machine
from trainyard.advice.prices import Figure
from trainyard.advice.ranges import Range, exactly
from trainyard.catalog.managed import managed_rows
from trainyard.catalog.tables import rows


@dataclass(frozen=True, slots=True)
class ManagedPrice:
    """USD an hour of the machine under the managed service. `told` says in a few words where it is from."""

    name: str  # "SageMaker ml.p5.48xlarge"
    usd_per_hour: Range
    told: str  # "list price" or "1.15 times the machine"
    figure: Figure


def managed_price(machine: Machine, rented_usd: Range) -> ManagedPrice:
    """The managed service's price of a machine that costs `rented_usd` an hour on demand.

    Raises:
        KeyError: the catalogue has no managed service of that cloud.
    """
    row = managed_rows().get((machine.cloud, machine.type))
    if row is not None:
        usd = float(row["usd_per_hour"])
        figure = Figure(f"{row['managed']} in {row['region']}, {usd:g} USD an hour", row["source"], row["date"])
        return ManagedPrice(row["managed"], exactly(usd), "list price", figure)
    for row in rows("managed_instances.csv"):
        if row["cloud"] == machine.cloud and (row["match"] == "*" or machine.family.startswith(row["match"])):
            factor = Range(float(row["factor_low"]), float(row["factor"]), float(row["factor_high"]))
            name = f"SageMaker ml.{machine.type}" if machine.cloud == "aws" else row["managed"]
            told = f"{factor.typical:g} times the machine"
            figure = Figure(f"{name}: {told}", f"{row['source']} ({row['evidence']})", row["date"])
            return ManagedPrice(name, rented_usd.times(factor), told, figure)
    raise KeyError(machine.cloud)
