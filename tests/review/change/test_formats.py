"""A judged change in every format of a check."""

import json
from xml.etree import ElementTree

import pytest

from tests.shared import ROOT
from trainyard.review.change.source import Source
from trainyard.review.formats.names import Format
from trainyard.review.told import Asked, tell


@pytest.fixture(scope="module")
def told(rehearsed, tmp_path_factory):
    """Demo as its recording would be changed: a pool of another machine, a database of an earlier version."""
    document = json.loads(json.dumps(rehearsed("demo").as_json()))
    for each in document["resources"]:
        if each["name"] == "gpu-nodes-train-spot" and each["type"].endswith("NodeGroup"):
            each["inputs"]["instanceTypes"] = ["p3.16xlarge"]
        if each["name"] == "acme-demo-mlflow" and "engineVersion" in each["inputs"]:
            each["inputs"]["engineVersion"] = "18"
    file = tmp_path_factory.mktemp("earlier") / "demo.json"
    file.write_text(json.dumps(document))
    asked = Asked(ROOT, tuple(Format), alone=True, since=Source(str(file), file=file))
    return tell(asked, ROOT / "stacks" / "Pulumi.demo.yaml")


def test_the_comment_leads_with_the_change(told):
    text = told.parts[Format.MARKDOWN]
    assert "must not be changed like this" in text.splitlines()[0]
    assert text.index("**Change** from") < text.index("**Next**")
    assert "`change-database-version`" in text and "| pool train (spot) |" in text
    assert "| replaced | NodeGroup gpu-nodes/gpu-nodes-train-spot |" in text


def test_the_document_has_every_step(told):
    change = json.loads(told.parts[Format.JSON])["change"]
    assert change["counts"]["replaced"] == 14, "the group, and the tags of what is made of it"
    assert {step["name"] for step in change["steps"] if step["operation"] == "update"} == {"acme-demo-mlflow"}
    assert change["steps"][0]["forcedBy"] == ["instanceTypes[0]"]
    assert change["steps"][0]["differences"] == [
        {"path": "instanceTypes[0]", "before": "p3.16xlarge", "after": "p4d.24xlarge"}
    ]


def test_a_report_of_tests_has_a_case_of_the_change(told):
    suite = ElementTree.fromstring(told.parts[Format.JUNIT])
    (case,) = (case for case in suite.iter("testcase") if case.get("name") == "change")
    assert "engine version 18 -> 17" in case.find("failure").text


def test_code_scanning_gets_the_findings(told):
    rules = [result["ruleId"] for result in json.loads(told.parts[Format.SARIF])]
    assert {"change-database-version", "change-ends-jobs"} <= set(rules)


def test_a_person_reads_it_first(told):
    text = told.parts[Format.TEXT]
    assert "Change  from" in text and "interrupts pool train (spot)" in text
    assert "replaced NodeGroup gpu-nodes/gpu-nodes-train-spot: instanceTypes[0] p3.16xlarge -> p4d.24xlarge" in text
