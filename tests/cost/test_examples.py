"""The example stacks: everything is priced, free with a reason, or listed; and the figures hold together."""

import json
from collections import Counter
from datetime import date

import pytest

from tests.conftest import EXAMPLES, MANAGED, ON_GOOGLE, WHOLE
from tests.cost.recorded import TODAY
from trainyard.cost.price import price_stack
from trainyard.cost.rules import free_reason, rule_of
from trainyard.recorded.types import HELM_RELEASE
from trainyard.review.reports.cost import summary


@pytest.fixture(params=EXAMPLES)
def example(request, rehearsed):
    rehearsal = rehearsed(request.param)
    return rehearsal, price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)


def test_every_cloud_type_has_a_price_rule_or_a_reason_to_be_free(example):
    rehearsal, _ = example
    types = {found.type for found in rehearsal.resources if found.is_made}
    unknown = sorted(type_ for type_ in types if rule_of(type_) is None and free_reason(type_) is None)
    assert not unknown, f"say on its card by which rule it is priced, or why it is free: {unknown}"


def test_no_type_of_a_cloud_is_free_by_its_package():
    assert free_reason("aws:sagemaker/endpoint:Endpoint") is None
    assert free_reason("gcp:container/cluster:Cluster") is None


def test_nothing_is_dropped(example):
    rehearsal, cost = example
    made = Counter(found.type for found in rehearsal.resources if found.is_made)
    told = Counter(dict.fromkeys({(line.type, line.component, line.resource) for line in cost.lines}, 1))
    told.update({(entry.type, entry.component, entry.resource): 1 for entry in cost.unpriced})
    seen = Counter(type_ for type_, _, _ in told)
    for entry in cost.free:
        seen[entry.type] += entry.count
    assert seen == made


def test_totals_are_the_sums_of_the_lines_and_of_the_shares(example):
    _, cost = example
    for figure in ("floor", "expected", "ceiling"):
        total = getattr(cost.total, figure)
        assert total == pytest.approx(sum(getattr(line.usd, figure) for line in cost.lines), abs=0.005)
        assert total == pytest.approx(sum(getattr(share.usd, figure) for share in cost.by_component), abs=0.005)
        assert total == pytest.approx(sum(getattr(share.usd, figure) for share in cost.by_team), abs=0.005)


def test_every_line_is_quantity_times_price_less_the_discount(example):
    _, cost = example
    for line in cost.lines:
        assert line.usd.floor <= line.usd.expected <= line.usd.ceiling, line
        assert line.low_usd <= line.usd.expected <= line.high_usd, line
        paid = line.unit_usd * (1 - line.discount)
        assert line.usd.floor == pytest.approx(line.quantity.floor * paid, abs=0.006)
        assert line.usd.expected == pytest.approx(line.quantity.expected * paid, abs=0.006)
        assert line.usd.ceiling == pytest.approx(line.quantity.ceiling * line.unit_usd, abs=0.006)
        assert line.source and line.date <= TODAY.isoformat() and line.unit


def test_the_floor_is_the_plans_idle_floor_and_what_that_leaves_out(example):
    """The plan reckons before anything is recorded; every difference has a name."""
    rehearsal, cost = example
    planned = sum(item["monthly_usd"] for item in rehearsal.plan["core"]["idle_floor"]["items"])
    metrics = sum(line.usd.floor for line in cost.lines if line.what == "detailed metrics")
    # Node groups of the recording that the plan's floor has no word of: none. Detailed monitoring of system nodes is
    # set in the launch template, below the plan.
    assert (metrics > 0) == (bool(rehearsal.plan["clusters"]) and rehearsal.plan["ground"]["kind"] == "aws")
    assert cost.total.floor == pytest.approx(planned + metrics, abs=0.05)
    assert cost.total.floor == pytest.approx(planned, rel=0.02)


def test_a_small_team_costs_little_while_nobody_works(rehearsed):
    """Keys are all of it; a private domain has a NAT gateway with its address besides."""
    public, private = (
        price_stack(rehearsed(stack).resources, rehearsed(stack).plan, today=TODAY).total.floor for stack in MANAGED
    )
    assert public < 10
    assert public + 36 < private < 50


def test_the_budget_is_the_recorded_one(example):
    rehearsal, cost = example
    assert cost.budget_usd == rehearsal.plan["core"]["budget"]["monthly_usd"]
    assert cost.budget_usd > cost.total.floor


def test_prices_of_another_region_are_flagged(example):
    rehearsal, cost = example
    assert cost.region == rehearsal.plan["ground"]["region"]
    elsewhere = rehearsal.plan["ground"]["region"] not in ("us-east-1", "us-central1")
    there = [line for line in cost.lines if not line.other_region]
    if elsewhere:
        # Google sells some things at one price everywhere, and its machines' prices are known of each region.
        assert bool(there) == (rehearsal.stack in ON_GOOGLE)
        assert all(line.type.startswith("gcp:") or line.type == HELM_RELEASE for line in there)
    else:
        assert len(there) == len(cost.lines)
    assert cost.as_json()["prices"]["of_another_region"] == len(cost.lines) - len(there)


def test_teams_pay_for_gpus_by_their_quotas_and_nothing_else(example):
    rehearsal, cost = example
    if not rehearsal.plan["clusters"]:
        assert {share.name for share in cost.by_team} == {"shared"}  # nothing is made for a team before it works
        return
    shares = {share.name: share for share in cost.by_team}
    assert set(shares) == {team["name"] for team in rehearsal.plan["core"]["teams"]} | {"shared"}
    gpu = sum(line.usd.expected for line in cost.lines if line.pool)
    assert sum(share.usd.expected for name, share in shares.items() if name != "shared") == pytest.approx(gpu, abs=0.05)
    for team in rehearsal.plan["core"]["teams"]:
        assert shares[team["name"]].budget_usd == team["monthly_budget_usd"]


def test_the_json_is_the_contract_and_stable(example):
    rehearsal, cost = example
    found = cost.as_json()
    assert json.loads(json.dumps(found)) == found
    assert list(found)[:5] == ["currency", "stack", "floor", "expected", "ceiling"]
    contract = {"currency", "floor", "expected", "ceiling", "budget", "by_component", "by_team", "lines", "unpriced"}
    assert contract | {"savings", "prices"} <= set(found)
    again = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY).as_json()
    assert json.dumps(again) == json.dumps(found)
    assert found["prices"]["oldest"] == min(line["date"] for line in found["lines"])


def test_the_demo_costs_what_its_parts_do(rehearsed):
    rehearsal = rehearsed("demo")
    cost = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)
    by_line = {(line.resource, line.what): line for line in cost.lines}
    reserved = by_line["gpu-nodes-train-reserved", "p4d.24xlarge, 1 reserved"]
    assert (
        reserved.usd.floor == reserved.usd.expected == reserved.usd.ceiling == pytest.approx(730 * 21.957642, abs=0.01)
    )
    dev = by_line["gpu-nodes-dev-on-demand", "g6.2xlarge, up to 4"]
    assert (dev.usd.floor, dev.usd.expected) == (0, pytest.approx(0.7 * 4 * 730 * 0.9776, abs=0.01))
    interfaces = [line for line in cost.lines if line.what == "interface in 1 zone"]
    assert len(interfaces) == 7
    assert not cost.unpriced


def test_high_assurance_costs_what_it_adds(rehearsed):
    rehearsal = rehearsed(WHOLE)
    cost = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)
    by_line = {(line.resource, line.what): line for line in cost.lines}
    lustre = by_line["acme-demo-lustre", "4800 GiB provisioned"]
    assert lustre.usd.floor == pytest.approx(4800 * 0.34)
    interfaces = [line for line in cost.lines if line.what == "interface in 3 zones"]
    assert len(interfaces) == 9
    assert not cost.unpriced


def test_a_capacity_block_is_listed_and_in_no_figure(rehearsed):
    rehearsal = rehearsed("large-aws")
    cost = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)
    (entry,) = cost.unpriced
    assert entry.what == "4 p5en.48xlarge"
    assert "paid for once" in entry.reason and "184,824" in entry.reason
    assert "a month at the price listed on 2026-07-22 is" in entry.reason
    later = price_stack(rehearsal.resources, rehearsal.plan, today=date(2027, 1, 19))
    assert "listed on 2026-07-22, older than 180 days, is" in later.unpriced[0].reason
    lines = [line for line in cost.lines if line.resource == "gpu-nodes-pretrain-reserved"]
    assert {line.what for line in lines} == {"disks, 200 GiB each", "detailed metrics"}
    spot = next(line for line in cost.lines if line.resource == "gpu-nodes-train-spot" and line.discount)
    assert spot.unit_usd * (1 - spot.discount) == pytest.approx(17.8468), "the quote of us-west-2, not of us-east-1"
    assert "17.8468 USD an hour on spot in us-west-2" in spot.note


def test_a_first_preview_costs_the_same(rehearsed):
    """What only a cloud can tell, ids and ARNs, is in no price."""
    rehearsal = rehearsed("demo")
    known = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)
    preview = price_stack(rehearsal.preview.resources, rehearsal.plan, today=TODAY)
    assert preview.total == known.total
    assert preview.unpriced == ()


def test_the_summary_is_three_lines(rehearsed):
    rehearsal = rehearsed("large-aws")
    cost = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)
    rows = dict(summary(cost))
    assert rows["USD a month"] == (
        f"{cost.total.floor:,.0f} idle, {cost.total.expected:,.0f} expected, {cost.total.ceiling:,.0f} at most"
    )
    assert rows["budget"].startswith("400,000, ")
    assert rows["prices"] == "1 not priced; prices of another region; some older than 180 days (oldest 2024-07-01)"
