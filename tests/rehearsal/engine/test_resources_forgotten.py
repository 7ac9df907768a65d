"""A program's resource objects after its run: let go of where nobody has them any more, and nowhere else."""

from __future__ import annotations

import gc
import weakref

import pulumi
import pulumi_random
import pytest

from trainyard.rehearsal.engine.recorder import record, record_both, resources_forgotten


class Place(pulumi.ComponentResource):
    """A component and its part, which hold each other."""

    def __init__(self, name: str) -> None:
        super().__init__("tests:index:Place", name)
        self.part = pulumi_random.RandomId("part", byte_length=4, opts=pulumi.ResourceOptions(parent=self))
        self.back = self.part.hex.apply(lambda text: (self, text)[1])
        self.register_outputs({"hex": self.back})


def recorded() -> list[tuple[str, object]]:
    return [(each.urn, each.inputs) for each in record(lambda: Place("place"), preview=False).resources]


def test_what_is_recorded_is_the_same_and_stays() -> None:
    plain = recorded()
    with resources_forgotten():
        inside = recorded()
    assert inside == plain
    assert any("RandomId" in urn for urn, _ in plain)


def test_a_program_s_resources_are_empty_at_the_end_of_the_block_and_not_before() -> None:
    kept: list[Place] = []
    with resources_forgotten():
        record(lambda: kept.append(Place("place")), preview=False)
        (place,) = kept
        part = place.part
        assert isinstance(part.hex, pulumi.Output)
    assert not vars(place)
    assert not vars(part)


def test_what_is_recorded_outside_of_a_block_is_left_alone() -> None:
    with resources_forgotten():
        recorded()
    kept: list[Place] = []
    record_both(lambda: kept.append(Place("place")))
    assert kept
    assert isinstance(kept[-1].part.hex, pulumi.Output)


def test_blocks_end_after_a_failure_too() -> None:
    kept: list[Place] = []
    with pytest.raises(RuntimeError, match="of the caller"), resources_forgotten():
        record(lambda: kept.append(Place("place")), preview=False)
        raise RuntimeError("of the caller")
    assert not vars(kept[0])


def test_nothing_is_left_for_the_garbage_collector() -> None:
    """Once the stack of the program and its outputs held each other, and the whole recording with them."""
    gone: list[weakref.ref[Place]] = []
    gc.collect()
    gc.disable()
    try:
        with resources_forgotten():
            record(lambda: gone.append(weakref.ref(Place("place"))), preview=False)
        assert gone[0]() is None
    finally:
        gc.enable()
