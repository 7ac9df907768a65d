"""Writes docs/mistakes.md: the seeded mistakes that accepted stacks are tried with, and what tells each.

`make golden` writes it from the rooms' own lists, which `tests/rehearsal/works` puts to the rehearsal one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.rehearsal.refusals import gcp_sixty, small_forty, small_gcp_forty
from tests.rehearsal.refusals.builders import DROP
from tests.rehearsal.works import (
    mistakes_aws_eighth,
    mistakes_aws_fifth,
    mistakes_aws_fourth,
    mistakes_aws_seventh,
    mistakes_aws_sixth,
    mistakes_aws_third,
    mistakes_every_room,
    mistakes_inside,
    mistakes_k8s_eighth,
    mistakes_k8s_fifth,
    mistakes_k8s_fourth,
    mistakes_k8s_ninth,
    mistakes_k8s_seventh,
    mistakes_k8s_sixth,
    mistakes_nine,
    mistakes_place_first,
    test_gcp_more_sets,
    test_gcp_services,
    test_managed_sets,
    test_tired,
)
from tests.rehearsal.works.mistakes import Mistake
from trainyard.rehearsal.works.check import ROOMS

HEAD = """\
# What the rehearsal tells of mistakes

Written by `make golden` from the mistakes that `tests/rehearsal/works/` puts into a recorded example stack, one at a
time. All of them are accepted by the cloud, or by the cluster's API, and then do not work. What would be refused is
tried in `tests/rehearsal/refusals/`, likewise one at a time.

The list is no measure of what is found: a rule and its mistakes are written together, so most of these are told by
construction. Whoever wants a rate has to put mistakes that nobody here has seen. {unknown} of these cannot be known
from a recording; why not stands beside them. No example stack, and no correct stack of the tests, is accused of any.
"""


FORTY = """\
The two lists below are of another kind: wrong values that a provider or its cloud refuses, forty for each cloud,
written before anything was known of what tells them. `tests/rehearsal/refusals/test_small_forty.py` puts them into the
small examples one at a time.
"""


INSIDE = """\
## Two sets within the cluster, written before any check was read

A third of each is what an API server or a webhook refuses. At first sight 44 of the 61 of the fourth set were told, and
25 of the 46 of the fifth; the rules in the last column followed the misses.
`pytest tests/rehearsal/works/test_k8s_unseen.py` puts them into the examples one at a time, with what is right beside
them.

| mistake | told by |
|---|---|"""


BOTH = """\
## Eighty-five mistakes within the cluster, on both clouds, fifty-five and then thirty

A third of each is what an API server or a webhook refuses. At first sight 27 of the 55 of the sixth set were told (14
of 17 that are refused, 13 of 38 that are silent), and 14 of the 30 of the seventh (8 of 10, and 6 of 20); the rules in
the last column followed the misses. `pytest tests/rehearsal/works/test_k8s_both_clouds.py` puts them into the examples
one at a time, with what is right beside them.

| mistake | told by |
|---|---|"""


OTHERS = """\
## Ninety-two mistakes in objects of other people's programs beside ours, sixty-two and then thirty

A third of each is what an API server or a webhook refuses. At first sight 30 of the 62 of the eighth set were told (13
of 20 that are refused, 17 of 42 that are silent), and 12 of the 30 of the ninth (6 of 10, and 6 of 20); the rules in
the last column followed the misses. `pytest tests/rehearsal/works/test_k8s_own_objects.py` puts them into the examples
one at a time, with what is right beside them.

| mistake | told by |
|---|---|"""


PLACED = """\
## Sixty-six mistakes of placement, queues, machines and charts, on both clouds, forty-four and then twenty-two

A third of each is what a cloud, an API server or a webhook refuses. At first sight 39 of the forty-four were told (15
of 16 that are refused, 24 of 28 that are silent), and 17 of the twenty-two (6 of 8, and 11 of 14); the rules in the
last column followed the misses, and so did the thirty-three at the end, which are more of the same kinds.
`pytest tests/rehearsal/works/test_place_sets.py` puts them into the examples one at a time, with what is right beside
them.

| mistake | told by |
|---|---|"""


NINE = """\
## Mistakes through all nine examples, fifty, then eighteen, then forty-eight

The first twenty are refused, the thirty after them are taken. At first sight all of those were told and twenty-eight of
these; what was missed is a class of disks that EC2 makes none of, and a certificate without the name that clients are
told: five of the same kinds follow. Then eighteen others were written, of which sixteen were told at first sight: not a
limit that pods of a runtime are given, which is told now, nor a label that is read from a field within another, which
nothing tells and is not in the list. Of forty-eight more, nineteen of them refused, all but two were told: an alert
on a kind of resource that no log is of, and failures that are counted where no alarm looks. Five of the same kinds
follow, and twenty-six of which the last two were missed.
`pytest tests/rehearsal/works/test_place_sets.py` puts them into the examples one at a time.

| mistake | told by |
|---|---|"""


EDGE = """\
## Ninety-four mistakes inside the cluster and at its edge, fifty and then forty-four, on both clouds

Both lists were written before any rule was read, and the second before anything was mended. At first sight 49 of the
fifty were told (20 of 20 that are refused, 29 of 30 that are taken), and 40 of the forty-four (14 of 15, and 26 of 29).
`pytest tests/rehearsal/works/test_k8s_inside.py` puts them into the examples one at a time, with what is right beside
them.

| mistake | told by |
|---|---|"""


TIRED = """\
## One hundred mistakes on Google Cloud and in managed training, sixty and then forty

Each list was written from the components, before anything was looked up of what tells them; the rules in the last
column followed the misses. `pytest tests/rehearsal/works/test_tired.py` puts them into the examples one at a time, and
`test_tired_neighbours.py` what is right beside them. Of the sixty 13 of 20 that are refused and 19 of 40 that are taken
were told at first sight, of the forty 15 of 15 and 10 of 25.

| mistake | the cloud | at first sight | told by |
|---|---|---|---|"""


MANAGED = """\

## Eighty-five mistakes in managed training, on both clouds, fifty and then thirty-five

Written before any rule was read, and the second list after the first was mended; some are refused and most are taken.
`pytest tests/rehearsal/works/test_managed_sets.py` puts them into `small-aws`, `uae-small` and `small-gcp` with MLflow
on Cloud Run, with what is right beside them. 16 of the fifty were told at first sight, and 16 of the thirty-five.

| mistake | at first sight | told by |
|---|---|---|"""


GOOGLE = """\

## Ninety-six mistakes of resources of Google Cloud, sixty-four and then thirty-two

Half of the values are refused by the cloud or its provider, half are taken and then do not work or cost money. Written
before any rule was read, and the second list after the first was mended: 30 of the sixty-four were told at first
sight, and 14 of the thirty-two. `pytest tests/rehearsal/works/test_gcp_more_sets.py` puts them into `large-gcp` and
`small-gcp`, with what is right beside them.

| mistake | the cloud | told by |
|---|---|---|"""


ELSEWHERE = """\

## Ninety mistakes of services of Google Cloud, most of them in somebody else's program

Sixty and then thirty, each list written before any rule of it was read, the second after the first was mended: 9 of 17
that are refused and 10 of 43 that are taken were told at first sight, of the thirty 2 of 10 and 2 of 20: nearly all are
of services that no example has. `pytest tests/rehearsal/works/test_gcp_services.py` puts them into a program of
somebody else's, `large-gcp` and `small-gcp`, with what is right beside them.

| mistake | the cloud | told by |
|---|---|---|"""


CLUSTER = """\

## Twenty-five mistakes on AWS with a cluster

In `large-aws`, by `pytest tests/rehearsal/works/test_aws_sets.py`. 20 were told at first sight, one of those by its
price alone.

| mistake | told by |
|---|---|"""


OWN = """\
## Three sets in our own components on AWS, written before any check was read

At first sight 38 of the 44 of the first were told, 24 of the 32 of the second and 17 of the 22 of the third. These are
what they missed, with the same mistake in other places; three harm nobody, and one cannot be known.
`pytest tests/rehearsal/works/test_aws_own.py` puts them into the examples one at a time, with what is right beside
them.

| mistake | told at first sight | told by |
|---|---|---|"""


SERVICES = """\

## One hundred and ninety-nine mistakes on AWS, most of them in programs of other people

Seventy, thirty-six, fifty-eight and thirty-five, each list written before any rule was read and after the one before
was mended. They are put into `demo`, `large-aws`, `small-aws` and seven programs of other people by
`pytest tests/rehearsal/works/test_aws_services.py` and `test_aws_elsewhere.py` beside it, with what is right. At first
sight were told: of the seventy 18 of 33 that are refused and 13 of 37 that are taken, of the thirty-six 12 of 19 and 4
of 17. The last two lists are of services alone that no example has: 2 of 20 and 7 of 38, then, of services that the
third list has not either, 1 of 12 and 5 of 23.

| mistake | at first sight | told by |
|---|---|---|"""


def mistakes() -> dict[str, Sequence[Mistake]]:
    """The mistakes of each room that has a list, in the rooms' order, by the title of the list."""
    folder = Path(__file__).parent / "rehearsal" / "works"
    titles = {
        f"{name}{cloud}": f"{name.capitalize()}{' on Google Cloud' if cloud else ''}"
        for name in ROOMS
        for cloud in ("", "_gcp")
        if (folder / f"mistakes_{name}{cloud}.py").exists()
    }
    titles |= {"told": "What programs are told and wait for", "watched": "What is watched"}
    titles |= {"silent": "What does nothing, and nobody notices"}
    return {title: import_module(f"tests.rehearsal.works.mistakes_{name}").MISTAKES for name, title in titles.items()}


def _of_google(sets: Any, *lists: Any) -> Iterator[str]:
    """Rows of some lists of mistakes of Google Cloud's resources, and of what tells them."""
    refused = {name for listed in lists for name in listed.REFUSED}
    for name in sets.EVERY:
        told = f"`{sets.RULES[name]}`" if name in sets.RULES else f"nothing: {sets.WHY[name]}"
        yield f"| {name} | {'refuses it' if name in refused else 'takes it'} | {told} |"


def mistakes_page() -> str:
    """The page."""
    rooms = mistakes()
    every = [mistake for listed in rooms.values() for mistake in listed]
    parts = [HEAD.format(unknown=sum(mistake.rule is None for mistake in every))]
    for title, listed in rooms.items():
        parts.append("\n".join([f"## {title}", "", "| mistake | told by |", "|---|---|", *_rows(listed)]))
    parts.append(FORTY)
    for cloud, forty in (("AWS", small_forty), ("Google Cloud", small_gcp_forty)):
        told = f"{len(forty.FORTY) - len(forty.WHY)} of {len(forty.FORTY)}"
        head = f"## Values of managed training on {cloud}: {told} are told"
        parts.append(
            "\n".join(
                [
                    head,
                    "",
                    "| resource | input | wrong value | told |",
                    "|---|---|---|---|",
                    *_values(forty.FORTY, forty.WHY),
                ]
            )
        )
    told = f"{len(gcp_sixty.SIXTY) - len(gcp_sixty.WHY)} of {len(gcp_sixty.SIXTY)}"
    head = f"## Values of a whole stack on Google Cloud: {told} are told"
    words = (
        "One at a time in `large-gcp`, by `pytest tests/rehearsal/refusals/test_gcp_sixty.py`; two more lists there."
    )
    table = ["| resource | input | wrong value | told |", "|---|---|---|---|"]
    parts.append("\n".join([head, "", words, "", *table, *_values(gcp_sixty.SIXTY, gcp_sixty.WHY)]))
    parts.append("\n".join([INSIDE, *_rows([*mistakes_k8s_fourth.MISTAKES, *mistakes_k8s_fifth.MISTAKES])]))
    parts.append("\n".join([BOTH, *_rows([*mistakes_k8s_sixth.MISTAKES, *mistakes_k8s_seventh.MISTAKES])]))
    parts.append("\n".join([OTHERS, *_rows([*mistakes_k8s_eighth.MISTAKES, *mistakes_k8s_ninth.MISTAKES])]))
    placed = (*mistakes_place_first.FIRST, *mistakes_place_first.SECOND, *mistakes_place_first.WIDER)
    parts.append("\n".join([PLACED, *_rows(placed)]))
    nine = (*mistakes_nine.MISTAKES, *mistakes_nine.WIDER, *mistakes_nine.SECOND)
    later = mistakes_every_room
    nine = (*nine, *later.REFUSED, *later.SILENT, *later.WIDER, *later.SECOND)
    parts.append("\n".join([NINE, *_rows(nine)]))
    parts.append("\n".join([EDGE, *_rows(mistakes_inside.MISTAKES)]))
    parts.append(_tired())
    parts.append(_managed())
    parts.append(
        "\n".join([GOOGLE, *_of_google(test_gcp_more_sets, test_gcp_more_sets.fifth, test_gcp_more_sets.sixth)])
    )
    parts.append(
        "\n".join([ELSEWHERE, *_of_google(test_gcp_services, test_gcp_services.seventh, test_gcp_services.eighth)])
    )
    parts.append("\n".join([CLUSTER, *_rows(mistakes_aws_third.MISTAKES)]))
    parts.append(_own())
    parts.append(_services())
    return "\n".join(parts) + "\n"


def _own() -> str:
    """Mistakes in our components on AWS that were missed, and those of the same kind."""
    rows = [
        f"| {_cell(one.what)} | {'no' if one.name in mistakes_aws_eighth.MISSED else 'later'} | {_rule_or_why(one)} |"
        for one in mistakes_aws_eighth.MISTAKES
    ]
    return "\n".join([OWN, *rows])


def _services() -> str:
    """Mistakes in services of AWS, with what was told before anything was mended."""
    rows = [
        f"| {_cell(one.what)} | {'no' if one.name in module.MISSED else 'yes'} | {_rule_or_why(one)} |"
        for module in (mistakes_aws_fourth, mistakes_aws_fifth, mistakes_aws_sixth, mistakes_aws_seventh)
        for one in module.MISTAKES
    ]
    return "\n".join([SERVICES, *rows])


def _managed() -> str:
    """Mistakes in managed training, with what was told before anything was mended."""
    rows = [
        f"| {_cell(one.what)} | {'no' if one.name in test_managed_sets.MISSED else 'yes'} | {_rule_or_why(one)} |"
        for one, _ in test_managed_sets.MISTAKES
    ]
    return "\n".join([MANAGED, *rows])


def _tired() -> str:
    """The mistakes that were written before anything told them, by what was made of them."""
    every = {**test_tired.REFUSED, **test_tired.SILENT}
    rows = [
        f"| {_cell(name)} | {'refused' if name in test_tired.REFUSED else 'taken'} | "
        f"{'no' if name in test_tired.MISSED else 'yes'} | {_told(name)} |"
        for name in every
    ]
    return "\n".join([TIRED, *rows])


def _told(name: str) -> str:
    rule = test_tired.TOLD.get(name) or test_tired.FORBIDDEN.get(name)
    return f"`{rule}`" if rule else f"nothing: {_cell(test_tired.WHY[name])}"


def _values(rows: Sequence[tuple[str, str, Any]], reasons: Mapping[tuple[str, str], str]) -> Iterator[str]:
    for which, path, value in rows:
        why = reasons.get((which, path))
        wrong = "absent" if value is DROP else f"`{_cell(str(value))}`"
        yield f"| `{which}` | `{path}` | {wrong} | {f'no: {_cell(why)}' if why else 'yes'} |"


def _rows(listed: Sequence[Mistake]) -> Iterator[str]:
    for mistake in listed:
        yield f"| {_cell(mistake.what)} | {_rule_or_why(mistake)} |"


def _rule_or_why(mistake: Mistake) -> str:
    return _cell(f"`{mistake.rule}`" if mistake.rule else f"nothing: {mistake.why}")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
