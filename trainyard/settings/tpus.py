"""Settings: slices of TPU chips, on Google Cloud."""

from typing import Annotated

from pydantic import Field

from trainyard.settings.types import Image, Model, StandIn, matching

Slices = Annotated[int, Field(ge=1, le=64)]
"""Slices of a pool in one capacity: each of several machines is a node pool of its own."""


class _Slices(Model):
    """Slices that are had in one way."""

    chip_hour_usd: float | None = Field(
        default=None,
        gt=0,
        le=10_000,
        description=(
            "US dollars that an hour of one chip counts as to the team that holds it, such as what a commitment makes "
            "of it; by default list and spot prices"
        ),
    )


class ReservedSlices(_Slices):
    """Slices that are bought already."""

    reservation_id: Annotated[str, StandIn("unseen-{number:06}")] = Field(
        description="the reservation: NAME or projects/P/reservations/NAME, a block behind"
    )
    slices: Slices = Field(description="slices in it that the pool uses")


class ElasticSlices(_Slices):
    """Slices that come for jobs and go after them."""

    max_slices: Slices = Field(description="most slices")


class FlexStartSlices(ElasticSlices):
    """Slices that Google Cloud gives when it has them, for a time (Dynamic Workload Scheduler)."""

    max_hours: int = Field(
        default=168, ge=1, le=168, description="hours after which a slice is taken away, and its job with it"
    )


class TpuPool(Model):
    """Slices of TPU chips of one kind. How many machines a slice has follows from machine and topology."""

    purpose: Annotated[str, matching(r"[^\x00-\x1f\x7f]{1,200}", "must be one line of 1 to 200 characters")] | None = (
        Field(default=None, description="one line for people")
    )
    instance_type: str = Field(description="machine type, such as ct6e-standard-4t (v6e), ct5lp-… (v5e), ct5p-… (v5p)")
    topology: str = Field(description="how the chips of a slice are joined, such as 4x4, or 2x2x2 of v5p")
    zone: str = Field(
        description="the one zone of its slices, which sells the machine; a reservation's, where it has one"
    )
    image: Image = Field(
        description=(
            "image of its runtime, with Python and JAX for TPUs, by digest; no public one is known by its digest here"
        )
    )
    reserved: ReservedSlices | None = Field(default=None, description="slices that are bought already")
    spot: ElasticSlices | None = Field(default=None, description="slices on spot")
    on_demand: ElasticSlices | None = Field(default=None, description="slices on demand")
    flex_start: FlexStartSlices | None = Field(
        default=None, description="slices below the price on demand, for a time, which come when there are some"
    )
    root_disk_gib: int = Field(default=200, ge=50, le=16_384, description="boot disk of a machine, GiB")
