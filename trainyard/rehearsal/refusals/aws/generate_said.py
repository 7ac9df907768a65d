"""What the provider's documentation says of inputs in words of its own: which stand not beside which, which one of is
needed.

Read from the docstrings of `pulumi_aws`, where each phrase names siblings. A phrase that the documentation's own
examples contradict is left out.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from trainyard.rehearsal.context import expand
from trainyard.rehearsal.engine.sdk_types import Fields, input_fields
from trainyard.rehearsal.refusals.aws.generate_examples import wire

DEPTH: Final = 4
_PARAMETER: Final = re.compile(r"^ *:param [^\n]*?\] (\w+): ", re.M)
_LIST: Final = r"((?:the )?`\w+`(?: attribute| block| argument)?(?:(?:, |,? and |,? or )(?:the )?`\w+`)*)"
_PHRASES: Final = (
    ("pair", re.compile(rf"[Cc]onflicts with {_LIST}(?=[.,;)]|\s*$)", re.M)),
    ("one", re.compile(rf"[Ee]xactly one of {_LIST} (?:must be (?:specified|set|configured|provided)|is required)")),
    (
        "most",
        re.compile(
            rf"(?:[Oo]nly|[Aa]t most) one of {_LIST} (?:can|should|may|must) be (?:specified|set|configured|provided)"
        ),
    ),
    (
        "least",
        re.compile(rf"[Aa]t least one of {_LIST} (?:must be (?:specified|set|configured|provided)|is required)\."),
    ),
)
_WORD: Final = re.compile(r"`(\w+)`")


@cache
def _docs(args: type) -> Mapping[str, str]:
    text = inspect.getdoc(vars(args)["__init__"]) or ""
    parts = _PARAMETER.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _own(name: str, fields: Fields) -> str | None:
    """The wire name of a sibling that is meant, which Pulumi may have made plural."""
    word = wire(name)
    for form in (word, f"{word}s", f"{word}es", word[:-1] + "ies" if word.endswith("y") else word):
        if form in fields.types:
            return form
    return None


def said(args: type, at: str = "", depth: int = 0) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What is said of the inputs of a class and of those in them: how, below which block, of which inputs."""
    fields = input_fields(args)
    python = {name: wire_name for wire_name, name in fields.python_names.items()}
    for name, text in _docs(args).items():
        own = python.get(name)
        if own is None:
            continue
        for how, phrase in _PHRASES:
            for found in phrase.finditer(text):
                if re.search(r"[Ii]f |[Ww]hen |[Uu]nless ", _sentence(text, found)):
                    continue
                others = [_own(word, fields) for word in _WORD.findall(found[1])]
                if None in others:
                    continue
                names = [str(other) for other in others]
                if how == "pair":
                    yield from (("pair", at, tuple(sorted((own, other)))) for other in names if other != own)
                elif len(set(names)) > 1:
                    yield how, at, tuple(sorted(set(names)))
    for name, type_ in fields.types.items():
        lists, inner = 0, type_
        while inner.kind == "list" and inner.item is not None:
            inner, lists = inner.item, lists + 1
        if inner.kind == "object" and inner.cls is not None and depth < DEPTH and lists < 2:
            yield from said(inner.cls, f"{at}.{name}".lstrip(".") + "[]" * lists, depth + 1)


def _sentence(text: str, found: re.Match[str]) -> str:
    begin = max(text.rfind(". ", 0, found.start()), text.rfind("\n", 0, found.start())) + 1
    end = text.find(". ", found.end())
    return text[begin : end if end >= 0 else len(text)]


def contradicted(row: tuple[str, str, tuple[str, ...]], examples: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an example of the documentation does what a row would refuse."""
    how, at, names = row
    for inputs in examples:
        blocks = [inputs] if not at else [block for _, block in expand(inputs, at)]
        for block in blocks:
            if not isinstance(block, Mapping):
                continue
            given = [name for name in names if block.get(name) not in (None, "", [], {}, False)]
            if (how != "least" and len(given) > 1) or (how in ("one", "least") and not given):
                return True
    return False
