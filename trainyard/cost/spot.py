"""What spot saves against the list price that a stack is reckoned with."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.catalog import gcp
from trainyard.catalog.spot_prices import closest_spot
from trainyard.catalog.spread import Spread
from trainyard.cost.assumptions import Assumptions
from trainyard.cost.model import UnitPrice


@dataclass(frozen=True, slots=True)
class SpotDiscount:
    """What spot saves of `listed`: parts of it, 0 to 1, from the smallest saving to the largest.

    `listed` is the on-demand price of the catalogue or, where spot in the stack's region has cost more than that, the
    highest price of spot there: on-demand of that region is no cheaper.
    """

    listed: UnitPrice
    saved: Spread
    source: str
    date: str
    note: str

    @property
    def unit(self) -> UnitPrice:
        """`listed` with the sources of both and the older date."""
        sources = dict.fromkeys((self.listed.source, self.source))
        return UnitPrice(
            self.listed.usd,
            self.listed.unit,
            self.listed.region,
            "; spot: ".join(sources),
            min(self.listed.date, self.date),
        )


def family_of(instance_type: str, cloud: str = "aws") -> str:
    """What rows of a family are of: p4d of p4d.24xlarge, a3-highgpu of a3-highgpu-8g."""
    return gcp.family(instance_type) if cloud == "gcp" else instance_type.partition(".")[0]


def spot_discount(
    listed: UnitPrice, instance_type: str, region: str, assumptions: Assumptions, cloud: str = "aws"
) -> SpotDiscount:
    """What spot of a type saves in a region, against its price `listed`.

    Where the type's spot price in that region is in the catalogue, an hour costs that, whatever region `listed` is of;
    else the closest row's saving holds for `listed`, else the assumption. An assumption that was given replaces the
    table.
    """
    general = assumptions["spot_saving_percent"]
    row = None if general.replaced else closest_spot(cloud, instance_type, family_of(instance_type, cloud), region)
    if row is None:
        saved = Spread(general.minimum / 100, general.value / 100, general.maximum / 100)
        return SpotDiscount(listed, saved, general.source, general.date, _note(saved))
    usd = row.usd_of(instance_type, region)
    if usd is None:
        return SpotDiscount(listed, row.savings, row.source, row.date, _note(row.savings))
    dearer = usd.high > listed.usd
    most = UnitPrice(usd.high, listed.unit, region, row.source, row.date) if dearer else listed
    saved = Spread(1 - usd.high / most.usd, 1 - usd.typical / most.usd, 1 - usd.low / most.usd)
    if dearer:
        ceiling = (
            f"the ceiling is the highest spot price there, which is above the on-demand price of {listed.region}, "
            f"{listed.usd:g}"
        )
    else:
        ceiling = f"{100 * saved.typical:.0f} % below the on-demand price of {listed.region}, which is the ceiling"
    note = f"{usd.typical:g} USD an hour on spot in {region}; {ceiling}"
    return SpotDiscount(most, saved, row.source, row.date, note)


def _note(saved: Spread) -> str:
    return f"{100 * saved.typical:.0f} % below on-demand; the ceiling is the on-demand price, which spot never passes"
