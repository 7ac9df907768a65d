"""Writes docs/mistakes.md and the pages below it: the mistakes that the rehearsal is tried with, and what tells each.

`make golden` writes them from the lists of `tests/rehearsal/mistake_areas.py`, which the tests put to the rehearsal one
mistake at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from tests.rehearsal.mistake_areas import areas
from tests.rehearsal.mistake_lists import Area, MistakeList, Row

HEAD = """\
# What the rehearsal tells of mistakes

Written by `make golden` from the lists of mistakes that the tests put into recorded stacks, one at a time, and hold the
whole verdict to. Most are accepted by the cloud, or by the cluster's API, and then do not work; the others would be
refused.

**{told} of {all} are told.** That is no rate: rules followed what was missed, so most are told by construction. Nearest
to a rate is what was told *at first sight* of the lists that were written before any rule was read or mended for them:
**{first} of {blind}**, many of them in services that no rule had been written for. No example
stack, and no correct stack of the tests, is accused of any.

{untold} are told by nothing: what cannot be known from a recording, what turned out to work, and what is a matter of
policy. Why stands at the end, one by one.

| mistakes | number | told | told at first sight |
|---|---:|---:|---:|"""

WHY = """\
## What nothing tells, and why

| where | mistake | why |
|---|---|---|"""


def mistakes_pages() -> dict[str, str]:
    """The pages, by their path below docs."""
    every = areas()
    return {"mistakes.md": _summary(every), **{f"mistakes/{area.file}.md": _area(area) for area in every}}


def _summary(every: Sequence[Area]) -> str:
    rows = [row for area in every for listed in area.lists for row in listed.rows]
    firsts = [listed.first for area in every for listed in area.lists if listed.first]
    head = HEAD.format(
        told=_told(rows),
        all=len(rows),
        untold=len(rows) - _told(rows),
        first=sum(told for told, _ in firsts),
        blind=sum(of for _, of in firsts),
    )
    parts = [head, *(_of_area(area) for area in every)]
    for area in every:
        parts += ["", f"## {area.title}", "", area.words, "", "| list | mistakes | told | told at first sight |"]
        parts += ["|---|---:|---:|---:|", *(_of_list(area, listed) for listed in area.lists)]
    parts += ["", WHY]
    parts += [
        f"| [{area.file}: {listed.title}]({_link(area, listed)}) | {_cell(row.what)} | {_cell(row.why)} |"
        for area in every
        for listed in area.lists
        for row in listed.rows
        if row.rule is None
    ]
    return "\n".join(parts) + "\n"


def _of_area(area: Area) -> str:
    rows = [row for listed in area.lists for row in listed.rows]
    firsts = [listed.first for listed in area.lists if listed.first]
    first = f"{sum(told for told, _ in firsts)} of {sum(of for _, of in firsts)}" if firsts else ""
    return f"| [{area.title}](mistakes/{area.file}.md) | {len(rows)} | {_told(rows)} | {first} |"


def _of_list(area: Area, listed: MistakeList) -> str:
    first = "{} of {}".format(*listed.first) if listed.first else ""
    return f"| [{listed.title}]({_link(area, listed)}) | {len(listed.rows)} | {_told(listed.rows)} | {first} |"


def _link(area: Area, listed: MistakeList) -> str:
    return f"mistakes/{area.file}.md#{_anchor(listed.title)}"


def _anchor(title: str) -> str:
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def _area(area: Area) -> str:
    parts = [f"# {area.title}", "", area.words, "", "`docs/mistakes.md` tells of all the lists."]
    for listed in area.lists:
        parts += ["", f"## {listed.title}", "", *_words(listed), "", *_table(listed.rows)]
    return "\n".join(parts) + "\n"


def _words(listed: MistakeList) -> Iterator[str]:
    first = " {} of {} were told at first sight.".format(*listed.first) if listed.first else ""
    yield f"{len(listed.rows)} mistakes, {_told(listed.rows)} are told.{first}"
    if listed.words:
        yield listed.words
    path = PurePosixPath("tests/rehearsal") / listed.put
    yield f"`pytest {path}` puts them into stacks one at a time, with what is right beside them."


def _table(rows: Sequence[Row]) -> Iterator[str]:
    if any(row.kind for row in rows) and len({row.kind for row in rows}) > 1:
        yield "| mistake | a cloud | told by |"
        yield "|---|---|---|"
        yield from (f"| {_cell(row.what)} | {row.kind and _BECOMES[row.kind]} | {_rule(row)} |" for row in rows)
    else:
        yield "| mistake | told by |"
        yield "|---|---|"
        yield from (f"| {_cell(row.what)} | {_rule(row)} |" for row in rows)


_BECOMES = {"refused": "refuses it", "taken": "takes it"}


def _rule(row: Row) -> str:
    if row.rule is None:
        return f"nothing: {_cell(row.why)}"
    return f"`{_cell(row.rule)}`" if row.rule else "yes"


def _told(rows: Sequence[Row]) -> int:
    return sum(row.rule is not None for row in rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
