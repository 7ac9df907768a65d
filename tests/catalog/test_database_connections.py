"""Connections that a database of a cloud takes where nobody says it."""

from __future__ import annotations

import pytest

from trainyard.catalog.database_connections import of_cloud_sql


@pytest.mark.parametrize(
    ("tier", "most"),
    [
        ("db-f1-micro", 25),
        ("db-g1-small", 50),
        ("db-custom-1-3840", 100),
        ("db-custom-2-7680", 400),
        ("db-perf-optimized-N-2", 500),
        ("db-perf-optimized-N-8", 800),
        ("db-perf-optimized-N-16", 1000),
        ("db-c4a-highmem-4", None),
        ("db-n1-standard-1", None),
    ],
)
def test_postgresql_on_cloud_sql_takes_as_many_as_its_memory_says(tier: str, most: float | None) -> None:
    assert of_cloud_sql(tier) == most
