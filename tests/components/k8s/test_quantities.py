from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.k8s.quantities import bound, gibibytes, whole


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1Gi"), (1200, "1200Gi"), (1024, "1Ti"), (2048, "2Ti"), (4800, "4800Gi"), (2**20, "1Pi")]
)
def test_gibibytes(count: int, text: str) -> None:
    assert gibibytes(count) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (8, "8"), (1000, "1k"), (1500, "1500"), (96000, "96k"), (5_000_000, "5M")]
)
def test_whole(count: int, text: str) -> None:
    assert whole(count) == text


@given(st.integers(min_value=1, max_value=2**40))
def test_quantities_keep_their_value(count: int) -> None:
    binary = {"Gi": 1, "Ti": 1024, "Pi": 1024**2}
    text = gibibytes(count)
    assert int(text[:-2]) * binary[text[-2:]] == count
    decimal = {"k": 1000, "M": 1000**2, "G": 1000**3}
    text = whole(count)
    assert int(text.rstrip("kMG")) * decimal.get(text[-1], 1) == count


def test_quantities_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 GiB, got 0"):
        gibibytes(0)
    with pytest.raises(ValueError, match="at least 0, got -1"):
        whole(-1)


def test_a_bound_may_let_nothing_by():
    assert (bound(0), bound(80)) == ("0", "80Gi")
