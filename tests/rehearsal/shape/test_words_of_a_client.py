"""Which words of a client may be any other: none that a rule knows, holds or might take for another."""

from __future__ import annotations

import pytest

from trainyard.rehearsal.shape import lexicon
from trainyard.rehearsal.shape.lexicon import Lexicon, of_the_rules
from trainyard.rehearsal.shape.words import (
    Vocabulary,
    far_from,
    form,
    forms,
    identity_texts,
    likeness,
    renameable,
    slips,
)


@pytest.mark.parametrize("name", ["vexora", "lumbix", "c028", "hooli", "210987654321", "ml-1300", "cc_4711"])
def test_a_name_that_no_rule_knows_may_be_any_other(name: str) -> None:
    assert renameable([name], of_the_rules()) == (name,)


@pytest.mark.parametrize(
    "name",
    [
        *("goog", "googly", "mygoogle", "aws", "awsome", "amazon", "kube", "system", "default", "Default"),
        *("train", "data", "gpu", "prod", "logs", "bucket", "namespace", "sthree", "us-east-1", "eks"),
        *("true", "null", "yes", "off", "ab", "12", "443", "8080", "123456789012", "datta", "databse"),
    ],
)
def test_a_word_that_a_rule_may_know_is_no_mans_name(name: str) -> None:
    assert renameable([name], of_the_rules()) == ()


def test_a_word_of_texts_is_looked_for_within_names_and_one_of_remarks_is_not() -> None:
    rules = Lexicon.of(frozenset({b"remark", b"ward", b"arn"}), frozenset({b"ward", b"arn"}))
    found = renameable(["remarkable", "awardee", "barnes", "arnold", "learn", "remark"], rules)
    assert found == ("remarkable", "barnes")


def test_a_room_of_the_rules_that_is_gone_is_no_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "_ROOMS", ("rehearsal", "moved"))
    with pytest.raises(NotADirectoryError, match="moved"):
        of_the_rules.__wrapped__()


def test_names_of_which_one_is_in_the_other_or_a_slip_from_it_stay() -> None:
    rules = Lexicon.of(frozenset(), frozenset())
    assert renameable(["vexora", "vexoralab", "lumbix"], rules) == ("lumbix",)
    assert renameable(["vexora", "vexara"], rules) == ()
    assert renameable(["vexora", "Vexora"], rules) == ()
    assert renameable(["ops@vexora.example", "vexora"], rules) == ("ops", "vexora", "example")


def test_slips_are_letters_and_no_numbers() -> None:
    assert {"vexra", "vexxora", "vexoar", "vexara", "exora"} <= slips("vexora")
    assert "vexora" not in slips("vexora")
    assert {"c029", "c128", "c0281", "2028"}.isdisjoint(slips("c028"))
    assert "d028" in slips("c028")


def test_a_form_tells_what_rules_see_of_a_word() -> None:
    assert form("c028") == form("c014")
    assert len({form(word) for word in ("vexora", "vexoras", "Vexora", "vex0ra", "facade", "ml-1300", "mm-1300")}) == 7
    assert form("012345678901") != form("112345678901")
    assert forms(["abc", "xyz"]) != forms(["xyz", "abc"]), "in another order"


@pytest.mark.parametrize("name", ["trainor", "lumbix", "lum", "vexora", "lux", "gridlux", "210987654321"])
def test_what_else_a_stack_says_keeps_off_a_name_that_it_might_mean(name: str) -> None:
    rest = b"\x8c\x07trainer\x94 arn:aws:s3:::lum*-logs/* ^vex.+ gridl 3f48a37b s3:Get* 21098765 \x8c\x40lux is"
    assert not far_from(Vocabulary.of(rest), ["norvik", name])


def test_what_else_a_stack_says_means_no_other_name() -> None:
    rest = b"\x8c\x07trainer\x94 arn:aws:s3:::lum*-logs/* ^vex.+ 3f48a37b s3:Get* 028 300 c02 \x8c\x40nor is"
    assert far_from(Vocabulary.of(rest), ["vortik", "c028", "zaltec", "ml-1300", "310987654300"])


def test_who_a_client_is_comes_from_its_settings() -> None:
    settings = {"client": "vexora", "alertEmails": ["a@b.c"], "gcp": {"project": "p-1"}, "aws": None, "teamSize": 5}
    assert identity_texts("stack", settings) == ["stack", "vexora", "a@b.c", "p-1"]


def test_files_are_alike_that_differ_in_who_the_client_is() -> None:
    text = "config:\n  trainyard:client: {0}\n  trainyard:teamSize: 5\n  trainyard:alertEmails:\n    - a@{0}.example\n"
    one, other = (likeness(name, text.format(name)) for name in ("vexora", "lumbix"))
    assert one == other
    assert "teamSize: 5" in one
    assert likeness("vexora", text.format("vexora").replace("5", "6")) != one
