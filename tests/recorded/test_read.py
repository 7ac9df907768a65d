"""One reader for plain inputs, unknowns and secrets; what happens at an unknown is the caller's choice."""

from types import MappingProxyType

import pytest

from trainyard.recorded.model import UNKNOWN, Secret
from trainyard.recorded.read import (
    UnknownInput,
    UnreadableInput,
    as_number,
    follow,
    is_on,
    is_set,
    known_texts,
    length_at,
    list_at,
    mapping_at,
    mappings_at,
    number_at,
    path_text,
    steps,
    text_at,
    value_at,
)

INPUTS = {
    "size": {"min": 1, "max": UNKNOWN},
    "zones": ["a", UNKNOWN],
    "rules": [{"id": "one", "on": "true"}, {"id": Secret("two")}, "three"],
    "password": Secret({"text": "hidden", "rotation": UNKNOWN}),
    "empty": "",
    "whole": UNKNOWN,
    "text": "12.5",
    "off": False,
}


def test_a_path_leads_through_mappings_lists_and_secrets():
    assert value_at(INPUTS, "size", "min") == 1
    assert value_at(INPUTS, "rules", 1, "id") == "two"
    assert value_at(INPUTS, "password", "text") == "hidden"
    assert value_at(INPUTS, "rules", 7, "id") is None
    assert value_at(INPUTS, "size", "min", "deeper", default="none") == "none"
    assert value_at(None, "anything") is None


def test_what_lies_in_a_secret_is_one_and_what_lies_in_an_unknown_is_one():
    assert follow(INPUTS, "password", "text") == Secret("hidden")
    assert follow(INPUTS, "password", "absent") is None
    assert follow(INPUTS, "whole", "part", 3) is UNKNOWN


def test_an_unknown_raises_with_its_path_unless_something_is_given_for_it():
    with pytest.raises(UnknownInput) as caught:
        value_at(INPUTS, "size", "max")
    assert (caught.value.what, caught.value.reason) == ("size.max", "not known before the resource exists")
    assert value_at(INPUTS, "size", "max", unknown="?") == "?"
    assert value_at(INPUTS, "password", "rotation", unknown="?") == "?"
    with pytest.raises(UnknownInput, match=r"^whole: "):
        value_at(INPUTS, "whole", "part", 3)
    with pytest.raises(UnknownInput, match=r"^password\.rotation: "):
        value_at(INPUTS, "password", "rotation")


def test_whether_something_is_set_holds_for_an_unknown():
    assert is_set(INPUTS, "size", "max") and is_set(INPUTS, "whole", "part") and is_set(INPUTS, "password")
    assert not is_set(INPUTS, "empty") and not is_set(INPUTS, "off") and not is_set(INPUTS, "absent")


def test_lists_and_mappings_know_their_unknown_parts():
    with pytest.raises(UnknownInput, match=r"zones\[1\]"):
        list_at(INPUTS, "zones")
    assert length_at(INPUTS, "zones") == 2
    assert list_at(INPUTS, "text") == ["12.5"], "a single value is a list of one"
    assert list_at(INPUTS, "absent") == []
    assert [value_at(rule, "id") for rule in mappings_at(INPUTS, "rules")] == ["one", "two"]
    with pytest.raises(UnknownInput, match=r"size\.max"):
        mapping_at(INPUTS, "size")
    assert mapping_at(INPUTS, "text") == {}


def test_numbers_may_be_written_as_text_and_are_finite_and_not_negative():
    assert number_at(INPUTS, "text") == 12.5
    assert number_at(INPUTS, "absent", default=3) == 3
    for wrong in ("many", True, "1e999", 10**400, -1, float("nan"), float("inf"), None, []):
        with pytest.raises(UnreadableInput, match="number"):
            number_at({"size": wrong}, "size")
    with pytest.raises(UnknownInput):
        number_at(INPUTS, "size", "max", default=3)


def test_a_number_of_any_sign_is_read_where_nothing_is_asked_of_it():
    assert [as_number(value) for value in (-2, 1.5, "-0.5", "many", True, None, UNKNOWN)] == [
        -2, 1.5, -0.5, None, None, None, None,
    ]  # fmt: skip


def test_a_path_written_as_text_is_the_same_path():
    assert steps("rules[0].id") == ("rules", 0, "id")
    assert path_text(steps("rules[0].id")) == "rules[0].id"


def test_flags_are_written_as_text_too():
    assert is_on(INPUTS, "rules", 0, "on") and not is_on(INPUTS, "rules", 1, "on") and not is_on(INPUTS, "off")


def test_known_texts_pass_over_unknowns_and_what_is_left_out():
    found = dict(known_texts(INPUTS, exclude=frozenset({"empty", "size"})))
    assert found == {
        "zones[0]": "a",
        "rules[0].id": "one",
        "rules[0].on": "true",
        "rules[1].id": "two",
        "rules[2]": "three",
        "password.text": "hidden",
        "text": "12.5",
    }


def test_a_text_is_a_text_or_nothing():
    assert text_at({"a": {"b": "x"}}, "a", "b") == "x"
    assert text_at({"a": {}}, "a", "b") is None
    for wrong in ({}, ["x"], 7):
        with pytest.raises(UnreadableInput, match=r"a\.b"):
            text_at({"a": {"b": wrong}}, "a", "b")
    with pytest.raises(UnknownInput):
        text_at({"a": UNKNOWN}, "a", "b")


def test_texts_are_found_in_whatever_holds_them():
    value = {"a": ("x", 1, None), "b": MappingProxyType({"c": Secret({"d": ["y", UNKNOWN]}), "left": "z"})}
    found = [("in.a[0]", "x"), ("in.b.c.d[0]", "y")]
    assert list(known_texts(value, "in", exclude=frozenset({"left"}))) == found


def test_a_number_is_set_and_an_empty_tuple_is_not():
    assert [is_set({"a": value}, "a") for value in (0, 0.0, "", [], (), False, (1,))] == [
        True,
        True,
        *[False] * 4,
        True,
    ]
