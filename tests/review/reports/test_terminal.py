"""What a person sees first, and what after it."""

import re
from dataclasses import replace

import pytest

from tests.review.formats.test_formats import ACCEPTED, ADVICE, ERROR, VIOLATION, WARNING, checked
from trainyard.output import Look, rendered
from trainyard.problems import Problem
from trainyard.review.reports import terminal
from trainyard.review.review import Review, unreadable


def shown(found, width=80):
    return rendered(lambda out: out.print(found), Look(width, None, "utf-8"))


@pytest.fixture(scope="module")
def demo(reviewed):
    return reviewed("demo")


@pytest.mark.parametrize("width", [80, 100])
def test_verdict_money_and_next_step_stand_in_ten_lines(demo, width):
    lines = shown(terminal.report(demo), width).splitlines()
    head = "\n".join(lines[:10])
    assert lines[0] == "demo is sound: nothing would be refused, all of it works, no policy is violated."
    for label in ("money", "budget", "policies", "program", "next"):
        assert re.search(rf"^{label} ", head, flags=re.MULTILINE), label
    assert re.search(r"[\d,]+ expected", head) and "the budget of 70,000 USD" in head
    assert "pulumi up --stack demo" in head
    assert len(lines) <= 10 and max(map(len, lines)) <= width
    assert "ec2.Vpc" not in "\n".join(lines)


def test_the_tree_is_there_where_it_is_asked_for(demo):
    text = shown(terminal.report(demo, tree=True), 100)
    assert text.index("demo is sound") < text.index("gpu-nodes  GpuNodeGroups") < text.index("Critical path")
    assert "Totals" in text


def test_trees_are_drawn_in_what_the_output_can_hold(demo):
    text = rendered(lambda out: out.print(terminal.report(demo, tree=True)), Look(100, None, "ascii"))
    assert "|-- " in text or "+-- " in text
    assert not set("├└│") & set(text)


def test_violations_of_one_policy_are_told_with_one_remedy():
    other = replace(VIOLATION, name="second", message="it answers everyone")
    text = shown(terminal.alone(checked(VIOLATION, other, ADVICE, accepted=(ACCEPTED,))), 200)
    assert text.count("Leave publiclyAccessible off. (NIST 800-53r5 SC-7)") == 2, "of the mandatory ones and the advice"
    assert "mlflow tracking: publiclyAccessible is on" in text and "mlflow second: it answers everyone" in text
    assert "accepted public-bucket tracking until 2027-01-01: a museum (me)" in text
    assert text.index("next") < text.index("Policies")


def test_findings_are_told_in_full():
    text = shown(terminal.alone(checked(findings=(ERROR, WARNING), wrong=True)), 200)
    assert text.startswith("demo would fail: 1 error that would be refused, or would not work.")
    assert "error unknown-key" in text and "warning unknown-key" in text and "a text where a number is due" in text


def test_wrong_settings_are_told_with_their_place(tmp_path):
    file = tmp_path / "Pulumi.shop.yaml"
    file.write_text("config:\n  trainyard:region: us-esat-1\n")
    found = unreadable(tmp_path, file, [Problem("region", "us-esat-1", "no such region", "did you mean us-east-1?")])
    text = shown(terminal.alone(found))
    assert text.startswith("shop has wrong settings: 1 problem.")
    assert "region  Pulumi.shop.yaml:2" in text and "did you mean us-east-1?" in text


def test_many_stacks_are_a_line_each_and_only_the_others_are_told_in_full():
    sound, bad = checked(gateways=1, budget=900), checked(VIOLATION)
    text = shown(terminal.many([sound.verdict, bad.verdict]), 200)
    assert text.startswith("2 stacks: 1 sound, 1 violated.")
    assert len(text.splitlines()) == 4
    assert terminal.details(sound) is None
    assert terminal.details(checked(accepted=(ACCEPTED,))) is not None
    detailed = terminal.details(bad)
    assert detailed is not None and "public-database" in shown(detailed)


def test_markup_in_a_stack_is_text():
    text = shown(terminal.alone(checked(replace(VIOLATION, message="[bold]x[/] [red]"))), 200)
    assert "[bold]x[/] [red]" in text
    assert isinstance(checked(), Review)
