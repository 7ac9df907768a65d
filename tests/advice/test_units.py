"""Quantities as people write and read them."""

from __future__ import annotations

import pytest

from trainyard.advice import units
from trainyard.advice.architectures import shape
from trainyard.advice.ranges import Range


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (units.count, "7e9", 7e9),
        (units.count, "7B", 7e9),
        (units.count, "1.28M", 1.28e6),
        (units.count, "20k", 20e3),
        (units.gigabytes, "1.5TB", 1500),
        (units.gigabytes, "1GiB", 2**30 / 1e9),
        (units.hours, "30d", 720),
        (units.hours, "2w", 336),
        (units.hours, "12h", 12),
    ],
)
def test_quantities_are_read(reader, text, value):
    assert reader(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "-1", "7b", "7 B C", "inf", "0x10", "1,000", "1e400", "B"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match="must be a number like"):
        units.count(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (712, "712"), (95_760, "95.8k"), (999_600, "1M"), (1_290_000, "1.29M"), (7e9, "7B"), (1e12, "1T")],
)
def test_quantities_are_written_short(value, text):
    assert units.short(value) == text


def test_times_are_written_in_what_fits_the_typical_one():
    assert units.duration(Range(24, 720, 1400)) == "30.0 d (1.0-58.3)"
    assert units.duration(Range(0.5, 12, 200)) == "12.0 h (0.50-200)"


def test_a_model_is_named_by_its_parameters_as_everything_else_is():
    assert shape(999.9e6).name == "1B parameters"
