"""The table of what is what on both clouds: current, and no part of either stack without a word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests import twins_page as page
from tests.golden_files import TWINS


@pytest.fixture
def both(rehearsed: Any) -> tuple[Any, Any]:
    return rehearsed("demo").resources, rehearsed("demo-gcp").resources


def test_the_page_is_current(both: tuple[Any, Any]) -> None:
    assert page.twins_page(*both) == TWINS.read_text(encoding="utf-8")


def of_another_type(resources: Any, old: str, new: str) -> list[Any]:
    return [replace(item, type=new, urn=item.urn.replace(old, new)) if item.type == old else item for item in resources]


@pytest.mark.parametrize(
    ("side", "old", "new", "told"),
    [
        (0, "aws:ec2/vpc:Vpc", "aws:ec2/carrierGateway:CarrierGateway", "nothing is said of aws:ec2/carrierGateway"),
        (0, "aws:ec2/vpc:Vpc", "aws:ec2/carrierGateway:CarrierGateway", "demo has no aws:ec2/vpc:Vpc there"),
        (1, "gcp:storage/bucket:Bucket", "gcp:lustre/instance:Instance", "demo-gcp has no gcp:storage/bucket:Bucket"),
        (1, "gcp:storage/bucket:Bucket", "gcp:lustre/instance:Instance", "nothing is said of gcp:lustre/instance"),
    ],
    ids=["a new part", "a part that is gone", "a counterpart that is gone", "a part of Google's alone"],
)
def test_a_part_without_a_word_is_told(both: tuple[Any, Any], side: int, old: str, new: str, told: str) -> None:
    changed = [of_another_type(stack, old, new) if side == index else stack for index, stack in enumerate(both)]
    with pytest.raises(page.UntoldError, match=told):
        page.twins_page(changed[0], changed[1])


def test_an_object_that_is_missing_without_a_reason_is_told(both: tuple[Any, Any]) -> None:
    fewer = [item for item in both[1] if not item.name.startswith("egress-")]
    with pytest.raises(page.UntoldError, match="nothing is said of egress-"):
        page.twins_page(both[0], fewer)


def test_a_reason_that_nothing_needs_is_told(both: tuple[Any, Any], monkeypatch: Any, tmp_path: Any) -> None:
    told = yaml.safe_load(page.FILE.read_text())
    told["objects"]["teams-"] = "never so"
    told["rooms"]["Forge"] = {"all": "never so"}
    told["only_google"]["gcp:lustre/instance:Instance"] = "never so"
    (tmp_path / "twins.yaml").write_text(yaml.safe_dump(told))
    monkeypatch.setattr(page, "FILE", tmp_path / "twins.yaml")
    with pytest.raises(page.UntoldError, match=r"(?s)rooms\.Forge.*objects\.teams-.*only_google\.gcp:lustre"):
        page.twins_page(*both)
