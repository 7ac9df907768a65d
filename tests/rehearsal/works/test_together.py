"""Who is judged together with others is accused of what it would be accused of alone, and of nothing else."""

from __future__ import annotations

import pytest

from tests.rehearsal.refusals.builders import resource
from tests.rehearsal.works.mistakes import drop, edit, put
from tests.rehearsal.works.together import AT_ONCE, Together

TOPIC = "aws:sns/topic:Topic"
SOUND = [resource(TOPIC, f"topic-{number}", {"name": f"topic-{number}"}) for number in range(30)]
MORE = resource(TOPIC, "more", {"name": "more"})


def named(number, name):
    return edit(TOPIC, f"topic-{number}", put("name", name))


class Judge:
    """Tells of the names that are wrong, and of no topic by this number where one is missing."""

    def __init__(self):
        self.judged = []

    def __call__(self, resources):
        names = [one.inputs["name"] for one in resources]
        self.judged.append(names)
        return [name for name in names if name.startswith("wrong")] + ["missing"] * ("topic-29" not in names)


def together(key, changes, *more):
    judge = Judge()
    found = Together(f"{__name__} {key}", SOUND, changes, judge, *more)
    return {name: found.told(name) for name in changes}, judge.judged


@pytest.fixture(autouse=True)
def _several(monkeypatch):
    monkeypatch.delenv("ALONE", raising=False)


def test_what_is_right_is_judged_at_once():
    told, judged = together("right", {str(number): named(number, f"right-{number}") for number in range(AT_ONCE)})
    assert set(map(tuple, told.values())) == {()}
    assert judged == [[*(f"right-{number}" for number in range(AT_ONCE)), *(f"topic-{n}" for n in range(AT_ONCE, 30))]]


def test_who_is_accused_is_found_among_the_others():
    changes = {str(number): named(number, f"right-{number}") for number in range(10)}
    changes |= {"wrong": named(12, "wrong"), "gone": drop(TOPIC, "topic-29"), "more": lambda found: [*found, MORE]}
    told, judged = together("one wrong", changes)
    assert {name: found for name, found in told.items() if found} == {"wrong": ["wrong"], "gone": ["missing"]}
    alone = [names for names in judged if "wrong" in names][-1]
    assert [name for name in alone if not name.startswith("topic-")] == ["wrong"]
    assert any("more" in names for names in judged)


def test_changes_of_one_resource_are_apart():
    told, judged = together("same", {"first": named(1, "a"), "second": named(1, "b"), "third": named(2, "c")})
    assert set(map(tuple, told.values())) == {()}
    assert [[name for name in names if len(name) == 1] for names in judged] == [["a", "c"], ["b"]]


def test_what_puts_things_in_another_order_is_alone():
    told, judged = together("order", {"turned": lambda found: found[::-1], "first": named(1, "a")})
    assert set(map(tuple, told.values())) == {()}
    assert [names[0] for names in judged] == ["topic-29", "topic-0"]


def test_only_what_is_held_against_a_change_is():
    changes = {"first": named(1, "wrong-1"), "second": named(2, "wrong-2")}
    told, _ = together("of its own", changes, lambda name, found: (name, found) == ("second", "wrong-2"))
    assert told == {"first": [], "second": ["wrong-2"]}


def test_each_may_be_judged_by_itself(monkeypatch):
    monkeypatch.setenv("ALONE", "1")
    _, judged = together("alone", {"first": named(1, "a"), "second": named(2, "b")})
    assert [[name for name in names if len(name) == 1] for names in judged] == [["a"], ["b"]]
