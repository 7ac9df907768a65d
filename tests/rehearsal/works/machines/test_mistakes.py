"""Every mistake in a machine is told by its rule; no example stack, and nothing that is only unusual, is accused."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES, WHOLE
from tests.rehearsal.works.mistakes import DROP, both, edit, put
from tests.rehearsal.works.mistakes_machines import (
    CLUSTER,
    DATABASE,
    MISTAKES,
    PARAMETERS,
    SPOT_TEMPLATE,
    TEMPLATE,
    nodes,
    parameter,
    told,
)
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.machines.aws.images import architecture
from trainyard.rehearsal.works.machines.check import check


def findings(resources, region="us-east-1"):
    stack = Stack(resources, ValueContext("1.35", region))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed(WHOLE).resources))
    assert (mistake.rule is None) == (not found)
    assert mistake.rule in {None, *(finding.rule for finding in found)}, found


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_example_stack_is_accused(rehearsed, stack):
    rehearsal = rehearsed(stack)
    assert findings(rehearsal.resources, rehearsal.plan["ground"]["region"]) == []


GRAVITON = both(
    nodes("instanceTypes", ["m7g.xlarge", "c7gn.2xlarge", "r8gd.xlarge"], "cluster-system"),
    nodes("amiType", "AL2023_ARM_64_STANDARD", "cluster-system"),
)
UNUSUAL = {
    "Graviton with its image": GRAVITON,
    "nodes three versions behind": both(nodes("version", "1.32"), nodes("releaseVersion", DROP)),
    "a version that the cluster has": edit(CLUSTER, "cluster-cluster", put("version", "1.36")),
    "the image that EKS takes": nodes("amiType", DROP),
    "a second volume": edit(TEMPLATE, SPOT_TEMPLATE, put("blockDeviceMappings[1]", {"deviceName": "/dev/xvdb"})),
    "no volume of the template's": edit(TEMPLATE, SPOT_TEMPLATE, put("blockDeviceMappings", DROP)),
    "a parameter that only a later version knows": parameter("io_method", "worker", applyMethod="pending-reboot"),
    "a formula of RDS": parameter("shared_buffers", "{DBInstanceClassMemory/32768}", applyMethod="pending-reboot"),
    "a parameter of an extension": parameter("pgaudit.log", "ddl"),
    "a minor version": edit(DATABASE, "acme-demo-mlflow", put("engineVersion", "17.6")),
    "a family of another engine's": both(
        edit(DATABASE, "acme-demo-mlflow", put("engine", "mysql"), put("engineVersion", "8.4.5")),
        edit(PARAMETERS, "acme-demo-mlflow-parameters", put("family", "mysql8.4"), put("parameters", [])),
    ),
    "a release of Bottlerocket, which counts by itself": both(
        nodes("amiType", "BOTTLEROCKET_x86_64", "cluster-system"),
        nodes("version", DROP, "cluster-system"),
        nodes("releaseVersion", "1.50.0-8ce3ea43", "cluster-system"),
        edit(TEMPLATE, "cluster-system-template", put("blockDeviceMappings", DROP)),
    ),
    "a release of Amazon Linux": nodes("releaseVersion", "1.35.2-20260714"),
    "another authority": edit(DATABASE, "acme-demo-mlflow", put("caCertIdentifier", "rds-ca-ecc384-g1")),
    "advanced insights for as long as they need": edit(
        DATABASE,
        "acme-demo-mlflow",
        put("databaseInsightsMode", "advanced"),
        put("performanceInsightsRetentionPeriod", 465),
    ),
    "a cold volume that nothing boots from": edit(
        TEMPLATE,
        SPOT_TEMPLATE,
        put("blockDeviceMappings[1]", {"deviceName": "/dev/xvdf", "ebs": {"volumeType": "st1", "volumeSize": 125}}),
    ),
    "reservations only, on demand": edit(
        TEMPLATE,
        "gpu-nodes-train-on-demand-template",
        put("capacityReservationSpecification", {"capacityReservationPreference": "capacity-reservations-only"}),
    ),
    "a field of kubelet that the list does not hold": told(
        "spec:\n", "spec:\n  kubelet:\n    config:\n      crashLoopBackOff: {maxContainerRestartPeriod: 10s}\n"
    ),
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_only_unusual_is_not_accused(rehearsed, what):
    assert findings(UNUSUAL[what](rehearsed(WHOLE).resources)) == []


def test_where_the_gpu_operator_brings_the_driver_the_standard_image_will_do(rehearsed):
    from trainyard.recorded.model import RecordedResource

    resources = nodes("amiType", "AL2023_x86_64_STANDARD")(rehearsed(WHOLE).resources)
    operator = RecordedResource(
        urn="urn:pulumi:demo::trainyard::kubernetes:helm.sh/v3:Release::operator",
        type="kubernetes:helm.sh/v3:Release",
        name="operator",
        parent="",
        component="",
        custom=True,
        provider="p::p",
        inputs={"chart": "gpu-operator"},
    )
    assert findings([*resources, operator]) == []


def test_a_type_that_the_region_does_not_sell_is_a_warning(rehearsed):
    found = findings(rehearsed(WHOLE).resources, region="eu-south-1")
    assert {(finding.level, finding.rule) for finding in found} == {("warning", "machines-region")}


@pytest.mark.parametrize(
    ("name", "is_"),
    [("m7g.large", "arm64"), ("g5g.xlarge", "arm64"), ("im4gn.large", "arm64"), ("hpc7g.4xlarge", "arm64"),
     ("g5.xlarge", "x86_64"), ("g6e.xlarge", "x86_64"), ("p6e-gb200.36xlarge", "arm64"), ("m7i-flex.large", "x86_64"),
     ("a1.large", "arm64"), ("g4dn.xlarge", "x86_64"), ("p5en.48xlarge", "x86_64")],
)  # fmt: skip
def test_the_architecture_stands_in_the_name(name, is_):
    assert architecture(name) == is_
