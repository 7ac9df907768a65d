import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.cost.recorded import TODAY, node_group, priced, resource
from trainyard.cost.compare import alternatives
from trainyard.cost.model import Amounts
from trainyard.cost.price import price_stack
from trainyard.output import WIDTH, as_text
from trainyard.review.reports.cost import as_html, bars, report
from trainyard.review.verdict import money_of


def text_of(*found):
    return as_text(lambda out: out.print(report(*found)))


@pytest.fixture(scope="module")
def demo(rehearsed):
    rehearsal = rehearsed("demo")
    cost = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)
    return cost, alternatives(rehearsal.resources, rehearsal.plan, cost, today=TODAY)


@pytest.mark.parametrize("stack", ["demo", "large-aws", "uae-aws"])
def test_the_terminal_fits_a_hundred_columns(rehearsed, stack):
    rehearsal = rehearsed(stack)
    cost = price_stack(rehearsal.resources, rehearsal.plan, today=TODAY)
    text = text_of(cost, alternatives(rehearsal.resources, rehearsal.plan, cost, today=TODAY))
    assert max(map(len, text.splitlines())) <= WIDTH == 100
    assert "…" not in text, "nothing is cut off"


def test_the_terminal_names_what_matters(demo):
    cost, others = demo
    text = text_of(cost, others)
    total = f"{cost.total.floor:,.0f} +{cost.total.expected:,.0f} +{cost.total.ceiling:,.0f}"
    assert len(re.findall(rf"total +{total}", text)) == 2, "by component and by team"
    assert re.search(r"vision .* of 29,167", text)
    assert "Saved already, and counted" in text
    assert "Could be saved by a commitment, not counted" in text
    assert re.search(r"use a price\s+older than 180 days", text)
    assert "all on demand" in text


def test_what_is_not_priced_and_what_is_of_another_region_is_told():
    cost = priced(
        resource("aws:elasticache/cluster:Cluster", "cache"),
        resource("aws:ec2/eip:Eip", inputs={"region": "eu-west-1"}),
    )
    text = text_of(cost)
    assert "1 thing is not priced, and in no figure" in text
    assert "cache, all of it: no price rule for aws:elasticache/cluster:Cluster" in text
    assert "1 of 1 lines use prices of us-east-1" in text


def test_a_stack_without_anything_has_a_report():
    cost = priced()
    assert "there is no monthly budget" in text_of(cost)
    assert "<!doctype html>" in as_html(cost)
    assert cost.as_json()["prices"]["oldest"] == ""


@pytest.mark.parametrize(
    ("floor", "expected", "high", "ceiling", "said", "mood"),
    [
        (120, 130, 130, 140, "before any job runs", "bad"),
        (10, 130, 130, 140, "expected to be 30 USD over the budget of 100 USD", "bad"),
        (10, 90, 110, 140, "unless spot is dear", "warn"),
        (10, 90, 95, 140, "over it with every pool full", "good"),
        (10, 90, 95, 99, "even with every pool full", "good"),
    ],
)
def test_the_verdict_on_the_budget(floor, expected, high, ceiling, said, mood):
    cost = replace(priced(), total=Amounts(floor, expected, ceiling), high_usd=high, budget_usd=100)
    money = money_of(cost)
    assert said in money.sentence and money.mood == mood


def test_stacked_bars_meet_end_to_end_and_reach_their_totals(demo):
    cost, _ = demo
    for bar in bars(cost.by_component, cost.total.ceiling):
        ends = 0.0
        for part in bar.slices:
            assert part.start == pytest.approx(ends)
            ends = part.start + part.width
        assert ends == pytest.approx(bar.end)
        assert bar.usd == pytest.approx(getattr(cost.total, bar.name), abs=0.01)
    assert bars(cost.by_component, cost.total.ceiling)[-1].end == pytest.approx(100)


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.loads, self.rects = [], [], 0

    def handle_starttag(self, tag, attrs):
        self.loads += [value for key, value in attrs if key in ("src", "href", "srcset", "data", "action")]
        self.rects += tag == "rect"
        if tag not in ("meta", "br", "rect", "line", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("rect", "line"):
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)


def test_the_page_is_whole_and_loads_nothing(demo):
    cost, others = demo
    text = as_html(cost, others)
    page = _Page()
    page.feed(text)
    assert page.open == [] and page.loads == []
    assert "<script" not in text and "url(" not in text and "@import" not in text
    assert page.rects > 2 * 3 * 2, "a track and slices in each of six bars"
    for line in cost.lines:
        assert line.resource in text
    assert f"All {len(cost.lines)} lines" in text


def test_the_page_escapes_names():
    assert "<b>x</b>" not in as_html(priced(resource("aws:ec2/eip:Eip", "<b>x</b>")))


def test_alternatives_are_dearer_without_spot_and_cheaper_committed():
    stack = [
        *node_group("train-spot", capacity="spot", most=4),
        *node_group("train-reserved", capacity="reserved", most=1, reservation="cr-1"),
    ]
    cost = priced(*stack)
    found = {other.name: other for other in alternatives(stack, {}, cost, today=TODAY)}
    as_is = found["as it is"].expected_usd
    assert found["committed, 36 months"].expected_usd < found["committed, 12 months"].expected_usd < as_is
    assert as_is < found["all on demand"].expected_usd < found["always on"].expected_usd
    spot = sum(saving.usd for saving in cost.savings if saving.kind == "spot")
    assert found["all on demand"].expected_usd == pytest.approx(as_is + spot, abs=0.02)
    for other in found.values():
        assert other.low_usd <= other.expected_usd <= other.high_usd
