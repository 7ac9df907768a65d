"""What correct programs of others do on Google Cloud that was told as wrong, each with the neighbour that is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.engine import invokes, outputs, synthesised
from trainyard.rehearsal.engine.sdk_types import resource_class
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.check import check_works

CONTEXT = ValueContext(kubernetes_version="1.34", region="europe-west4")


def told(*resources):
    found = [*check_values(list(resources), CONTEXT), *check_works(list(resources), CONTEXT)]
    return {(one.rule, one.name) for one in found}


def tag(network):
    given = {"parent": "projects/net-host", "shortName": "tier", "purpose": "GCE_FIREWALL", "purposeData": network}
    return resource("gcp:tags/tagKey:TagKey", "tier", given)


def test_a_tag_names_its_network_in_words_of_its_own():
    assert told(tag({"network": "net-host/hub"})) == set()
    cluster = {"location": "europe-west4", "network": "net-host/hub", "initialNodeCount": 1}
    assert ("gcp-link", "c") in told(resource("gcp:container/cluster:Cluster", "c", cluster))


ACCESS = "gcp:bigquery/datasetAccess:DatasetAccess"


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"authorizedDataset": {"dataset": {"projectId": "p", "datasetId": "m"}, "targetTypes": ["VIEWS"]}}, False),
        ({"role": "READER"}, True),
    ],
)
def test_a_dataset_may_be_given_to_another_one(given, refused):
    rules = {rule for rule, _ in told(resource(ACCESS, "mart", {"datasetId": "lake", **given}))}
    assert ("gcp-beside" in rules) is refused


@pytest.mark.parametrize(
    ("logged", "watched", "silent"),
    [
        ("dataflow_step", "dataflow_job", True),
        ("k8s_container", "k8s_container", True),
        ("k8s_container", "gce_instance", False),
    ],
)
def test_a_metric_from_logs_is_of_the_kind_that_monitoring_has(logged, watched, silent):
    metric = resource("gcp:logging/metric:Metric", "late", {"name": "late", "filter": f'resource.type="{logged}"'})
    condition = {
        "displayName": "late",
        "conditionThreshold": {
            "filter": f'metric.type="logging.googleapis.com/user/late" AND resource.type="{watched}"',
            "comparison": "COMPARISON_GT", "thresholdValue": 5, "duration": "60s",
            "aggregations": [{"alignmentPeriod": "60s", "perSeriesAligner": "ALIGN_DELTA"}],
        },
    }  # fmt: skip
    alert = {"displayName": "late", "combiner": "OR", "conditions": [condition]}
    found = told(metric, resource("gcp:monitoring/alertPolicy:AlertPolicy", "alert", alert))
    assert (("programs-alert", "alert") not in found) is silent


def test_everybody_is_no_account_of_a_service():
    bucket = resource("gcp:storage/bucket:Bucket", "site", {"name": "site", "location": "EU"}, "site")

    def grant(member):
        given = {"bucket": "site", "role": "roles/storage.objectViewer", "member": member}
        return resource("gcp:storage/bucketIAMMember:BucketIAMMember", "grant", given)

    assert ("rights-of-no-use", "grant") not in told(bucket, grant("allUsers"))
    agent = "serviceAccount:service-1@gcp-sa-secretmanager.iam.gserviceaccount.com"
    assert ("rights-of-no-use", "grant") in told(bucket, grant(agent))


def test_a_folders_firewall_waits_for_no_project_of_the_stack():
    made = resource("gcp:organizations/project:Project", "host", {"projectId": "host", "name": "host"}, "projects/host")
    on = resource(
        "gcp:projects/service:Service", "compute", {"project": "host", "service": "compute.googleapis.com"}, "on"
    )
    network = resource("gcp:compute/network:Network", "net", {"project": "host", "autoCreateSubnetworks": False}, "n")
    network = replace(network, dependencies=(made.urn,))
    policy = {"parent": "folders/1", "shortName": "base"}
    folder = resource("gcp:compute/firewallPolicy:FirewallPolicy", "base", policy, "1")
    found = told(made, on, network, folder)
    assert ("gcp-service-order", "net") in found
    assert ("gcp-service-order", "base") not in found


def known(type_, inputs):
    provider = outputs.ProviderState.of("gcp", {"project": "p", "region": "europe-west4"})
    cls = resource_class(type_)
    return outputs.answer(type_, "one", f"urn:{type_}", inputs, cls, provider, preview=False)


def test_what_the_provider_fills_into_blocks_can_be_read():
    import pulumi_gcp.certificatemanager
    import pulumi_gcp.composer
    import pulumi_gcp.compute
    import pulumi_gcp.container  # noqa: F401

    given = {"controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"allowExternalTraffic": True}}}
    made = known("gcp:container/cluster:Cluster", {**given, "location": "europe-west4"}).outputs
    assert made["masterAuth"]["clusterCaCertificate"]
    endpoint = made["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]
    assert endpoint["endpoint"].endswith(".gke.goog")
    assert endpoint["allowExternalTraffic"] is True

    machine = {"zone": "europe-west4-a", "networkInterfaces": [{"network": "n", "accessConfigs": [{}]}]}
    (interface,) = known("gcp:compute/instance:Instance", machine).outputs["networkInterfaces"]
    assert interface["networkIp"].startswith("10.")
    assert interface["accessConfigs"][0]["natIp"] == "203.0.113.10"

    authorization = known("gcp:certificatemanager/dnsAuthorization:DnsAuthorization", {"domain": "a.example"}).outputs
    assert authorization["dnsResourceRecords"][0]["name"] == "_acme-challenge.a.example."


@pytest.mark.parametrize(("into", "told_of"), [("apps-1a2b3c4d", False), ("other-1a2b3c4d", True)])
def test_a_network_is_the_same_by_its_name_and_by_its_id(into, told_of):
    """Neither has a name of its own: what the provider makes of it and what the id says may differ here."""
    kind = "gcp:compute/network:Network"
    apps, other = (
        replace(resource(kind, one, {}, f"projects/p/global/networks/{one}"), outputs={"name": f"{one}-1a2b3c4d"})
        for one in ("apps", "other")
    )
    address = {"ipv4Enabled": False, "privateNetwork": "projects/p/global/networks/apps"}
    database = resource(
        "gcp:sql/databaseInstance:DatabaseInstance", "db", {"settings": {"ipConfiguration": address}}, "db",
        connectionName="p:r:db",
    )  # fmt: skip
    template = {
        "vpcAccess": {"networkInterfaces": [{"network": into}]},
        "volumes": [{"name": "sql", "cloudSqlInstance": {"instances": ["p:r:db"]}}],
    }
    web = resource("gcp:cloudrunv2/service:Service", "web", {"location": "r", "template": template})
    assert (("run-network", "web") in told(apps, other, database, web)) is told_of


def test_zones_are_those_of_the_region_that_is_asked_for():
    import pulumi_gcp.compute  # noqa: F401

    place = synthesised.Place(region="europe-west4", project="p")
    names = invokes.invoke("gcp:compute/getZones:getZones", {"region": "us-central1"}, place)["names"]
    assert len(names) >= 3
    assert all(name.startswith("us-central1-") for name in names)
