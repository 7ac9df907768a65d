"""Files that a user gives are bounded before anything is made of them, and no message quotes what they hold."""

from __future__ import annotations

import datetime
import json
import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from trainyard.problems import SettingsError
from trainyard.user_files import (
    DEEPEST,
    LARGEST_BYTES,
    MOST_VALUES,
    compose_yaml,
    parse_json,
    parse_yaml,
    read_json,
    read_yaml,
)

PASSWORD = "hunter2-and-some-more"

ALIASES = "a: &a [1]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{used}'] * 10)}]\n" for used, name in zip("abcdef", "bcdefg", strict=True)
)
"""Seven lines that stand for more than a million values."""

MERGES = "a: &a {" + ", ".join(f"k{i}: 1" for i in range(1000)) + "}\n" + "b:\n" + "  - {<<: *a}\n" * 300


def refusal(reading, *arguments) -> str:
    with pytest.raises(SettingsError) as caught:
        reading(*arguments)
    assert len(caught.value.problems) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ALIASES, "more than 200,000 values"),
        (MERGES, "more than 200,000 values"),
        ("a: " + "[" * 5000 + "]" * 5000, "must be nested at most 32 deep"),
        ("- " * (DEEPEST + 1) + "x", "must be nested at most 32 deep"),
        ("{" + "a: {" * 900, "must be nested at most 32 deep"),
        ("config: &a\n  trainyard:client: *a\n", "an alias without its anchor"),
        ("[" + "1," * (MOST_VALUES + 1) + "]", "more than 200,000 values"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: a second document begins"),
        ("a: 1\na: 2\n", 'line 2, column 1: the key "a" is there twice'),
        ("1: a\n'1': b\n", "is there twice"),
        ("? [a, b]\n: c\n", "a key that is no text"),
        ("<<: 5\n", "a merge key (<<) takes a mapping, not a number"),
        ("a: !!python/object:os.system x\n", "a tag that is not YAML's own"),
        ("a: \x01\n", "a character that YAML does not allow"),
    ],
    ids=lambda value: value[:30],
)
def test_a_wrong_yaml_text_is_refused_in_words(text, words):
    started = time.process_time()
    told = refusal(parse_yaml, text, "file.yaml")
    assert told.startswith("file.yaml: got ")
    assert words in told
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        f"a: *{PASSWORD}",
        f"a: !{PASSWORD} x",
        f"a: !!{PASSWORD} x",
        f"a: &{PASSWORD}\nb: ]",
        f"a: '{PASSWORD}",
        f'a: "{PASSWORD} \\q"',
        f"a: {PASSWORD}: b",
        f"a: {PASSWORD}\n b: c",
        f"a: `{PASSWORD}",
        f"a: @{PASSWORD}",
        f"a: %{PASSWORD}\n%{PASSWORD}\n",
        f"%TAG ! {PASSWORD}\n---\na: 1",
        f"{PASSWORD}\na: 1",
        f"a: {{b: {PASSWORD}",
        f"a: [{PASSWORD}",
        f"a:\n\t{PASSWORD}: 1",
        f"a: |9x{PASSWORD}\n x",
        f"- a\n{PASSWORD}: - b",
        f"a: !{PASSWORD}!x y",
        f"%YAML {PASSWORD}\n---\na: 1",
        f"a: [1, 2\nb: {PASSWORD}",
        f"a: {{1, {PASSWORD}",
        f"a: >{PASSWORD}",
        f"a: !<{PASSWORD} x",
    ],
)
@pytest.mark.parametrize("loader", [getattr(yaml, "CSafeLoader", yaml.SafeLoader), yaml.SafeLoader])
def test_what_is_told_of_a_broken_file_quotes_none_of_it(monkeypatch, text, loader):
    monkeypatch.setattr("trainyard.user_files.SAFE_LOADER", loader)
    try:
        parse_yaml(text, "file.yaml")
    except SettingsError as error:
        assert "hunter2" not in str(error)
        assert "line" in str(error)


@pytest.mark.parametrize("text", ["a: " + "[" * 300_000, ALIASES], ids=["deep", "aliases"])
def test_nodes_are_bounded_before_they_are_composed(text):
    refusal(compose_yaml, text, "file.yaml")


def test_nodes_have_their_places():
    root = compose_yaml("a: 1\nb: {c: 2}\n", "file.yaml")
    assert [key.start_mark.line for key, _ in root.value] == [0, 1]


@pytest.mark.parametrize("text", ["[" * 50_000, "[" * 40 + "]" * 40, '{"a":' * 40 + "1" + "}" * 40])
def test_a_json_text_that_is_nested_too_deep_is_refused(text):
    assert "nested at most 32 deep" in refusal(parse_json, text, "file.json")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'{{"a": {PASSWORD}}}', "line 1, column 7"),
        (f'{{"a": "{PASSWORD}}}', "line 1, column 7"),
        ('{"a": 1, "a": 2}', 'the key "a" is there twice'),
        ("1" * 6000, "a number that is too long"),
    ],
    ids=lambda value: value[:30],
)
def test_a_wrong_json_text_is_refused_in_words(text, words):
    told = refusal(parse_json, text, "file.json")
    assert words in told
    assert "hunter2" not in told


def test_brackets_within_a_json_text_do_not_count():
    assert parse_json(json.dumps({"a": "[" * 100 + '\\"' + "{" * 100}), "file.json")["a"].startswith("[[")


@pytest.mark.parametrize("reading", [read_yaml, read_json])
def test_files_are_bounded_before_they_are_parsed(tmp_path: Path, reading):
    file = tmp_path / "large"
    file.write_bytes(b"[" + b" " * LARGEST_BYTES + b"]")
    assert f"more than {LARGEST_BYTES:,} bytes" in refusal(reading, file, "large")
    file.write_bytes(b"\xff\xfe{}")
    assert "no text" in refusal(reading, file, "large")
    file.unlink()
    assert "no such file" in refusal(reading, file, "large")
    file.mkdir()
    assert "can be read" in refusal(reading, file, "large")


def test_an_endless_file_is_not_read_to_its_end():
    if not Path("/dev/zero").exists():
        pytest.skip("needs /dev/zero")
    assert "bytes" in refusal(read_yaml, Path("/dev/zero"), "zero")


def test_a_mark_at_the_beginning_of_a_file_is_no_part_of_it(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(tmp_path / "file", "file") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("nULL", "nULL"),
        ("true", True),
        ("TRUE", True),
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("y", "y"),
        ("5", 5),
        ("-5", -5),
        ("+5", 5),
        ("1_000", 1000),
        ("0o14", 12),
        ("014", 12),
        ("0b11", 3),
        ("0x1F", 31),
        ("089", 89.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1:30", "1:30"),
        ("1.2.3", "1.2.3"),
        ("0x", "0x"),
        ("-", None),  # a list with nothing in it
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("! 5", "5"),
        ("2027-03-31", datetime.datetime(2027, 3, 31, tzinfo=datetime.UTC)),
        ("2026-13-45", "2026-13-45"),
        ("'2027-03-31'", "2027-03-31"),
        ("2027-03-31T10:00:00Z", datetime.datetime(2027, 3, 31, 10, tzinfo=datetime.UTC)),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_scalar_is_what_the_engine_makes_of_it(text, value):
    found = parse_yaml(f"a: {text}" if text != "-" else "a:\n  -", "file")["a"]
    found = found[0] if text == "-" else found
    assert found == value
    assert type(found) is type(value)


def test_aliases_and_merges_are_followed():
    text = "base: &b {x: 1, y: 2}\none: *b\ntwo: {<<: *b, y: 3}\nthree: {<<: [{x: 9}, *b]}\n"
    assert parse_yaml(text, "file") == {
        "base": {"x": 1, "y": 2},
        "one": {"x": 1, "y": 2},
        "two": {"x": 1, "y": 3},
        "three": {"x": 9, "y": 2},
    }


TEXTS = st.text(st.characters(max_codepoint=0x2000, exclude_categories=("Cc", "Cs")), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_json_is_read_alike_by_both(value):
    text = json.dumps(value)
    assert parse_json(text, "file") == value
    assert parse_yaml(text, "file") == value


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!<>|'\"#%@`,?\n\t 0159.~", max_size=40))
def test_no_text_whatever_ends_in_a_traceback(text):
    for reading in (parse_yaml, parse_json):
        try:
            reading(text, "file")
        except SettingsError as error:
            assert error.problems


def in_the_clear(text):
    """Levels of brackets outside of texts, character by character."""
    deepest = level = 0
    for mark in re.sub(r'"(?:[^"\\]|\\.)*"', "", text):
        level += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, level)
    return deepest


@given(st.text(alphabet='[]{}"\\ \na:,1'))
def test_levels_are_counted_outside_of_texts(text):
    levels = in_the_clear(text)
    nested = "[" * (DEEPEST - levels) + text if levels <= DEEPEST else text
    assert in_the_clear(nested) == max(levels, DEEPEST)
    assert "nested at most" not in refusal(parse_json, f"{nested} x", "file.json")
    assert "nested at most 32 deep" in refusal(parse_json, f"[{nested} x", "file.json")
