"""Synthesised outputs of types that no card describes: by the name of the field."""

from __future__ import annotations

import pytest

from trainyard.rehearsal.engine.outputs import plausible_text
from trainyard.rehearsal.engine.synthesised import Place, Subject


@pytest.mark.parametrize(
    ("type_", "region", "ending"),
    [
        ("aws:opensearch/domain:Domain", "us-east-1", ".us-east-1.amazonaws.com"),
        ("aws:opensearch/domain:Domain", "me-central-1", ".me-central-1.amazonaws.com"),
        ("aws:opensearch/domain:Domain", "us-gov-west-1", ".us-gov-west-1.amazonaws.com"),
        ("aws:opensearch/domain:Domain", "cn-north-1", ".cn-north-1.amazonaws.com.cn"),
        ("gcp:redis/instance:Instance", "me-central2", ".me-central2.internal"),
    ],
)
@pytest.mark.parametrize("key", ["endpoint", "dnsName", "domainName", "url"])
def test_a_host_name_ends_as_its_partition_has_it(key: str, type_: str, region: str, ending: str) -> None:
    text = plausible_text(key, Subject(type_, "search", {}, Place(region=region)))
    assert text.endswith(ending)
    assert text.startswith("https://") is (key in ("endpoint", "url"))
