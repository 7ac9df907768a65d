"""What spot and commitments save, of machines of any cloud."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.commitments import commitments
from trainyard.catalog.staleness import is_stale
from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.context import PriceContext
from trainyard.cost.model import Saving, UnitPrice
from trainyard.cost.spot import SpotDiscount, family_of
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource


def a_month(usd_per_hour: float, nodes: float) -> float:
    """What nodes cost that run a whole month."""
    return usd_per_hour * nodes * HOURS_A_MONTH


def spot_saving(
    resource: RecordedResource, machine: str, spot: SpotDiscount, hours: float, context: PriceContext
) -> Saving:
    """What the expected hours on spot save against on demand: it is in the expected figure already."""
    full = hours * spot.listed.usd
    return Saving(
        kind="spot",
        status="counted",
        what=(
            f"{resource.name}: {count(round(hours), 'hour')} of {machine} at "
            f"{100 * (1 - spot.saved.typical):.0f} % of on-demand"
        ),
        usd=full * spot.saved.typical,
        low_usd=full * spot.saved.low,
        high_usd=full * spot.saved.high,
        source=spot.source,
        date=spot.date,
        stale=is_stale(spot.date, context.today),
    )


def commitment_savings(
    resource: RecordedResource, cloud: str, machine: str, price: UnitPrice, nodes: float, context: PriceContext
) -> Iterator[Saving]:
    """What committing to the nodes that always run would save; not counted, since nobody has bought it."""
    full = a_month(price.usd, nodes)
    for offer in commitments(cloud, machine, family_of(machine, cloud)):
        yield Saving(
            kind="reservation",
            status="possible",
            what=f"{resource.name}: {nodes:g} {machine} committed for {count(offer.months, 'month')}",
            usd=full * offer.savings.typical,
            low_usd=full * offer.savings.low,
            high_usd=full * offer.savings.high,
            source=offer.source,
            date=offer.date,
            stale=is_stale(offer.date, context.today),
            months=offer.months,
        )
