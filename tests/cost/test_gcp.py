"""What a stack on Google Cloud costs: the environment of the components, and one rule at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.components.gcp.environment import recorded
from tests.cost.recorded import TODAY
from trainyard import cards
from trainyard.catalog import gcp
from trainyard.cost.model import Cost
from trainyard.cost.price import price_stack
from trainyard.recorded.model import UNKNOWN, RecordedResource

HOURS = 730
POOL, SQL, BUCKET = (
    "gcp:container/nodePool:NodePool",
    "gcp:sql/databaseInstance:DatabaseInstance",
    "gcp:storage/bucket:Bucket",
)


def made(type_: str, name: str = "it", inputs: Mapping[str, Any] | None = None) -> RecordedResource:
    urn = f"urn:pulumi:test::trainyard::{type_}::{name}"
    return RecordedResource(urn, type_, name, "", "part", True, f"{PROVIDER_URN}::id", inputs or {}, id=f"id-of-{name}")


PROVIDER_URN = "urn:pulumi:test::trainyard::pulumi:providers:gcp::gcp"
PROVIDER = RecordedResource(
    PROVIDER_URN, "pulumi:providers:gcp", "gcp", "", "", True, "", {"region": "europe-west4"}, id="id"
)


def priced(*resources: RecordedResource) -> Cost:
    return price_stack([PROVIDER, *resources], {}, today=TODAY)


def pool(machine: str = "g2-standard-48", name: str = "train", most: int = 4, **node: Any) -> RecordedResource:
    config = {"machineType": machine, "diskSizeGb": 100, **node}
    scaling = {"totalMinNodeCount": 0, "totalMaxNodeCount": most}
    return made(POOL, name, {"location": "europe-west4", "nodeConfig": config, "autoscaling": scaling})


GPUS = {"guestAccelerators": [{"type": "nvidia-l4", "count": 4}]}


@pytest.fixture(scope="module")
def whole() -> Cost:
    return price_stack(recorded().resources, {}, today=TODAY)


def test_everything_of_the_environment_is_priced_but_what_nobody_publishes(whole: Cost) -> None:
    assert [(entry.what, entry.reason) for entry in whole.unpriced] == [
        ("metrics", "samples of Managed Prometheus: no dated price was read"),
        ("backups of the share", "Backup and DR, by what it keeps: no whole price was read"),
    ]
    assert whole.region == "europe-west4"
    assert whole.total.floor < whole.total.expected < whole.total.ceiling
    for line in whole.lines:
        assert line.source and line.date and line.usd.floor <= line.usd.expected <= line.usd.ceiling + 0.01


def test_every_type_that_the_components_make_says_what_it_costs() -> None:
    types = {found.type for found in recorded().resources if found.type.startswith("gcp:")}
    assert len(types) > 20
    assert [type_ for type_ in types if cards.of(type_).price is None] == []


def test_each_capacity_is_paid_as_it_is_bought(whole: Cost) -> None:
    lines = {(line.resource, line.what): line for line in whole.lines}
    reserved = lines["gpu-nodes-train-reserved", "a3-ultragpu-8g, 2 reserved"]
    assert reserved.usd.floor == reserved.usd.ceiling == pytest.approx(2 * HOURS * 84.806908, abs=0.01)
    assert reserved.other_region, "no price of H200 in the Netherlands was read"
    spot = lines["gpu-nodes-tune-spot", "g2-standard-48 on spot, up to 3"]
    assert spot.discount == pytest.approx(0.4) and spot.unit_usd == 4.20595 and not spot.other_region
    flexible = lines["gpu-nodes-train-flex", "a3-megagpu-8g by flex-start, up to 4"]
    assert flexible.usd.floor == 0 and "no price of flex-start was read" in flexible.note
    listed = lines["gpu-nodes-train-on-demand", "a2-highgpu-8g, up to 1"]
    assert listed.usd.ceiling == pytest.approx(29.983776 * HOURS, abs=1)
    assert lines["gpu-nodes-train-on-demand", "local SSDs, 8 each"].usd.ceiling == pytest.approx(8 * 375 * 0.088)
    assert ("gpu-nodes-train-reserved", "local SSDs, 32 each") not in lines, "the machine's price includes them"


def test_flex_start_costs_what_the_queue_is_listed_at() -> None:
    cost = priced(pool("a3-highgpu-8g", flexStart=True))
    line = next(line for line in cost.lines if "flex-start" in line.what)
    assert (line.unit_usd, line.region) == (38.32, "us-central1")


def test_what_is_not_sold_on_demand_is_listed_and_by_calendar_it_is_priced() -> None:
    (entry,) = priced(pool("a4-highgpu-8g")).unpriced
    assert "not sold on demand" in entry.reason
    affinity = {"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}}
    cost = priced(pool("a4-highgpu-8g", **affinity))
    assert cost.unpriced == () and cost.lines[0].usd.floor == pytest.approx(4 * HOURS * 90.22)


@pytest.mark.parametrize("machine", ["a9-megagpu-8g", "a4x-highgpu-4g", "n1-standard-8"])
def test_a_machine_without_a_price_is_listed_never_free(machine: str) -> None:
    gpus = [{"type": "nvidia-tesla-v100", "count": 1}]
    (entry,) = priced(pool(machine, guestAccelerators=gpus)).unpriced
    assert machine in entry.what


def test_t4s_are_paid_beside_their_machine() -> None:
    cost = priced(pool("n1-standard-8", guestAccelerators=[{"type": "nvidia-tesla-t4", "count": 2}]))
    machine = gcp.machine_price("n1-standard-8", "europe-west4")
    assert machine is not None and cost.lines[0].unit_usd == pytest.approx(machine.usd + 0.70)


def test_tpu_nodes_are_as_busy_as_gpu_nodes() -> None:
    line = priced(pool("ct6e-standard-4t", most=10)).lines[0]
    assert line.unit_usd == 11.88 and line.quantity.expected == 0.7 * 10 * HOURS
    spot = priced(pool("ct6e-standard-4t", most=10, spot=True)).lines[0]
    assert spot.discount == pytest.approx(0.4), "1.782 against 2.97 a chip"
    assert spot.discount > 0 and spot.usd.ceiling == pytest.approx(10 * HOURS * 11.88)


def test_spot_and_on_demand_pools_share_the_hours_of_their_pool() -> None:
    labels = {"labels": {"ml.platform/pool": "train"}}
    cost = priced(pool(name="a", **GPUS, **labels), pool(name="b", spot=True, **GPUS, **labels))
    hours = {line.resource: line.quantity.expected for line in cost.lines if line.unit == "hour"}
    assert hours == {"a": pytest.approx(2.8 * HOURS), "b": pytest.approx(2.8 * HOURS)}


def test_limits_of_a_pool_hold_for_each_zone_unless_they_are_totals() -> None:
    inputs = {"nodeConfig": {"machineType": "e2-standard-4"}, "nodeLocations": ["x-a", "x-b"]}
    cost = priced(made(POOL, "cpu", {**inputs, "autoscaling": {"minNodeCount": 1, "maxNodeCount": 2}}))
    assert (cost.lines[0].quantity.floor, cost.lines[0].quantity.ceiling) == (2 * HOURS, 4 * HOURS)


def test_a_pool_that_is_not_known_yet_is_listed() -> None:
    (entry,) = priced(made(POOL, "cpu", {"nodeConfig": {"machineType": UNKNOWN}})).unpriced
    assert entry.reason == "not known before the resource exists"


def test_a_nat_is_billed_for_thirty_two_machines_at_most() -> None:
    cost = priced(pool(most=100), made("gcp:compute/routerNat:RouterNat", "nat", {"region": "europe-west4"}))
    (line,) = [line for line in cost.lines if line.what.startswith("machines behind")]
    assert line.usd.ceiling == pytest.approx(0.0448 * HOURS, abs=0.01) and not line.other_region


def database(**settings: Any) -> Cost:
    base = {"tier": "db-custom-4-15360", "edition": "ENTERPRISE", "diskSize": 100}
    return priced(made(SQL, "db", {"region": "europe-west4", "settings": {**base, **settings}}))


def test_a_database_in_two_zones_costs_twice_and_an_edition_without_a_price_is_listed() -> None:
    one, two = database(), database(availabilityType="REGIONAL")
    assert two.total.floor == pytest.approx(2 * one.total.floor, abs=0.02)
    assert one.total.floor == pytest.approx(4 * 0.0413 * HOURS + 15 * 0.007 * HOURS + 17, abs=0.02)
    assert database(tier="db-f1-micro").total.floor == pytest.approx(0.0105 * HOURS + 17, abs=0.02)
    assert database(diskType="PD_HDD").total.floor == pytest.approx(one.total.floor - 100 * 0.08, abs=0.02)
    plus = database(edition="ENTERPRISE_PLUS", tier="db-perf-optimized-N-4")
    assert plus.total.floor == pytest.approx((4 * 0.0537 + 32 * 0.0091) * HOURS + 17, abs=0.02)
    for settings in ({"edition": "ENTERPRISE_PLUS"}, {"tier": "db-n1-standard-1"}, {"diskType": "HYPERDISK_BALANCED"}):
        (entry,) = database(**settings).unpriced
        assert "price" in entry.reason


def test_disks_that_grow_reach_their_limit() -> None:
    storage = {line.what: line for line in database(diskAutoresizeLimit=500).lines}["storage, 100 to 500 GiB in 1 zone"]
    assert (storage.usd.floor, storage.usd.ceiling) == (17, 85)
    fixed = database(diskAutoresizeLimit=500, diskAutoresize=False)
    assert any(line.what == "storage, 100 to 100 GiB in 1 zone" for line in fixed.lines)


def test_a_bucket_of_several_regions_is_listed_and_a_colder_class_is_cheaper() -> None:
    (entry,) = priced(made(BUCKET, "a-data", {"location": "EU"})).unpriced
    assert "location EU" in entry.reason
    warm, cold = (
        priced(made(BUCKET, "a-data", {"location": "europe-west4", "storageClass": kind})).lines[0].unit_usd
        for kind in ("STANDARD", "NEARLINE")
    )
    assert cold < warm


def test_a_key_costs_more_with_every_rotation() -> None:
    key = "gcp:kms/cryptoKey:CryptoKey"
    turning, still = priced(made(key, "k", {"rotationPeriod": "7776000s"})), priced(made(key, "k", {}))
    assert turning.lines[0].usd.ceiling == pytest.approx(5 * 0.06) and still.lines[0].usd.ceiling == 0.06
    for template, usd in (
        ({"protectionLevel": "HSM"}, 1.0),
        ({"protectionLevel": "HSM", "algorithm": "RSA_SIGN_PSS_2048_SHA256"}, 1.0),
        ({"protectionLevel": "HSM", "algorithm": "EC_SIGN_P256_SHA256"}, 2.5),
        ({"protectionLevel": "EXTERNAL_VPC"}, 3.0),
    ):
        assert priced(made(key, "k", {"versionTemplate": template})).lines[0].usd.floor == usd
    (entry,) = priced(made(key, "k", {"versionTemplate": {"protectionLevel": "HSM_SINGLE_TENANT"}})).unpriced
    assert "HSM_SINGLE_TENANT" in entry.reason


def test_a_range_of_private_addresses_is_free_and_a_public_one_is_not() -> None:
    address = "gcp:compute/globalAddress:GlobalAddress"
    assert priced(made(address, "a", {"addressType": "INTERNAL"})).lines == ()
    assert priced(made(address, "a", {})).total.floor == pytest.approx(0.005 * HOURS)


def test_file_systems_have_the_price_of_their_tier() -> None:
    lustre = "gcp:lustre/instance:Instance"
    cost = priced(
        made(lustre, "l", {"location": "europe-west4-a", "capacityGib": "18000", "perUnitStorageThroughput": "500"})
    )
    assert cost.total.floor == pytest.approx(18000 * 0.34)
    (entry,) = priced(made(lustre, "l", {"capacityGib": "472000"})).unpriced
    assert "dynamic" in entry.reason
    filestore = "gcp:filestore/instance:Instance"
    for tier, usd in (
        ("STANDARD", 0.20),
        ("PREMIUM", 0.30),
        ("BASIC_SSD", 0.30),
        ("ZONAL", 0.25),
        ("ENTERPRISE", 0.45),
    ):
        found = priced(made(filestore, "f", {"tier": tier, "fileShares": {"capacityGb": 1024}}))
        assert found.total.floor == pytest.approx(1024 * usd, abs=0.01)
    (entry,) = priced(made(filestore, "f", {"tier": "HIGH_SCALE_SSD", "fileShares": {"capacityGb": 1024}})).unpriced
    assert entry.what == "filestore.high-scale-ssd"


def test_kubernetes_objects_make_googles_things_on_google_cloud() -> None:
    balancer = made("kubernetes:core/v1:Service", "web", {"spec": {"type": "LoadBalancer"}})
    claim = {"storageClassName": "premium-rwo", "resources": {"requests": {"storage": "100Gi"}}}
    disk = made("kubernetes:core/v1:PersistentVolumeClaim", "disk", {"spec": claim})
    cost = priced(balancer, disk)
    assert {line.what: line.unit_usd for line in cost.lines} == {
        "load balancer": 0.01,
        "data through it": 0.008,
        "disk, 100 GiB": 0.187,
    }


def test_a_budget_in_another_currency_is_no_figure_to_hold_dollars_against() -> None:
    def budget(currency: str) -> float | None:
        amount = {"specifiedAmount": {"currencyCode": currency, "units": "5000"}}
        return priced(made("gcp:billing/budget:Budget", "b", {"amount": amount})).budget_usd

    assert (budget("USD"), budget("EUR")) == (5000, None)


def test_a_reservation_of_the_stack_is_paid_once() -> None:
    reserved = {"count": "2", "instanceProperties": {"machineType": "g2-standard-48"}}
    reservation = made(
        "gcp:compute/reservation:Reservation", "r", {"zone": "europe-west4-a", "specificReservation": reserved}
    )
    cost = priced(reservation)
    assert cost.total.floor == pytest.approx(2 * HOURS * 4.20595) and not cost.lines[0].other_region


def test_flex_start_takes_no_hours_of_the_pool_from_spot_and_on_demand() -> None:
    labels = {"labels": {"ml.platform/pool": "train"}}
    h100 = {"guestAccelerators": [{"type": "nvidia-h100-80gb", "count": 8}]}
    flexible = pool("a3-highgpu-8g", name="c", flexStart=True, **h100, **labels)
    both = priced(pool(name="a", **GPUS, **labels), pool(name="b", spot=True, **GPUS, **labels), flexible)
    hours = {line.resource: line.quantity.expected for line in both.lines if line.unit == "hour"}
    assert hours == {resource: pytest.approx(2.8 * HOURS) for resource in ("a", "b", "c")}
