"""Published runs that no figure was computed from: the bar of the project, and the document that shows them."""

from __future__ import annotations

import statistics

import pytest

from tests.shared import ROOT
from tests.sizing.recommend.published import fitted_markdown, markdown, runs


@pytest.fixture(scope="module")
def every():
    return runs()


def test_the_median_error_is_at_most_a_quarter(every):
    assert statistics.median(abs(run.error) for run in every) <= 0.25
    assert statistics.median(abs(run.error) for run in every if run.covered) <= 0.25


def test_four_in_five_are_inside_the_range(every):
    assert statistics.fmean(run.inside for run in every) >= 0.8
    assert statistics.fmean(run.inside for run in every if run.covered) >= 0.8


def test_the_ranges_are_narrow_enough_to_say_something(every):
    """A range that holds everything says nothing: at most five times from end to end where the formulas apply."""
    for run in every:
        if run.covered:
            assert run.estimate.high / run.estimate.low < 5, run.name


def test_there_are_runs_of_every_kind(every):
    assert len(every) >= 30
    assert {run.row["gpu"] for run in every} >= {"A100-40GB", "A100-80GB", "H100", "V100", "L40S"}
    assert all(run.row["source"] and run.row["evidence"] in {"read", "recalled"} for run in every)


def test_the_document_shows_the_runs_as_they_come_out():
    text = (ROOT / "docs" / "recommender.md").read_text(encoding="utf-8")
    assert markdown() in text, "write the tables anew: make golden"
    assert fitted_markdown() in text, "write the tables anew: make golden"
