import csv
from datetime import date

import pytest

from trainyard.refresh.gcp_prices import COMPUTE_ENGINE
from trainyard.refresh.model import RefreshError
from trainyard.refresh.refresh import refresh
from trainyard.refresh.tables import apply

TODAY = date(2026, 11, 21)
KEY = {"GOOGLE_API_KEY": "key-of-a-test"}


def sku(description, usd, usage="OnDemand", regions=("us-central1",)):
    units, nanos = divmod(round(usd * 1e9), 10**9)
    rate = {"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD", "units": str(units), "nanos": nanos}}
    return {
        "description": description,
        "category": {"usageType": usage, "resourceFamily": "Compute"},
        "serviceRegions": list(regions),
        "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [rate]}}],
    }


L4 = [
    sku("G2 Instance Core running in Americas", 0.03),
    sku("G2 Instance Ram running in Americas", 0.003),
    sku("G2 Instance Core running in Belgium", 0.9, regions=["europe-west1"]),
    sku("Spot Preemptible G2 Instance Core running in Americas", 0.01, usage="Preemptible"),
]


def ask(folder, google, environ=KEY):
    return refresh(folder, today=TODAY, clouds=["gcp"], gcp_endpoint=google.url, environ=environ)


def test_a_machine_costs_its_cores_memory_and_gpus(folder, google):
    google.pages = [
        (200, {"skus": L4, "nextPageToken": "more"}),
        (200, {"skus": [sku("Nvidia L4 GPU running in Americas", 0.6)]}),
    ]
    found = ask(folder, google)
    (change,) = found.changes
    assert (change.quote.name, change.quote.value) == ("g2-standard-4", pytest.approx(4 * 0.03 + 16 * 0.003 + 0.6))
    paths = [path for path, _, _ in google.requests]
    assert paths == [f"/v1/services/{COMPUTE_ENGINE}/skus"] * 2
    assert google.requests[1][1]["pageToken"] == ["more"]
    assert google.requests[0][2]["X-Goog-Api-Key"] == "key-of-a-test"
    assert "key-of-a-test" not in str(google.requests[0][1]), "a key in an address ends up in logs"
    reasons = {entry.name: entry.reason for entry in found.skipped}
    assert "includes local disks" in reasons["a3-highgpu-8g"]
    assert "no single SKU in us-central1" in reasons["a2-highgpu-1g"]
    apply(found.changes, folder)
    rows = csv.DictReader((folder / "gcp_instances.csv").read_text().splitlines())
    row = next(row for row in rows if row["type"] == "g2-standard-4")
    assert (row["usd_per_hour"], row["price_date"], row["gpu"]) == ("0.768", "2026-11-21", "L4")


def test_a_machine_without_gpus_costs_its_cores_and_memory(folder, google):
    e2 = [sku("E2 Instance Core running in Americas", 0.02), sku("E2 Instance Ram running in Americas", 0.003)]
    google.pages = [(200, {"skus": e2})]
    found = ask(folder, google)
    (change,) = found.changes
    assert (change.quote.table, change.quote.name) == ("gcp_cpu_instances.csv", "e2-standard-4")
    assert change.quote.value == pytest.approx(4 * 0.02 + 16 * 0.003)
    assert "shares its cores" in {entry.name: entry.reason for entry in found.skipped}["e2-medium"]


def test_another_region_has_rows_of_its_own_and_leaves_the_catalogues_alone(folder, google):
    there = ["europe-west1"]
    google.pages = [
        (
            200,
            {
                "skus": [
                    *L4[2:3],
                    sku("G2 Instance Ram running in Belgium", 0.003, regions=there),
                    sku("Nvidia L4 GPU running in Belgium", 0.7, regions=there),
                ]
            },
        )
    ]
    before = (folder / "gcp_instances.csv").read_text()
    found = refresh(
        folder, today=TODAY, clouds=["gcp"], gcp_region="europe-west1", gcp_endpoint=google.url, environ=KEY
    )
    assert apply(found.changes, folder) == ("gcp_region_prices.csv",)
    rows = list(csv.DictReader((folder / "gcp_region_prices.csv").read_text().splitlines()))
    (row,) = [row for row in rows if row["type"] == "g2-standard-4"]
    assert (row["region"], row["usd_per_hour"], row["date"]) == ("europe-west1", "4.348", "2026-11-21")
    assert "europe-west1" in row["source"] and (folder / "gcp_instances.csv").read_text() == before


def test_a_token_will_do(folder, google):
    google.pages = [(200, {"skus": L4})]
    ask(folder, google, {"GOOGLE_OAUTH_ACCESS_TOKEN": "a-token"})
    assert google.requests[0][2]["Authorization"] == "Bearer a-token"


def test_without_credentials_the_error_says_what_to_set(folder, google):
    with pytest.raises(RefreshError, match="gcp: no Google credentials: set GOOGLE_API_KEY"):
        ask(folder, google, {})
    assert google.requests == []


def test_a_refusal_and_what_is_no_json_are_told(folder, google):
    google.pages = [(403, {"error": {}}), (200, b"<html>a captive portal</html>")]
    with pytest.raises(RefreshError, match="refused the price list with HTTP 403: set GOOGLE_API_KEY"):
        ask(folder, google)
    with pytest.raises(RefreshError, match="answer is not JSON"):
        ask(folder, google)


def test_no_network_is_told(folder):
    with pytest.raises(RefreshError, match="Google cannot be reached"):
        refresh(folder, today=TODAY, clouds=["gcp"], gcp_endpoint="http://127.0.0.1:9", environ=KEY)


def test_one_cloud_is_enough(folder, google):
    def no_credentials(service, region):
        raise RefreshError("no AWS credentials")

    google.pages = [(200, {"skus": [*L4, sku("Nvidia L4 GPU running in Americas", 0.6)]})]
    found = refresh(folder, today=TODAY, client=no_credentials, gcp_endpoint=google.url, environ=KEY)
    assert found.clouds == ("gcp",)
    assert found.failures == {"aws": "no AWS credentials"}
    assert found.as_json()["changes"][0]["new"] == pytest.approx(0.768)
