"""What judges practise on: of every type that our stacks have, and nothing that is secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.practice_files import OF
from trainyard.recorded.types import ADMISSION_POLICY, PULUMI_STACK
from trainyard.rehearsal.change.earlier import from_json
from trainyard.rehearsal.works.rights.kubernetes import cel
from trainyard.review.practice import FOLDER, _expressions, cloud_of, practise


@pytest.mark.parametrize(("cloud", "stack"), OF.items())
def test_no_type_of_the_first_example_is_missing(rehearsed: Any, cloud: str, stack: str) -> None:
    document = json.loads((FOLDER / f"{cloud}.json").read_text())
    kept = {resource.type for resource in from_json(document, cloud).resources}
    missing = {resource.type for resource in rehearsed(stack).resources} - kept - {PULUMI_STACK}
    assert missing == set(), "`python -m tests.golden_files` writes it anew"


@pytest.mark.parametrize("cloud", ["aws", "gcp"])
def test_all_of_it_is_judged_unless_something_comes(cloud: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    for module in ("refusals", "works"):
        name = f"trainyard.rehearsal.{module}.check.check_{'values' if module == 'refusals' else 'works'}"
        monkeypatch.setattr(name, lambda *_, module=module, **__: done.append(module))
    practise(cloud, lambda run: done.append(f"policies on {len(run.known.resources) > 100}"), lambda: False)
    assert done == ["refusals", "policies on True", "works"]
    done.clear()
    practise(cloud, lambda _: done.append("policies"), lambda: bool(done))
    assert done == ["refusals"]


@pytest.mark.parametrize(("cloud", "stack"), OF.items())
def test_expressions_of_the_first_example_are_compiled_by_then(
    rehearsed: Any, cloud: str, stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard.rehearsal.refusals.check.check_values", lambda *_: None)
    monkeypatch.setattr("trainyard.rehearsal.works.check.check_works", lambda *_, **__: None)
    cel._program.cache_clear()
    practise(cloud, lambda _: None, lambda: False)
    compiled = cel._program.cache_info().misses
    texts = [text for one in rehearsed(stack).resources if one.type == ADMISSION_POLICY for text in _expressions(one)]
    assert len(texts) > 40
    cel.make_ready(texts)
    assert cel._program.cache_info().misses == compiled


def test_a_part_that_fails_is_left_to_the_earnest(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise ValueError("wrong")

    asked: list[int] = []
    monkeypatch.setattr("trainyard.rehearsal.refusals.check.check_values", failing)
    monkeypatch.setattr("trainyard.rehearsal.works.check.check_works", failing)
    practise("aws", lambda run: asked.append(1), lambda: False)
    assert asked == [1]


@pytest.mark.parametrize(
    ("values", "cloud"),
    [
        ({"trainyard:cloud": "gcp", "aws:region": "us-east-1"}, "gcp"),
        ({"pipelines:cloud": "azure"}, ""),
        ({"pipelines:size": "3", "aws:region": "us-east-1"}, "aws"),
        ({"pipelines:cloud": "../../secret"}, ""),
        ({}, ""),
    ],
)
def test_the_cloud_is_the_one_that_the_configuration_names(values: dict[str, str], cloud: str) -> None:
    assert cloud_of(values) == cloud
