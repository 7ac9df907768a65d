"""The tags of an environment."""

from __future__ import annotations

import pytest

from trainyard.components.tags import check_tags


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"aws:team": "x"}, "prefix aws:"),
        ({"AWS:team": "x"}, "prefix aws:"),
        ({"": "x"}, "tag key ''"),
        ({"k" * 129: "x"}, "1 to 128"),
        ({"team": "x" * 257}, "at most 256"),
        ({"team": "R&D"}, "'R&D'"),
        ({f"k{i}": "x" for i in range(51)}, "at most 50"),
    ],
)
def test_what_aws_refuses_is_refused_by_name(tags: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_tags(tags)


def test_limits_themselves_pass() -> None:
    check_tags({"k" * 128: "v" * 256, "kubernetes.io/cluster/a": "", "Überblick": "größer = +1"})
