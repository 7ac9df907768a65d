"""demo-gcp with buckets that are reached from its own network alone, and a cache of the data beside the nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import keys, plan_of
from tests.shared import ROOT
from trainyard.cost.price import price_stack
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.policy_check.check import check_policies

GCP = {
    "project": "acme-ml",
    "projectNumber": "123456789012",
    "billingAccount": "012345-6789AB-CDEF01",
    "organisationDomain": "acme.example",
    "bucketNetworks": {"deployers": "203.0.113.0/24"},
    "dataCacheHours": 48,
}
BUCKET, CACHE = "gcp:storage/bucket:Bucket", "gcp:storage/anywhereCache:AnywhereCache"


@pytest.fixture(scope="module")
def run() -> Rehearsal:
    return rehearse(ROOT, "demo-gcp", config_overrides={"trainyard:gcp": GCP})


def inputs(run: Rehearsal, type_: str) -> dict[str, Any]:
    return {
        found.name.removeprefix("acme-demo-gcp-"): found.inputs for found in run.known.resources if found.type == type_
    }


def test_all_of_it_is_taken_works_and_breaks_no_policy(run: Rehearsal) -> None:
    assert not run.findings
    judged = check_policies("demo-gcp", run.preview.resources, run.known.resources, {"environment": "demo-gcp"})
    assert [str(each) for each in judged.violations] == []


def test_nodes_pods_and_deployers_reach_the_tiers_and_nobody_else(run: Rehearsal) -> None:
    found = inputs(run, BUCKET)
    assert "ipFilter" not in found["logs"], "who writes access logs comes from no network"
    for tier in ("data", "checkpoints", "artifacts"):
        bound = found[tier]["ipFilter"]
        (own,) = bound["vpcNetworkSources"]
        assert (bound["mode"], bound["allowAllServiceAgentAccess"]) == ("Enabled", True)
        assert own["network"].endswith("/global/networks/network-vpc")
        assert own["allowedIpCidrRanges"] == ["10.0.0.0/20", "10.2.0.0/15"]
        assert bound["publicNetworkSource"] == {"allowedIpCidrRanges": ["203.0.113.0/24"]}


def test_each_zone_of_the_gpu_pools_has_a_cache_of_the_data_alone(run: Rehearsal) -> None:
    caches = inputs(run, CACHE).values()
    assert {cache["zone"] for cache in caches} == {f"us-central1-{zone}" for zone in "abcf"}
    assert {cache["ttl"] for cache in caches} == {"172800s"}
    assert all(str(cache["bucket"]).startswith("acme-demo-gcp-data") for cache in caches)


def test_a_cache_is_told_as_without_a_price(run: Rehearsal) -> None:
    told = [entry.what for entry in price_stack(run.known.resources, run.plan).unpriced]
    assert told.count("a cache of the data") == 4


def test_the_vpc_alone_reaches_them_where_nobody_else_is_named() -> None:
    own = keys(project="acme-ml", project_number="123456789012", bucket_networks={})
    plan = plan_of(cloud="gcp", region="us-central1", gcp=own, monthlyBudgetUsd=900_000)
    assert isinstance(plan.ground, GcpPlan)
    assert plan.ground.bucket_networks == ()
    assert plan.ground.data_cache is None
