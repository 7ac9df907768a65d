"""What machines read: JSON, SARIF, JUnit, and the Markdown of a pull request."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.cost.recorded import priced, resource
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.formats.document import as_json
from trainyard.review.formats.junit import as_junit
from trainyard.review.formats.markdown import MARKER, as_markdown
from trainyard.review.formats.sarif import as_sarif
from trainyard.review.policy_check.model import Accepted, PolicyReport, Violation
from trainyard.review.review import Review

URN = "urn:pulumi:demo::trainyard::aws:rds/instance:Instance::tracking"
VIOLATION = Violation(
    policy="public-database",
    level="mandatory",
    severity="critical",
    message="publiclyAccessible is on",
    description="A database has no public address.",
    remediation="Leave publiclyAccessible off.",
    controls=("NIST 800-53r5 SC-7",),
    urn=URN,
    type="aws:rds/instance:Instance",
    name="tracking",
    component="mlflow",
)
ADVICE = replace(VIOLATION, policy="spot-share-below-target", level="advisory", severity="medium", urn="", name="")
ACCEPTED = Accepted("public-bucket", URN, "*", "a museum", "me", "2027-01-01")


NOTHING = Recording(preview=False)


def checked(*violations, plan=None, gateways=0, accepted=()):
    """A review of a stack that is wrong in these ways and has so many NAT gateways."""
    report = PolicyReport("demo", len(POLICIES), violations, (), accepted, (("gpu-count-over-profile", "none"),), 0.5)
    rehearsal = Rehearsal("demo", {}, plan or {}, (), {}, (), (), {"total": 1.0}, preview=NOTHING, known=NOTHING)
    cost = priced(*(resource("aws:ec2/natGateway:NatGateway", f"nat-{index}") for index in range(gateways)))
    return Review("stacks/Pulumi.demo.yaml", rehearsal, report, cost, {"total": 2.0})


def document(*stacks):
    return json.loads(as_json(stacks))


def test_json_holds_violations_plan_and_price():
    [stack] = document(checked(VIOLATION, plan={"region": "us-east-1"}, gateways=1))["stacks"]
    assert stack["violations"][0]["policy"] == "public-database"
    assert stack["plan"] == {"region": "us-east-1"}
    assert stack["cost"]["floor"] == 32.85
    assert (stack["stack"], stack["file"]) == ("demo", "stacks/Pulumi.demo.yaml")


def test_sarif_has_a_rule_a_policy_and_a_result_a_violation():
    log = json.loads(as_sarif([checked(VIOLATION, ADVICE, accepted=(ACCEPTED,))]))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [policy.name for policy in POLICIES]
    error, warning, suppressed = run["results"]
    assert (error["level"], warning["level"]) == ("error", "warning")
    assert rules[error["ruleIndex"]]["id"] == error["ruleId"] == "public-database"
    [location] = error["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "stacks/Pulumi.demo.yaml"
    assert location["logicalLocations"][0]["fullyQualifiedName"] == URN
    assert suppressed["suppressions"][0]["justification"] == "me: a museum (until 2027-01-01)"
    assert rules[error["ruleIndex"]]["properties"]["security-severity"] == "9.5"


def test_junit_fails_a_case_for_a_mandatory_violation_only():
    root = ElementTree.fromstring(as_junit([checked(VIOLATION, ADVICE)]).encode())
    [suite] = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (str(len(POLICIES)), "1", "1")
    cases = {case.get("name"): case for case in suite}
    assert "publiclyAccessible is on" in cases["public-database"].find("failure").text
    assert cases["spot-share-below-target"].find("failure") is None
    assert "publiclyAccessible is on" in cases["spot-share-below-target"].find("system-out").text
    assert cases["gpu-count-over-profile"].find("skipped").get("message") == "none"
    assert len(cases["public-bucket"]) == 0


def test_markdown_without_an_earlier_check():
    text = as_markdown([checked(VIOLATION, accepted=(ACCEPTED,))])
    assert text.startswith(MARKER)
    assert "### demo: ❌ 1 mandatory and 0 advisory violations" in text
    assert "- mandatory `public-database` (critical) `tracking`: publiclyAccessible is on." in text
    assert "a museum (me, until 2027-01-01)" in text
    assert "New stack" not in text


def test_markdown_tells_what_changes():
    plan = {"region": "us-east-1", "pools": [{"name": "train", "max": 2}], "decisions": [{"key": "x"}]}
    larger = {"region": "us-east-1", "pools": [{"name": "dev", "max": 1}, {"name": "train", "max": 4}]}
    before = checked(VIOLATION, plan=plan, gateways=10)
    after = checked(ADVICE, plan=larger, gateways=30)
    text = as_markdown([after], document(before))
    assert "| `pools[train].max` | 2 | 4 |" in text
    assert "| `pools[dev].max` | – | 1 |" in text
    assert "region" not in text
    assert "decisions" not in text
    assert "| floor | 328 | 986 | +657 |" in text
    assert "- **new** advisory `spot-share-below-target`" in text
    assert "- fixed: ~~`public-database` `tracking`: publiclyAccessible is on~~" in text


def test_markdown_of_an_unchanged_a_new_and_a_removed_stack():
    same = checked(VIOLATION, plan={"a": 1})
    assert "The plan does not change." in as_markdown([same], document(same))
    assert "**new**" not in as_markdown([same], document(same))
    assert "New stack." in as_markdown([same], document())
    assert "### demo\n\nRemoved." in as_markdown([], document(same))


def test_a_review_tells_the_rehearsal_with_its_verdict():
    told = checked(VIOLATION, gateways=1).as_json()
    assert list(told) == [
        *("stack", "verdict", "settings", "plan", "resources", "outputs", "findings", "violations", "cost"),
        *("critical_path", "seconds"),
    ]
    assert told["violations"] == [VIOLATION.as_json()]
    assert told["cost"]["floor"] == 32.85
    assert told["seconds"] == {"total": 2.0}


def test_a_wrong_program_was_not_judged():
    review = replace(checked(), policies=None, cost=None)
    assert (review.as_json()["violations"], review.as_json()["cost"]) == ([], {})
    with pytest.raises(ValueError, match="the program of stack demo is wrong"):
        as_sarif([review])
