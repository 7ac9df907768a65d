"""`explain STACK queues`: what the queues give, in words, from the rehearsal's own model."""

from __future__ import annotations

import pytest

from tests.conftest import WITH_CLUSTERS
from tests.rehearsal.works.mistakes_queues import JOB, VISION, each, on, quota, told
from tests.rehearsal.works.queues.test_false_alarms import FOREIGN
from trainyard.recorded.resources import Resources
from trainyard.review.works.topics import TOPICS, tables_of


def tables(resources):
    shares, jobs = tables_of("queues", Resources(resources))
    return shares, jobs


def row(table, *cells):
    found = [row for row in table.rows if set(cells) <= set(row)]
    assert len(found) == 1, found
    return dict(zip(table.columns, found[0], strict=True))


def test_what_a_team_runs_borrows_and_gets_back(rehearsed):
    shares, _ = tables(rehearsed("demo").resources)
    assert row(shares, "language", "train-spot") == {
        "queue": "language",
        "flavor": "train-spot",
        "resource": "nvidia.com/gpu",
        "runs now": "8",
        "may borrow": "8",
        "from": "tabular 8",
        "gets back from a borrower": "8 at once",
    }
    assert row(shares, "language", "train-reserved")["gets back from a borrower"] == ""


def test_without_reclaim_it_gets_nothing_back(rehearsed):
    never = on(VISION, lambda i: i["spec"]["preemption"].update(reclaimWithinCohort="Never"))
    shares, _ = tables(never(list(rehearsed("demo").resources)))
    assert row(shares, "vision", "train-reserved")["gets back from a borrower"] == "nothing until it is free"


def test_what_is_kept_is_not_lent(rehearsed):
    kept = on(VISION, lambda i: quota(i, "train-reserved").update(lendingLimit="0"))
    shares, _ = tables(kept(list(rehearsed("demo").resources)))
    assert row(shares, "vision", "train-reserved")["gets back from a borrower"] == "lends nothing"
    assert row(shares, "language", "train-reserved")["may borrow"] == "0"


def test_what_each_job_gets_and_why_it_waits(rehearsed):
    resources = list(rehearsed("demo").resources)
    _, jobs = tables(resources)
    smoke = row(jobs.about("smoke-train-spot"), "language")
    assert (smoke["pods"], smoke["runs on"]) == ("2 x 8 nvidia.com/gpu", "train-spot")
    assert smoke["borrows"] == "8 nvidia.com/gpu of train-spot"
    assert not [row for row in jobs.rows if row[-1]], "every promised shape is admitted"
    three = on(JOB, lambda i: i["spec"].update(parallelism=3, completions=3))
    _, jobs = tables(three(resources))
    assert "maximum capacity (16)" in row(jobs.about("smoke-train-spot"), "language")["waits because"]


def test_playing_leaves_nothing_behind(rehearsed):
    resources = list(rehearsed("demo").resources)
    assert tables(resources) == tables(resources)


@pytest.mark.parametrize("stack", WITH_CLUSTERS)
def test_every_example_has_an_answer_in_which_every_promised_job_runs(rehearsed, stack):
    shares, jobs = tables(rehearsed(stack).resources)
    assert shares.rows
    assert not [row for row in jobs.rows if row[-1] and "quota is reserved" not in row[-1]]


def test_a_foreign_stack_has_an_answer(rehearsed):
    shares, jobs = tables(FOREIGN)
    assert row(shares, "vision", "spot", "nvidia.com/gpu")["runs now"] == "32"
    assert row(jobs, "vision/train")["runs on"] == "spot"


def test_a_stack_without_queues_has_empty_tables():
    assert [table.rows for table in tables([])] == [(), ()]


def test_a_job_beside_the_quotas_and_one_that_waits_for_a_check_are_told(rehearsed):
    nothing = each(
        told(lambda c: c["resources"]["excludeResourcePrefixes"].append("nvidia.com/")),
    )
    _, jobs = tables(nothing(list(rehearsed("demo").resources)))
    assert "nothing of it is counted" in row(jobs.about("smoke-train-spot"), "language")["runs on"]


def test_the_topic_is_one():
    assert TOPICS["queues"].question.endswith("?")
