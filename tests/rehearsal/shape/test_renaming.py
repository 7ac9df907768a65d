"""A normal form tells everything but the client's own words: of it and of them what was written comes back."""

from __future__ import annotations

import hashlib
import pickle
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainyard.rehearsal.shape.renaming import AmbiguousError, Renaming, normal_form

WORDS = ("vexora", "Q7", "210987654321", "ml-1300")
OTHERS = ("lumbix", "Z4", "310987654388", "ml-1455")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def derived_of(words: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """What a program makes of its client's name: digests, one of another, and the number of a port."""
    first = _digest("bucket", words[0])
    return {first: ("bucket", words[0]), _digest(first, "x"): (first, "x"), "2" + words[2][:4]: (words[0], "port")}


def shown(words: Sequence[str], template: str) -> str:
    """A text of a template with `{0}` for a word, `{a}` for digits of a digest, `{u}` for a UUID made of one."""
    first, second, port = derived_of(words)
    uuid = f"{second[:8]}-{second[8:12]}-4{second[13:16]}-8{second[17:20]}-{second[20:32]}"
    return template.format(
        *words, a=first[:7], b=second[:17], A=first[:26].upper(), u=uuid, port=port, c=_digest("cluster")[:8]
    )


PIECES = st.sampled_from(
    [
        *("{0}", "{1}", "{2}", "{3}", "{a}", "{b}", "{A}", "{u}", "{port}", "{c}"),
        *("vexora", "lumbix", "a", "7", "f", "-", ".", ":", "/", "_", "é", " ", '"', "\\n", "x{0}", "{0}y", "\x8c"),
        *("bucket", "210987654321", "deadbeef", "DEADBEEF", "123456", "0"),
    ]
)
TEMPLATES = st.lists(PIECES, max_size=12).map("".join)
VALUES = st.recursive(
    TEMPLATES | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEMPLATES, inner, max_size=3),
    max_leaves=8,
)


def filled(value: Any, words: Sequence[str]) -> Any:
    if isinstance(value, str):
        return shown(words, value)
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    if isinstance(value, dict):
        return {shown(words, key): filled(item, words) for key, item in value.items()}
    return value


def form_of(words: Sequence[str], written: bytes) -> tuple[bytes, bytes]:
    return normal_form(written, Renaming(words, derived_of(words)).places(written))


def rebuilt(words: Sequence[str], form: tuple[bytes, bytes]) -> bytes:
    """What was written, of its normal form and the client's words alone."""
    renaming, derived = Renaming(words, derived_of(words)), derived_of(words)
    stands_for: dict[str, str] = {f"w{number}": word for number, word in enumerate(words)}
    for made in derived:
        mark = bytes(renaming.places(f" {made} ".encode())[0][2]).decode()
        stands_for[mark] = made
    rest, told = form
    count = struct.unpack("Q", told[:8])[0]
    where = struct.unpack(f"{2 * count}Q", told[8 : 8 + 16 * count])
    marks = told[8 + 16 * count :].decode().split("\0")
    found, last, taken = bytearray(), 0, 0
    for number in range(count):
        start, end = where[2 * number], where[2 * number + 1]
        found += rest[taken : taken + start - last]
        taken, last = taken + start - last, end
        mark = marks[number]
        text = stands_for[mark.rstrip("u").replace("D", "d", 1) if mark[0] in "dD" else mark]
        if mark.endswith("u") and mark[0] in "dD":
            text = f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"
        text = text[: end - start]
        found += (text.upper() if mark[0] == "D" else text).encode()
    return bytes(found + rest[taken:])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_what_was_written_comes_back_of_its_normal_form(value: Any) -> None:
    written = pickle.dumps(filled(value, WORDS), 5)
    assert rebuilt(WORDS, form_of(WORDS, written)) == written


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES, VALUES)
def test_one_normal_form_is_one_value_renamed(one: Any, other: Any) -> None:
    mine, theirs = pickle.dumps(filled(one, WORDS), 5), pickle.dumps(filled(other, OTHERS), 5)
    form = form_of(WORDS, mine)
    if form == form_of(OTHERS, theirs):
        assert rebuilt(OTHERS, form) == theirs


@pytest.mark.parametrize(
    "template",
    [
        "arn:aws:s3:::{0}-logs-{a}/*",
        "{u}",
        "projects/{2}/{3}",
        "db-{A}",
        "https://127.0.0.1:{port}",
        "{0}",
        "{0}.{0}/{b}",
    ],
)
def test_clients_that_are_alike_have_one_normal_form(template: str) -> None:
    forms = [form_of(words, pickle.dumps([shown(words, template), 5], 5)) for words in (WORDS, OTHERS)]
    assert forms[0] == forms[1]


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        ("{0}-logs", "vexora-logs"),  # another client's, forgotten
        ("{0}-logs", "{0}-data"),
        ("10.0.0.0/16 {0}", "10.1.0.0/16 {0}"),
        ("{0}-{a}", "{0}-1234567"),
        ("projects/{2}", "projects/{0}"),
        ("{0}", "x{0}"),
        ("{3}", "ml-1456"),
        ("{0}@{0}.example", "{0}@vexora.example"),
    ],
)
def test_one_place_that_is_otherwise_is_another_normal_form(template: str, wrong: str) -> None:
    right = form_of(WORDS, pickle.dumps(shown(WORDS, template), 5))
    assert form_of(OTHERS, pickle.dumps(shown(OTHERS, template), 5)) == right
    assert form_of(OTHERS, pickle.dumps(shown(OTHERS, wrong), 5)) != right


def test_a_word_within_another_and_a_likely_key_stay_as_they_are() -> None:
    renaming = Renaming(["vexora"], {})
    for text in ("xvexora", "vexora2", "evexorae", "\x00Avexora", "aB3/vexora/dE5fG6hI7jK8lM9nO0pQ1rS2tU3v"):
        assert renaming.places(f'"{text}"'.encode()) == [], text
    assert len(renaming.places(b'"vexora" vexora-2 a.vexora/x')) == 3


def test_digests_that_look_alike_are_refused() -> None:
    with pytest.raises(AmbiguousError):
        Renaming(["vexora"], {"abcdef01": ("vexora",), "abcdef02": ("vexora", "x")})
    Renaming(["vexora"], {"abcdef01": ("vexora",), "abcdef02": ("the same for all",)})


def test_a_text_is_said_of_the_next_client() -> None:
    mine, theirs = Renaming(WORDS, derived_of(WORDS)), Renaming(OTHERS, derived_of(OTHERS))
    template = mine.template("bucket vexora-logs of ml-1300 is unknown")
    assert template is not None
    assert theirs.filled(template) == "bucket lumbix-logs of ml-1455 is unknown"
    for made in ("bucket {0}-{a}", "id {A}", "https://127.0.0.1:{port}"):
        assert mine.template(shown(WORDS, made)) is None, made
    assert not re.search("vexora", template)
