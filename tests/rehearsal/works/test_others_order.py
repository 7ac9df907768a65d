"""Correct programs of others: what waits by a component or a provider, operators of another version, other projects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import obj, resource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.engine import invokes, outputs, synthesised
from trainyard.rehearsal.engine.sdk_types import resource_class
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.check import check_works

CONTEXT = ValueContext(kubernetes_version="1.34", region="europe-west4")


def told(*resources):
    found = [*check_values(list(resources), CONTEXT), *check_works(list(resources), CONTEXT)]
    return {(one.rule, one.name) for one in found}


def component(name, *waits_for):
    made = resource("acme:index:Part", name, {})
    return replace(made, custom=False, dependencies=tuple(one.urn for one in waits_for))


@pytest.mark.parametrize("waits", [True, False])
def test_what_is_in_a_component_waits_for_what_that_waits_for(waits):
    namespace = obj("v1", "Namespace", "training")
    around = component("files", *([namespace] if waits else []))
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}
    limit = replace(obj("v1", "LimitRange", "defaults", "training", spec=limits), parent=around.urn)
    assert (("reference-namespace-order", limit.name) in told(namespace, around, limit)) is not waits


@pytest.mark.parametrize("waits", [True, False])
def test_what_a_provider_waits_for_is_there_before_all_that_it_makes(waits):
    on = resource("gcp:projects/service:Service", "compute", {"service": "compute.googleapis.com"})
    other = resource("gcp:projects/service:Service", "dns", {"service": "dns.googleapis.com"})
    other = replace(other, dependencies=(on.urn,))
    provider = resource("pulumi:providers:gcp", "late", {"project": "p"})
    provider = replace(provider, dependencies=(other.urn,) if waits else ())
    network = resource("gcp:compute/network:Network", "net", {"autoCreateSubnetworks": False})
    network = replace(network, provider=f"{provider.urn}::id")
    assert (("gcp-service-order", "net") in told(on, other, provider, network)) is not waits


@pytest.mark.parametrize(("project", "is_told"), [("net-host", False), (None, True)])
def test_a_service_of_another_project_is_switched_on_there(project, is_told):
    on = resource("gcp:projects/service:Service", "compute", {"service": "compute.googleapis.com"})
    record = {"managedZone": "z", "name": "a.example.", "type": "A", "ttl": 300, "rrdatas": ["203.0.113.7"]}
    record |= {"project": project} if project else {}
    found = told(on, resource("gcp:dns/recordSet:RecordSet", "a", record))
    assert (("rights-api-off", "a") in found) is is_told


TRAINER = "oci://ghcr.io/kubeflow/charts/kubeflow-trainer"


@pytest.mark.parametrize(
    ("version", "field", "is_told"),
    [
        ("2.0.0", "podSpecOverrides", False),
        ("2.3.0", "podSpecOverrides", True),
        (None, "podSpecOverrides", False),
        (None, "podSpecOverride", True),
    ],
)
def test_a_train_job_is_of_the_version_that_is_installed(version, field, is_told):
    spec = {
        "runtimeRef": {"name": "torch-distributed"},
        field: [{"targetJobs": [{"name": "node"}], "serviceAccountName": "runner"}],
    }
    job = obj("trainer.kubeflow.org/v1alpha1", "TrainJob", "detector", "vision", spec=spec)
    release = resource("kubernetes:helm.sh/v3:Release", "trainer", {"chart": TRAINER, "version": version, "name": "t"})
    found = told(*([release] if version else []), job)
    assert (("k8s-unknown-field", job.name) in found) is is_told


def test_manifests_are_decoded_as_kubernetes_reads_them():
    text = "---\nkind: A\ndata: {day: 2026-01-01, mode: 0555, on: true}\n---\n---\nkind: B\n"
    found = invokes.invoke("kubernetes:yaml:decode", {"text": text}, synthesised.Place())["result"]
    assert [one["kind"] for one in found] == ["A", "B"]
    assert found[0]["data"]["day"] == "2026-01-01"
    assert found[0]["data"]["mode"] == 0o555


def known(type_, inputs):
    provider = outputs.ProviderState.of("gcp", {"project": "p", "region": "europe-west4"})
    return outputs.answer(type_, "one", f"urn:{type_}", inputs, resource_class(type_), provider, preview=False).outputs


def test_blocks_within_lists_of_blocks_are_filled_in():
    import pulumi_gcp.artifactregistry
    import pulumi_gcp.memorystore  # noqa: F401

    made = known("gcp:memorystore/instance:Instance", {"instanceId": "cache", "location": "europe-west4"})
    connection = made["endpoints"][0]["connections"][0]["pscAutoConnection"]
    assert connection["ipAddress"]
    repository = known("gcp:artifactregistry/repository:Repository", {"repositoryId": "models", "format": "DOCKER"})
    assert repository["name"] == "models"
