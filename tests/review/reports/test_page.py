"""The page of an outcome: the same verdict as everywhere, all that is behind it, nothing loaded, nothing unescaped."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import yaml

from tests.cost.recorded import priced, resource
from tests.review.violations import ACCEPTED, VIOLATION
from tests.shared import ROOT
from trainyard.problems import Problem
from trainyard.recorded.model import Finding, Secret
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.policy_check.model import PolicyReport
from trainyard.review.reports.page import as_html
from trainyard.review.reports.page_parts import commands, counts_of, money_bar, violated_policies
from trainyard.review.review import Review, judge, unreadable
from trainyard.review.verdict import Money, State
from trainyard.review.works.topics import TOPICS

NASTY = "<script>alert('x')</script> & \"y\""
NOTHING = Recording(preview=False)


def page_of(*resources, findings=(), violations=(), accepted=(), stack="demo", cost=True):
    """The page of a review that is made by hand."""
    rehearsal = Rehearsal(
        stack, {}, {}, tuple(resources), {}, tuple(findings), (), {"total": 1.0}, preview=NOTHING, known=NOTHING
    )
    if not cost:
        return as_html(Review("stacks/Pulumi.demo.yaml", rehearsal, None, None, {"total": 2.0}))
    report = PolicyReport(stack, 48, tuple(violations), (), tuple(accepted), (), 0.5)
    found = priced(*resources) if resources else priced()
    return as_html(Review("stacks/Pulumi.demo.yaml", rehearsal, report, found, {"total": 2.0}))


class Outline(HTMLParser):
    """Headings, classes and whatever loads or runs something."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.classes, self.links, self._open = [], [], [], []
        self.feed(text)
        assert not self._open, self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self.classes.append(given.get("class") or "")
        self.links += [value for key, value in attrs if key in ("src", "href", "action", "data", "srcset")]
        assert not [key for key in given if key.startswith("on")], given
        if tag not in ("meta", "br", "link"):
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, tag


def banner(text):
    """The verdict's section."""
    return re.search(r'<section class="verdict (\w+)".*?</section>', text, re.S)


@pytest.fixture(scope="module")
def violated(tmp_path_factory):
    """A real stack that violates mandatory policies: its stores are not protected."""
    stack = yaml.safe_load((ROOT / "stacks" / "Pulumi.demo.yaml").read_text(encoding="utf-8"))
    stack["config"]["trainyard:protect"] = False
    stack["config"]["trainyard:environment"] = "production"
    file = tmp_path_factory.mktemp("violated") / "Pulumi.violated.yaml"
    file.write_text(yaml.safe_dump(stack), encoding="utf-8")
    return judge(ROOT, file)


@pytest.fixture(scope="module")
def demo(reviewed):
    return reviewed("demo")


def test_a_stack_with_mandatory_violations_is_not_green_and_names_each(violated):
    assert violated.verdict.state is State.VIOLATED and len(violated.judged.mandatory) >= 7
    text = as_html(violated)
    shown = banner(text)
    assert shown[1] == "bad" and "Violated" in shown[0] and violated.verdict.headline in shown[0]
    assert 'class="verdict good"' not in text
    for violation in violated.judged.mandatory:
        assert violation.policy in text and violation.message in text and violation.name in text
        assert violation.remediation in text


def test_what_is_violated_is_marked_in_the_picture(violated, demo):
    assert "to mend" in as_html(violated) and "to mend" not in as_html(demo)


def test_a_sound_stack_is_green_in_words_too(demo):
    shown = banner(as_html(demo))
    assert demo.verdict.state is State.SOUND
    assert shown[1] == "good" and "Sound" in shown[0]


def test_the_page_has_its_parts_in_their_order(demo):
    text = as_html(demo)
    heads = ["verdict", "money", "next", "picture", "findings", "policies", "parts", "path", "In detail"]
    places = [text.index(f'"{head}' if head != "verdict" else 'class="verdict') for head in heads]
    assert places == sorted(places)
    assert text.count("<details>") == 2 + len(TOPICS) and "<details open" not in text


@pytest.mark.parametrize(
    ("more", "mood", "said"),
    [
        ({}, "good", "Sound"),
        ({"violations": [replace(VIOLATION, level="advisory")]}, "warn", "Warned"),
        ({"violations": [VIOLATION]}, "bad", "Violated"),
        ({"findings": [Finding("warning", "queue", "nobody asks for it")]}, "warn", "Warned"),
        ({"findings": [Finding("error", "unknown-key", "no such key")], "cost": False}, "bad", "Refused"),
    ],
)
def test_the_colour_follows_the_verdict(more, mood, said):
    text = page_of(resource("aws:ec2/natGateway:NatGateway"), **more)
    assert banner(text)[1] == mood and f">{said}<" in banner(text)[0]


def test_a_program_that_is_wrong_has_no_price_and_no_policy_but_its_findings():
    text = page_of(
        findings=[Finding("error", "unknown-key", "no such key", hint="did you mean cidrBlock?")], cost=False
    )
    assert "no such key" in text and "did you mean cidrBlock?" in text
    assert "Nothing was priced." in text and "None was judged" in text


def test_wrong_settings_have_a_page(tmp_path):
    file = tmp_path / "Pulumi.odd.yaml"
    file.write_text("config:\n  trainyard:region: mars\n", encoding="utf-8")
    text = as_html(unreadable(tmp_path, file, [Problem("region", NASTY, "a region", "did you mean us-east-1?")]))
    assert banner(text)[1] == "bad" and "Pulumi.odd.yaml, line 2" in text
    assert "did you mean us-east-1?" in text and "<script" not in text
    Outline(text)


def test_accepted_exceptions_say_until_when_and_who_answers():
    text = page_of(accepted=[ACCEPTED])
    for said in ("public-bucket", "tracking", "2027-01-01", "a museum", "me"):
        assert said in text[text.index("Accepted by exception") :]


def test_violations_of_one_policy_are_told_together():
    other = replace(VIOLATION, name="second", message="publiclyAccessible is also on")
    [policy] = violated_policies([VIOLATION, other, replace(VIOLATION, name="third")])
    assert [(message, len(same)) for message, same in policy.by_message] == [
        ("publiclyAccessible is on", 2),
        ("publiclyAccessible is also on", 1),
    ]
    assert len(violated_policies([VIOLATION, replace(other, level="advisory")])) == 2


def test_names_from_a_stack_file_are_escaped_everywhere():
    bucket = resource("aws:s3/bucket:Bucket", NASTY, {"bucket": NASTY}, component=NASTY)
    queue = {"metadata": {"name": NASTY}, "spec": {"cohortName": NASTY}}
    text = page_of(
        bucket,
        resource("aws:ec2/vpc:Vpc", NASTY, {"cidrBlock": NASTY, "tags": {"Name": NASTY}}),
        resource("aws:eks/cluster:Cluster", NASTY, {"name": NASTY, "version": NASTY}),
        resource("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", NASTY, queue),
        findings=[Finding("warning", NASTY, NASTY, component=NASTY, path=NASTY, allowed=NASTY, hint=NASTY)],
        violations=[replace(VIOLATION, message=NASTY, remediation=f"`{NASTY}`", component=NASTY, name=NASTY)],
        accepted=[replace(ACCEPTED, reason=NASTY, owner=NASTY)],
        stack=NASTY,
    )
    assert "<script" not in text and "alert(" in text
    outline = Outline(text)
    assert "script" not in outline.tags


def test_the_page_loads_nothing_and_runs_nothing(demo):
    text = as_html(demo)
    outline = Outline(text)
    assert not {"script", "link", "img", "iframe", "object", "image", "use"} & set(outline.tags) and not outline.links
    assert "url(" not in text and "@import" not in text and "http" not in text


def test_the_pictures_are_well_formed_and_told_in_words(demo):
    text = as_html(demo)
    found = re.findall(r'<svg class="picture.*?</svg>', text, re.S)
    assert len(found) == 3
    ids = []
    for one in found:
        svg = ElementTree.fromstring(one)
        assert svg.get("role") == "img"
        titles = {element.get("id"): element.text for element in svg if element.tag in ("title", "desc")}
        assert set(svg.get("aria-labelledby").split()) == set(titles) and all(titles.values())
        assert "pool train with 40 A100-40GB GPUs at most" in " ".join(titles.values())
        ids += titles
        words = {element.text for element in svg.iter("text")}
        assert {
            "Network",
            "10.0.0.0/16",
            "Cluster acme-demo",
            "Pool train",
            "spot",
            "data",
            "vision",
            "MLflow",
        } <= words
    assert len(ids) == len(set(ids))


def test_each_width_has_one_picture_and_paper_too(demo):
    text = as_html(demo)
    assert "@media print" in text and "break-inside: avoid" in text and "print-color-adjust: exact" in text
    styles = text[: text.index("</style>")]
    printed = styles[styles.index("@media print") :]
    assert "svg.wide { display: block" in printed and "svg.middle" not in printed
    assert "prefers-color-scheme: dark" in styles and "screen and (prefers-color-scheme: dark)" in styles


def test_every_class_of_the_pictures_has_a_style(demo, violated):
    for outcome in (demo, violated):
        text = as_html(outcome)
        styles = text[: text.index("</style>")]
        used = {name for one in re.findall(r'<(?:rect|text)[^>]* class="([^"]*)"', text) for name in one.split()}
        assert {name for name in used if f".{name}" not in styles} <= {"plain", "on-demand", "mark"}


def test_the_page_of_an_environment_is_small(demo, violated):
    assert max(len(as_html(outcome).encode()) for outcome in (demo, violated)) < 400_000


def test_no_secret_reaches_the_page():
    hidden = {"bucket": Secret("hunter2-bucket"), "tags": {"Name": Secret("hunter2")}}
    server = {"engine": "postgres", "engineVersion": Secret("hunter2"), "password": Secret("hunter2")}
    text = page_of(
        resource("aws:s3/bucket:Bucket", "files", hidden),
        resource("aws:rds/instance:Instance", "rows", server),
        resource("aws:ec2/vpc:Vpc", "net", {"cidrBlock": Secret("hunter2"), "tags": Secret({"Name": "hunter2"})}),
    )
    assert "hunter2" not in text and "files" in text


def test_the_bar_of_the_money_tells_what_is_over_the_budget():
    within = money_bar(Money(10.0, 50.0, 100.0, 50.0, 80.0, 0))
    assert [part.style for part in within.parts] == ["idle", "expected", "most"] and within.budget < 100
    over = money_bar(Money(10.0, 90.0, 100.0, 90.0, 80.0, 0))
    [beyond] = [part for part in over.parts if part.style == "over"]
    assert beyond.start == over.budget and beyond.width == pytest.approx(10 / 102 * 100)
    assert money_bar(Money(0.0, 0.0, 0.0, 0.0, None, 0)).budget is None
    dear = money_bar(Money(0.0, 5.0, 5.0, 5.0, 500.0, 0))
    assert all(part.start + part.width <= 100 for part in dear.parts) and dear.budget < 100


def test_commands_are_set_apart_and_escaped():
    assert commands("`a <b>` then c") == "<code>a &lt;b&gt;</code> then c"
    assert commands("a ` b & c") == "a ` b &amp; c"


def test_counts_say_what_there_is(violated, demo):
    assert counts_of(demo.verdict) == ""
    number = len(violated.judged.mandatory)
    assert counts_of(violated.verdict) == f"{number} mandatory violations"
    both = replace(violated.verdict, mandatory=1, advisory=2, warnings=1, accepted=3)
    assert counts_of(both) == "1 mandatory and 2 advisory violations, 1 warning, 3 accepted by exception"
