"""The page of the idle floor before and after: every line of today has a row, and what fell adds up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.floor_page import UntoldError, floor_page
from tests.golden_files import FLOOR, floor_text
from tests.shared import ROOT
from trainyard.review.review import review


@pytest.fixture(scope="module")
def lines():
    cost = review(ROOT, ROOT / "stacks" / "Pulumi.demo.yaml").cost
    assert cost is not None
    return cost.lines


def row(page: str, begins: str) -> list[str]:
    (found,) = (line for line in page.splitlines() if line.startswith(f"| {begins}"))
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_the_page_is_what_is_priced(lines):
    assert floor_page(lines) == FLOOR.read_text(encoding="utf-8") == floor_text(), "make golden"


def test_what_fell_is_named_and_adds_up(lines):
    page = floor_page(lines)
    assert row(page, "FSx for Lustre")[1:4] == ["1,632.00", "0.00", "-1,632.00"]
    assert row(page, "interface endpoints")[1:4] == ["197.10", "51.10", "-146.00"]
    assert row(page, "tracking database")[1:4] == ["94.90", "47.45", "-47.45"]
    was, now, fell = (float(cell.replace(",", "")) for cell in row(page, "**beside the reservation**")[1:4])
    assert (was, fell) == (2356.95, pytest.approx(now - was))
    own = sum(line.usd.floor for line in lines if "reserved" not in line.what)
    assert now == pytest.approx(own, abs=0.01), "no line of today is counted twice or not at all"


def test_whatever_is_paid_and_has_no_row_is_a_mistake(lines):
    other = replace(lines[0], type="aws:redshift/cluster:Cluster", usd=replace(lines[0].usd, floor=9.0))
    with pytest.raises(UntoldError, match="redshift"):
        floor_page([*lines, other])
