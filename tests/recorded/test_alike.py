"""What was worked out once is used again for what is equal, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.recorded.alike import Memo, Sound, SoundGiven, content
from trainyard.recorded.model import UNKNOWN, AboutInputs, RecordedResource, Secret, bare, has_secret, has_unknown
from trainyard.rehearsal.context import Stack, ValueContext, View

SPEC: dict[str, Any] = {"replicas": 1, "labels": {"app": "a", "tier": "b"}, "ports": [80, "http", 0.5, None, True]}


def test_equal_values_are_alike_whoever_made_them() -> None:
    other = {"replicas": int("1"), "labels": {"app": "".join("a"), "tier": "b"}, "ports": [80, "ht" + "tp", 0.5, None]}
    other["ports"].append(True)
    shared = ["x"] * 2
    assert content(SPEC) == content(other)
    assert content([shared, shared]) == content([["x", "x"], ["x", "x"]])


@pytest.mark.parametrize(
    "other",
    [
        {**SPEC, "replicas": True},
        {**SPEC, "replicas": 1.0},
        {**SPEC, "replicas": "1"},
        {**SPEC, "labels": {"tier": "b", "app": "a"}},  # a message may list them in their order
        {**SPEC, "more": None},
    ],
)
def test_what_a_check_could_tell_apart_is_not_alike(other: dict[str, Any]) -> None:
    assert content(SPEC) != content(other)
    assert content(SPEC, "1.34") != content(SPEC, "1.35")


@pytest.mark.parametrize("mark", [UNKNOWN, Secret("hunter22"), object()])
def test_marks_have_no_key(mark: object) -> None:
    assert content({"password": [mark]}) is None


def test_an_answer_is_worked_out_once_and_no_more_than_so_many_are_kept() -> None:
    asked: list[int] = []
    memo: Memo[int] = Memo(2)

    def answer(number: int) -> int:
        return memo.of(content(number), lambda: asked.append(number) or number)

    assert [answer(number) for number in (1, 2, 1, 2)] == [1, 2, 1, 2]
    assert asked == [1, 2]
    answer(3)  # it begins anew
    assert answer(1) == 1
    assert asked == [1, 2, 3, 1]
    assert [memo.of(None, lambda: asked.append(0) or 0) for _ in range(2)] == [0, 0]
    assert asked[-2:] == [0, 0], "without a key nothing is kept"


def _view(inputs: dict[str, Any], urn: str = "urn:a") -> View:
    one = RecordedResource(
        urn=urn, type="kubernetes:core/v1:Pod", name=urn, parent="", component="", custom=True, provider="",
        inputs=inputs,
    )  # fmt: skip
    return Stack([one], ValueContext("1.35", "us-east-1")).views[0]


def test_what_is_wrong_is_told_of_each_that_has_it_and_what_is_sound_is_looked_at_once() -> None:
    sound, looked = Sound(8), []

    def check(view: View) -> None:
        looked.append(view.name)
        if view.value("replicas") == 0:
            view.error("none", "replicas", "got 0")

    for name, replicas in (("a", 1), ("b", 1), ("c", 0), ("d", 0)):
        view = _view({"replicas": replicas}, name)
        view.unless_sound(sound, lambda view=view: check(view))
        assert [finding.urn for finding in view.findings] == ([name] if replicas == 0 else [])
    assert looked == ["a", "c", "d"]


def test_what_else_a_check_goes_by_is_part_of_the_key_and_secrets_are_looked_at_each_time() -> None:
    sound, looked = Sound(8), []
    for also in ("1.34", "1.35", "1.35"):
        _view({"replicas": 1}).unless_sound(sound, lambda: looked.append(1), also)
    assert len(looked) == 2
    for inputs in ({"password": Secret("hunter22")}, {"replicas": UNKNOWN}):
        for _ in range(2):
            _view(inputs).unless_sound(sound, lambda: looked.append(2))
    assert looked.count(2) == 4


def test_what_was_answered_about_other_things_has_to_be_answered_again() -> None:
    sound = SoundGiven(2)
    there = {"Secret/a": True, "Secret/b": False}
    sound.add(b"one", {question: there[question] for question in ("Secret/a",)})
    assert sound.holds(b"one", there.get)
    assert not sound.holds(b"two", there.get), "another content"
    assert sound.holds(b"one", {**there, "Secret/b": True}.get), "nobody asked about it"
    assert not sound.holds(b"one", {"Secret/a": False}.get)
    assert not sound.holds(b"one", {}.get)
    sound.add(b"two", {})
    sound.add(b"three", {})  # it begins anew
    assert not sound.holds(b"one", there.get)
    assert sound.holds(b"three", {}.get)


def test_a_reader_reads_a_recording_once_and_another_recording_anew() -> None:
    read: list[Stack] = []

    def names(stack: Stack) -> list[str]:
        read.append(stack)
        return [view.name for view in stack.views]

    one, other = (_view({}, urn).stack for urn in ("urn:a", "urn:b"))
    assert [stack.once(names) for stack in (one, one, other)] == [["urn:a"], ["urn:a"], ["urn:b"]]
    assert read == [one, other]


def test_one_input_has_a_key_of_its_own_unless_something_in_the_resource_is_secret() -> None:
    one = _view({"a": [1], "b": {"c": UNKNOWN}})
    assert one.content_of("a") == _view({"a": [1]}).content_of("a") != _view({"a": [2]}).content_of("a")
    assert one.content_of("b") is None
    assert _view({"a": [1], "b": Secret("hunter22")}).content_of("a") is None


@pytest.mark.parametrize("mark", [UNKNOWN, Secret("hunter22")])
@pytest.mark.parametrize("around", [lambda it: it, lambda it: [0, it], lambda it: {"a": {"b": it}}, lambda it: (it,)])
def test_marks_are_found_at_any_depth_and_nothing_else_is_one(mark: Any, around: Any) -> None:
    assert (has_unknown(around(mark)), has_secret(around(mark))) == (mark is UNKNOWN, mark is not UNKNOWN)
    assert (has_unknown(around("[unknown]")), has_secret(around("[secret]"))) == (False, False)
    assert has_unknown(around(Secret([UNKNOWN])))
    assert not has_unknown(around(object()))


@pytest.mark.parametrize(
    ("inputs", "plain"),
    [
        ({"a": "f(x)", "b": [1]}, {"a": "f(x)", "b": [1]}),
        ({"a": (1, (2,))}, {"a": [1, [2]]}),
        ({"a": [{"b": ()}]}, {"a": [{"b": []}]}),
        ({"a": [Secret("(")]}, {"a": ["("]}),
        ({"a": UNKNOWN}, {"a": UNKNOWN}),
    ],
)
def test_inputs_lose_their_marks_and_their_tuples_whatever_stands_in_them(inputs: Any, plain: Any) -> None:
    found = _view(inputs).inputs
    assert found == plain == bare(inputs)


@pytest.mark.parametrize(
    ("inputs", "plain", "secret", "paths"),
    [
        ({"a": [1, {"b": "c"}]}, True, False, ()),
        ({"a": "(text)"}, True, False, ()),
        ({"a": UNKNOWN}, False, False, ()),
        ({"a": ["b", Secret({"c": "hunter22", "d": [1]})]}, False, True, ("a[1].c", "a[1].d[0]")),
    ],
)
def test_what_is_known_of_inputs_is_what_each_question_alone_answers(
    inputs: dict[str, Any], plain: bool, secret: bool, paths: tuple[str, ...]
) -> None:
    about = AboutInputs(inputs)
    assert (about.written is not None, about.has_secret, about.secret_paths) == (plain, secret, paths)
    assert (about.content is not None) == plain
    assert about.bare == bare(inputs)
    assert has_secret(inputs) == secret


def test_inputs_are_known_by_what_is_known_of_the_very_same_ones_alone() -> None:
    inputs, other = {"a": Secret("hunter22")}, {"a": "b"}
    first, same, another = (
        RecordedResource("urn", "t", "n", "", "", custom=True, provider="", inputs=given)
        for given in (inputs, inputs, other)
    )
    for resource in (same, another):
        resource.knows_inputs_by(first.about_inputs)
    assert same.about_inputs is first.about_inputs
    assert (another.has_secrets, another.bare_inputs) == (False, other)
