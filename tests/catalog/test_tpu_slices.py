"""Slices of TPU chips: topologies that a machine is sold in, and the machines of a slice."""

from __future__ import annotations

import pytest

from trainyard.catalog import gcp, tpu_slices


@pytest.mark.parametrize(
    ("machine", "topology", "machines"),
    [
        ("ct6e-standard-1t", "1x1", 1),
        ("ct6e-standard-4t", "2x2", 1),
        ("ct6e-standard-8t", "2x4", 1),
        ("ct6e-standard-4t", "2x4", 2),
        ("ct6e-standard-4t", "16x16", 64),
        ("ct5lp-hightpu-4t", "4x4", 4),
        ("ct5p-hightpu-4t", "2x2x1", 1),
        ("ct5p-hightpu-4t", "2x2x2", 2),
        ("ct5p-hightpu-4t", "4x4x20", 80),
    ],
)
def test_the_machines_of_a_slice_follow_from_its_topology(machine: str, topology: str, machines: int) -> None:
    found = gcp.tpu(machine)
    assert tpu_slices.takes(found, topology)
    assert tpu_slices.machines(found, topology) == machines


@pytest.mark.parametrize(
    ("machine", "topology"),
    [
        ("ct6e-standard-4t", "1x1"),
        ("ct6e-standard-4t", "4x2"),
        ("ct6e-standard-4t", "32x32"),
        ("ct6e-standard-8t", "4x4"),
        ("ct6e-standard-4t", "2x2x2"),
        ("ct5p-hightpu-4t", "4x4"),
        ("ct5p-hightpu-4t", "8x4x4"),
        ("ct5p-hightpu-4t", "2x4x8"),
        ("ct5p-hightpu-4t", "16x16x28"),
        ("ct5p-hightpu-4t", "4x4x"),
        ("ct5p-hightpu-4t", ""),
    ],
)
def test_what_is_no_topology_of_a_machine_is_none(machine: str, topology: str) -> None:
    assert not tpu_slices.takes(gcp.tpu(machine), topology)


def test_every_usual_topology_is_of_whole_machines() -> None:
    for machine in gcp.tpus():
        for topology in machine.topologies:
            assert tpu_slices.takes(machine, topology)
            assert tpu_slices.machines(machine, topology) * machine.chips == tpu_slices.chips(topology)


def test_what_is_no_topology_has_no_chips() -> None:
    with pytest.raises(ValueError, match="'4by4' is no topology"):
        tpu_slices.chips("4by4")


def test_a_zone_that_was_read_without_a_price_is_priced_as_another_region_is() -> None:
    assert gcp.offered_zones("ct5lp-hightpu-8t", "us-west4") == ("us-west4-a",)
    price = gcp.machine_price("ct5lp-hightpu-8t", "us-west4")
    assert price is not None and (price.usd, price.region) == (9.6, "us-central1")
