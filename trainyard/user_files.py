"""Reads the YAML and JSON files that a user gives: bounded before anything is built, and silent on what they hold.

A YAML file is read as the Pulumi engine reads it (Go's yaml.v3, which is YAML 1.2 but for a few spellings): `no` and
`on` are texts, a key is a text, a key that is there twice is a mistake. The parser's events are counted as they come,
so that a few lines of aliases cannot become a million values, nor a page of brackets a deep recursion.

No message quotes a file: where a stack file is broken, the broken line may hold a password.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from trainyard.problems import Problem, SettingsError, kind_of
from trainyard.safe_yaml import SAFE_LOADER

LARGEST_BYTES = 2_000_000
"""Bytes of a file that a user wrote. A stack file of a thousand teams with their members' roles has a tenth of it."""

DEEPEST = 32
"""Levels to which a file may be nested. No setting has a tenth of them."""

LARGEST_OUTCOME_BYTES = 100_000_000
"""Bytes of a file that a command of ours wrote: a check of a hundred stacks has a tenth of it."""

MOST_VALUES = 200_000
"""Most values of a YAML file, every use of an anchor counted: a few lines of anchors can stand for millions."""

_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **{f"{sign}{text}": float(f"{sign}inf") for sign in ("", "+", "-") for text in (".inf", ".Inf", ".INF")},
}
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIME = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| +\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)")  # fmt: skip # noqa: E501
_OCTAL = re.compile(r"([-+]?)0o?([0-7]+)")
_OLD_OCTAL = re.compile(r"[-+]?0[0-9_]*[0-9]")
_MAY_BE_OCTAL = re.compile(r"[\s,\[{][-+]?0[0-9_]")
_PREFIXED = re.compile(r"[-+]?0(x[0-9a-fA-F]+|b[01]+)")
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LONGEST_NUMBER = 400
"""Characters of the longest number. A longer one is a text: Python refuses to make a number of 5,000 digits."""


def read_text(path: Path, shown: str, largest_bytes: int = LARGEST_BYTES) -> str:
    """The text of a file, which messages call `shown`.

    Raises:
        SettingsError: it is not there, cannot be read, is too large or is no UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(largest_bytes + 1)
    except FileNotFoundError:
        raise SettingsError([Problem(shown, "no such file", "must be an existing file")]) from None
    except OSError as error:
        raise _refused(shown, f"an error ({error.strerror})", "must be a file that can be read") from None
    if len(content) > largest_bytes:
        raise _refused(shown, f"more than {largest_bytes:,} bytes", "must be smaller")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refused(shown, "bytes that are no text", "must be in UTF-8") from None


def read_yaml(path: Path, shown: str) -> Any:
    """What a YAML file holds; None for an empty one. Raises `SettingsError` as `read_text` and `parse_yaml` do."""
    return parse_yaml(read_text(path, shown), shown)


def read_json(path: Path, shown: str, largest_bytes: int = LARGEST_BYTES) -> Any:
    """What a JSON file holds. Raises `SettingsError` as `read_text` and `parse_json` do."""
    return parse_json(read_text(path, shown, largest_bytes), shown)


def parse_json(text: str, shown: str) -> Any:
    """What a JSON text holds. Raises `SettingsError` where it is no JSON or nested too deep."""
    deepest = _depth(text)
    if deepest > DEEPEST:
        raise _too_deep(shown)
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _refused(shown, "no JSON", f"must be JSON; {place}: {error.msg}") from None
    except _TwiceError as error:
        raise _refused(shown, "no JSON", f'the key "{error}" is there twice') from None
    except ValueError:  # a number of thousands of digits
        raise _refused(shown, "a number that is too long", "must be JSON") from None


def parse_yaml(text: str, shown: str) -> Any:
    """What a YAML text holds, as the engine reads it: None, flags, numbers, texts, times, lists, mappings with texts as
    keys.

    Raises:
        SettingsError: it is no YAML, has several documents or a tag that is not YAML's own, a key is there twice, it is
            nested deeper than `DEEPEST` or stands for more than `MOST_VALUES` values.
    """
    try:
        return _Builder(shown).build(yaml.parse(text, Loader=SAFE_LOADER))
    except yaml.MarkedYAMLError as error:
        raise _no_yaml(shown, error.problem_mark or error.context_mark, _unquoted(error)) from None
    except yaml.YAMLError:  # a character that YAML does not allow
        raise _no_yaml(shown, None, "a character that YAML does not allow") from None


def compose_yaml(text: str, shown: str) -> yaml.Node | None:
    """The nodes of a YAML text, with their places. Raises `SettingsError` as `parse_yaml` does.

    PyYAML's own composer follows brackets as deep as they go, and the C one ends the process there.
    """
    parse_yaml(text, shown)
    found: yaml.Node | None = yaml.compose(text, Loader=SAFE_LOADER)
    return found


def old_octals(text: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Numbers that the engine reads by eight because they begin with 0, and people by ten: the place of each and how it
    is written. The text is one that `parse_yaml` takes.
    """
    if _MAY_BE_OCTAL.search(text):
        yield from _octals_in(yaml.compose(text, Loader=SAFE_LOADER), ())


def _octals_in(node: yaml.Node | None, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _octals_in(value, (*path, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _octals_in(value, (*path, index))
    elif isinstance(node, yaml.ScalarNode) and not node.style and _OLD_OCTAL.fullmatch(node.value):
        yield path, node.value


class _TwiceError(Exception):
    """A key that a JSON object has twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(next(key for key in keys if keys.count(key) > 1)[:60])
    return found


_NO_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^][{}"]+')
"""Texts, and what stands between brackets. Runs without a choice a character: a state is megabytes."""


def _depth(text: str) -> int:
    """How deep brackets are nested in a JSON text, texts left out."""
    deepest = level = 0
    for mark in _NO_BRACKETS.sub("", text):
        if mark in "[{":
            level += 1
            if level > deepest:
                deepest = level
        elif mark in "]}":
            level -= 1
    return deepest


def _refused(shown: str, got: str, allowed: str) -> SettingsError:
    return SettingsError([Problem(shown, got, allowed)])


def _too_deep(shown: str) -> SettingsError:
    return _refused(shown, "endless or very deep nesting", f"must be nested at most {DEEPEST} deep")


def _too_many(shown: str) -> SettingsError:
    return _refused(shown, f"more than {MOST_VALUES:,} values", "must be smaller")


def _no_yaml(shown: str, mark: Any, what: str) -> SettingsError:
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return _refused(shown, "no YAML", f"{place}{what}")


def _unquoted(error: yaml.MarkedYAMLError) -> str:
    """What the parser says. It quotes single characters of a file, and of words no more than a tag's handle."""
    return re.sub(r"(tag handle) .*", r"\1", " ".join((error.problem or "it cannot be read").split()))


class _Builder:
    """Makes values of a YAML parser's events, counting them: no recursion, and no alias is followed twice."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._count = 0
        self._open: list[_Node] = []
        self._anchors: dict[str, tuple[Any, int]] = {}  # the value, and how many values it stands for

    def build(self, events: Iterator[Any]) -> Any:
        """The value of the one document, None where there is none."""
        found, documents = None, 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._wrong(event, "a second document begins; a file has one")
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._check_tag(event)
                self._open.append(_Node(event, isinstance(event, yaml.MappingStartEvent)))
                if len(self._open) > DEEPEST:
                    raise _too_deep(self._shown)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                node = self._open.pop()
                value = node.finished(self)
                self._count += 1
                found = self._put(node.event, value, node.count + 1)
            elif isinstance(event, yaml.ScalarEvent):
                self._count += 1
                self._check_tag(event)
                found = self._put(event, _scalar(event), 1)
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in self._anchors:
                    raise self._wrong(event, "an alias without its anchor; a text that begins with * is put in quotes")
                value, count = self._anchors[event.anchor]
                self._count += count
                found = self._put(event, value, count)
            if self._count > MOST_VALUES:
                raise _too_many(self._shown)
        return found

    def _put(self, event: Any, value: Any, count: int) -> Any:
        """Gives a finished value to the list or mapping that is open; the document's own value where none is."""
        if not isinstance(event, yaml.AliasEvent) and event.anchor:
            self._anchors[event.anchor] = value, count
        if not self._open:
            return value
        node = self._open[-1]
        node.count += count
        if not node.is_mapping:
            node.items.append(value)
        elif node.key is None:
            if not isinstance(event, yaml.ScalarEvent):
                raise self._wrong(event, "a key that is no text")
            node.key = event.value
            node.is_merge = event.value == "<<" and event.implicit[0]
            if not node.is_merge and event.value in node.entries:
                raise self._wrong(event, f'the key "{event.value[:60]}" is there twice')
        else:
            if node.is_merge:
                node.merged.append((event, value))
            else:
                node.entries[node.key] = value
            node.key = None
        return None

    def _check_tag(self, event: Any) -> None:
        tag = event.tag
        if tag and tag not in ("!", *(f"tag:yaml.org,2002:{name}" for name in _TAGS)):
            raise self._wrong(event, "a tag that is not YAML's own; a text that begins with ! is put in quotes")

    def _wrong(self, event: Any, what: str) -> SettingsError:
        return _no_yaml(self._shown, event.start_mark, what)

    def merge(self, event: Any, value: Any) -> Iterator[tuple[str, Any]]:
        """The entries that a merge key (`<<`) adds: of a mapping or of several, the first of them first."""
        for mapping in value if isinstance(value, list) else [value]:
            if not isinstance(mapping, dict):
                raise self._wrong(event, f"a merge key (<<) takes a mapping, not {kind_of(mapping)}")
            self._count += len(mapping)
            yield from mapping.items()


_TAGS = ("null", "bool", "str", "int", "float", "timestamp", "seq", "map", "merge")


class _Node:
    """A list or mapping that is open."""

    def __init__(self, event: Any, is_mapping: bool) -> None:
        self.event = event
        self.is_mapping = is_mapping
        self.items: list[Any] = []
        self.entries: dict[str, Any] = {}
        self.merged: list[tuple[Any, Any]] = []
        self.key: str | None = None
        self.is_merge = False
        self.count = 0  # values within

    def finished(self, builder: _Builder) -> Any:
        """The list or mapping; what a merge key adds stands behind what the mapping says itself."""
        if not self.is_mapping:
            return self.items
        for event, value in self.merged:
            for key, item in builder.merge(event, value):
                self.entries.setdefault(key, item)
        return self.entries


def _scalar(event: Any) -> Any:
    """A scalar as Go's yaml.v3 resolves it (resolve.go, 2026-11): plain ones only, but for a tag that says more."""
    text: str = event.value
    tag = (event.tag or "").removeprefix("tag:yaml.org,2002:")
    if tag in ("str", "!") or (not event.implicit[0] and not tag):
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[:1] not in "0123456789+-." or len(text) > _LONGEST_NUMBER:
        return text
    moment = _moment(text)
    if moment is not None:
        return moment
    plain = text.replace("_", "")
    if octal := _OCTAL.fullmatch(plain):
        return int(octal[1] + octal[2], 8)
    if _PREFIXED.fullmatch(plain):
        return int(plain, 0)
    if _WHOLE.fullmatch(plain):
        return int(plain)
    return float(plain) if _FLOAT.fullmatch(plain) else text


def _moment(text: str) -> datetime.datetime | None:
    """A date or a time, where the text is one of the spellings of it and the day exists."""
    whole = _DATE.fullmatch(text)
    if whole is None and not _TIME.fullmatch(text):
        return None
    try:
        if whole is not None:
            year, month, day = map(int, whole.groups())
            return datetime.datetime(year, month, day, tzinfo=datetime.UTC)
        found = datetime.datetime.fromisoformat(text.replace("t", "T"))
    except ValueError:  # 2026-13-45 is a text
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
