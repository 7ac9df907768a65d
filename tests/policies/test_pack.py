"""The pack as Pulumi sees it: what it says of itself, and that it starts and answers over the protocol."""

import ast
import contextvars
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc
from pulumi_policy import EnforcementLevel
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from tests.shared import ROOT
from trainyard.policies.pack import NAME, POLICIES, VERSION
from trainyard.policies.rules import ResourceRule, StackRule
from trainyard.policies.stack_settings import plain_values

PACK = ROOT / "policies"
FRAMEWORKS = ("CIS AWS 3.0.0", "CIS EKS 1.5.0", "CIS GCP 3.0.0", "NIST 800-53r5", "ISO 27001:2022")
CONFIG = {"trainyard:residency": "uae", "trainyard:teamSize": "12"}


def test_ids_are_unique_and_speak_of_what_they_forbid():
    ids = [policy.name for policy in POLICIES]
    assert len(set(ids)) == len(ids) >= 40
    assert all(id_ == id_.lower() and " " not in id_ for id_ in ids)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_every_policy_says_all_that_a_reader_needs(policy):
    assert policy.enforcement_level in (EnforcementLevel.MANDATORY, EnforcementLevel.ADVISORY)
    assert policy.severity is not None
    assert policy.description.endswith(".")
    assert len(policy.remediation_steps) > 20
    assert policy.controls
    assert all(control.startswith(FRAMEWORKS) for control in policy.controls)
    assert policy.framework.name in FRAMEWORKS
    for schema in (policy.config_schema.properties if policy.config_schema else {}).values():
        assert "default" in schema
    assert policy.types or policy.name in ("exception-expired", "key-in-the-stack-file")


def test_the_manifest_names_the_pack():
    manifest = yaml.safe_load((PACK / "PulumiPolicy.yaml").read_text())
    assert (manifest["name"], manifest["version"]) == (NAME, VERSION)
    assert manifest["runtime"]["name"] == "python"


def test_no_module_hides_another_where_the_pack_runs():
    """The engine starts the pack in its own folder, which then comes first on the path."""
    taken = {*sys.stdlib_module_names, *importlib.metadata.packages_distributions()}
    assert not {path.stem for path in PACK.glob("*.py") if path.stem[0] != "_"} & taken


@pytest.fixture(scope="module")
def analyzer():
    """The pack started as the CLI starts it, with a stack's configuration in its environment."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")},
        "PULUMI_PROJECT": "trainyard",
        "PULUMI_STACK": "demo",
        "PULUMI_DRY_RUN": "true",
        "PULUMI_CONFIG": json.dumps(CONFIG),
    }
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:0", str(PACK)],
        cwd=PACK,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        port = process.stdout.readline().strip()
        assert port.isdigit(), process.stderr.read()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield analyzer_pb2_grpc.AnalyzerStub(channel)
    finally:
        process.kill()
        process.communicate()


def request(type_, name, inputs, **more):
    properties = struct_pb2.Struct()
    properties.update(inputs)
    return analyzer_pb2.AnalyzeRequest(
        type=type_, urn=f"urn:pulumi:demo::trainyard::{type_}::{name}", name=name, properties=properties, **more
    )


def test_it_tells_what_it_holds(analyzer):
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty(), timeout=300)
    assert info.name == NAME  # the CLI takes the version from PulumiPolicy.yaml
    assert [policy.name for policy in info.policies] == [policy.name for policy in POLICIES]
    kinds = {policy.name: policy.policy_type for policy in info.policies}
    for policy in POLICIES:
        resource = kinds[policy.name] == analyzer_pb2.POLICY_TYPE_RESOURCE
        assert resource == isinstance(policy, ResourceRule)
        assert resource != isinstance(policy, StackRule)


def test_it_judges_a_resource(analyzer):
    database = {"publiclyAccessible": True, "engineVersion": "17", "deletionProtection": True, "tagsAll": {}}
    answer = analyzer.Analyze(request("aws:rds/instance:Instance", "db", database), timeout=300)
    found = {diagnostic.policyName: diagnostic for diagnostic in answer.diagnostics}
    assert {"public-database", "stateful-resource-unprotected"} <= set(found)
    assert found["public-database"].enforcementLevel == analyzer_pb2.MANDATORY
    assert found["public-database"].severity == analyzer_pb2.POLICY_SEVERITY_CRITICAL
    assert found["public-database"].message == "A database has no public address.\npubliclyAccessible is on"


def test_it_reads_the_stack_file_from_the_engine(analyzer):
    answer = analyzer.Analyze(request("aws:s3/bucket:Bucket", "b", {"region": "us-east-1"}), timeout=300)
    messages = [item.message for item in answer.diagnostics if item.policyName == "region-outside-residency"]
    assert len(messages) == 1
    assert "region names us-east-1; uae allows me-central-1" in messages[0]
    nodes = request("aws:eks/nodeGroup:NodeGroup", "train", {"instanceTypes": ["p5.48xlarge"]})
    assert "gpu-model-outside-profile" in {item.policyName for item in analyzer.Analyze(nodes, timeout=300).diagnostics}


def test_an_unknown_is_one_advisory(analyzer):
    inputs = {"publiclyAccessible": UNKNOWN_STRING_VALUE}
    answer = analyzer.Analyze(request("aws:rds/instance:Instance", "db", inputs), timeout=300)
    [unknown] = [item for item in answer.diagnostics if item.policyName == "public-database"]
    assert unknown.enforcementLevel == analyzer_pb2.ADVISORY
    assert "can't be known during preview" in unknown.message


def test_it_judges_a_stack(analyzer):
    bucket = request("aws:s3/bucket:Bucket", "b", {})
    resource = analyzer_pb2.AnalyzerResource(type=bucket.type, urn=bucket.urn, name="b", properties=bucket.properties)
    answer = analyzer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=[resource]), timeout=300)
    urns = {item.policyName: item.urn for item in answer.diagnostics}
    assert urns["bucket-without-versioning"] == urns["public-bucket"] == bucket.urn
    assert urns["costed-resource-without-cost-tags"] == bucket.urn
    assert urns["budget-without-alerts"] == ""


def test_the_pack_is_small_modules():
    sizes = {path.name: len(Path(path).read_text().splitlines()) for path in PACK.glob("*.py") if path.stem != "pack"}
    assert {name: lines for name, lines in sizes.items() if lines > 190} == {}


def test_type_tokens_are_spelt_in_one_place():
    """Whole tokens have a name in `trainyard.recorded`; patterns, and examples in docstrings, are no copies of one."""
    token = re.compile(r"(aws|gcp|kubernetes|pulumi):[\w./-]+:\w+")
    spelt = {}
    for path in PACK.glob("*.py"):
        tree = ast.parse(path.read_text())
        texts = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        spelt[path.name] = sorted(text for text in texts if token.fullmatch(text))
    assert {name: found for name, found in spelt.items() if found} == {}


def test_a_first_preview_is_not_blocked_by_what_the_engine_does_not_show(analyzer):
    """Objects of a cluster that is yet to be made come without properties: one advisory a policy, no violation."""
    nodes = request(
        "aws:eks/nodeGroup:NodeGroup",
        "train",
        {"instanceTypes": ["p4d.24xlarge"], "capacityType": "SPOT", "scalingConfig": {"minSize": 0, "maxSize": 2}},
    )
    hidden = [
        request(f"kubernetes:{type_}", name, {})
        for type_, name in (
            ("core/v1:Namespace", "team-a"),
            ("kueue.x-k8s.io/v1beta2:ClusterQueue", "team-a"),
            ("batch/v1:Job", "smoke"),
            ("helm.sh/v3:Release", "autoscaler"),
        )
    ]
    resources = [
        analyzer_pb2.AnalyzerResource(type=one.type, urn=one.urn, name=one.name, properties=one.properties)
        for one in (nodes, *hidden)
    ]
    answer = analyzer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), timeout=300)
    about = {
        "idle-gpus-keep-running",
        "pool-without-smoke-job",
        "spot-pool-without-checkpoint-tier",
        "team-without-queue",
    }
    told = {item.policyName: item for item in answer.diagnostics}
    assert about <= set(told)
    for policy in about:
        assert told[policy].enforcementLevel == analyzer_pb2.ADVISORY
        assert "can't run policy" in told[policy].message
    # What concerns none of these is judged as ever.
    assert told["budget-without-alerts"].enforcementLevel == analyzer_pb2.MANDATORY


@pytest.mark.parametrize("secret_keys", [None, "[]", '["aws:secretKey"]'])
def test_no_encrypted_value_is_taken_for_a_plain_one_under_an_engine(monkeypatch, secret_keys):
    """The secret keys in the environment are those of a program that runs the engine, not of this stack."""
    monkeypatch.setenv("PULUMI_CONFIG", '{"aws:region": "us-east-1", "aws:secretKey": "decrypted"}')
    monkeypatch.delenv("PULUMI_CONFIG_SECRET_KEYS", raising=False)
    if secret_keys is not None:
        monkeypatch.setenv("PULUMI_CONFIG_SECRET_KEYS", secret_keys)
    assert contextvars.Context().run(plain_values) is None
