"""The handover: whole, of the verdict's own figures, with what is wrong on its first page and no secret in it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import pytest

from tests.review.handover.pages import NASTY, Outline, assert_sound, cover_of, handed, sections_of, words_of
from tests.review.violations import ACCEPTED, VIOLATION
from tests.shared import ROOT
from tests.smoke_jobs.report.support import document
from trainyard.cost.price import price_stack
from trainyard.monitoring.recordings import SUCCESS
from trainyard.policies.pack import POLICIES
from trainyard.recorded.model import Finding, Secret
from trainyard.recorded.types import DASHBOARD
from trainyard.review.handover.agency import Agency, Look, look_of
from trainyard.review.handover.engineer import versions
from trainyard.review.handover.evidence import prices
from trainyard.review.handover.manager import have, in_words
from trainyard.review.handover.measured import NOT, OF_MANAGED_TRAINING, ON_GOOGLE, without_monitoring
from trainyard.review.handover.model import Grid
from trainyard.review.handover.page import css_text, mooded, unbroken
from trainyard.review.handover.subject import Subject
from trainyard.review.policy_check.check import check_policies
from trainyard.review.policy_check.model import PolicyReport
from trainyard.review.reports.picture.told import not_drawn
from trainyard.review.review import Review
from trainyard.review.verdict import State, dollars

DAY = date(2026, 11, 23)
LOOK = Look(Agency(name="Northwind AI", colour="#0b5c58", contact="hello@northwind.example"))


@pytest.fixture(scope="module")
def demo(request):
    """The demo stack as `judge` gives it, made of the session's rehearsal."""
    found = request.getfixturevalue("rehearsed")("demo")
    policies = check_policies("demo", found.preview.resources, found.known.resources, found.settings)
    cost = price_stack(found.resources, found.plan)
    return Review("stacks/Pulumi.demo.yaml", found, policies, cost, {"total": 1.0})


@pytest.fixture(scope="module")
def page(demo):
    return handed(Subject(demo, DAY), LOOK)


def of_recorded(rehearsal, *, findings=(), violations=(), accepted=()):
    """A review of an example stack whose policies were not asked."""
    changed = replace(rehearsal, findings=(*rehearsal.findings, *findings))
    report = PolicyReport(rehearsal.stack, 112, tuple(violations), (), tuple(accepted), (), 0.5)
    wrong = any(finding.level == "error" for finding in findings)
    cost = None if wrong else price_stack(rehearsal.resources, rehearsal.plan)
    return Review("stacks/Pulumi.demo.yaml", changed, None if wrong else report, cost, {"total": 1.0})


def test_it_is_whole_loads_nothing_and_has_no_empty_heading(page):
    assert_sound(page)
    assert page.startswith("<!doctype html>")


def test_every_example_stack_has_one(rehearsed):
    for stack in ("small-aws", "demo-gcp"):
        text = handed(Subject(of_recorded(rehearsed(stack)), DAY), LOOK)
        assert_sound(text)
        assert {"have", "costs", "protection", "policies", "prices", "teardown"} <= sections_of(text).keys(), stack


def test_managed_training_says_of_every_metric_what_measures_it_or_why_nothing_does(rehearsed):
    review = of_recorded(rehearsed("small-aws"))
    told = sections_of(handed(Subject(review, DAY), LOOK))["success"]
    for target in SUCCESS:
        assert target.title in told
        assert OF_MANAGED_TRAINING[target.recording.record][1].replace("`", "")[:40] in told
    (board,) = (each for each in review.rehearsal.resources if each.type == DASHBOARD)
    assert f"“{board.inputs['dashboardName']}” in CloudWatch" in told


def test_managed_training_on_google_cloud_says_the_same_in_its_own_words(rehearsed):
    page = handed(Subject(of_recorded(rehearsed("small-gcp")), DAY), LOOK)
    told = sections_of(page)["success"]
    for target in SUCCESS:
        assert target.title in told
        assert ON_GOOGLE[target.recording.record][1].replace("`", "")[:40] in told
    for foreign in ("SageMaker", "CloudWatch", "machines of AWS"):
        assert foreign not in told and foreign not in sections_of(page)["have"]
    assert "managed training (Vertex AI), with 3 sizes of its editors" in sections_of(page)["have"]
    assert "a quota of nothing" in sections_of(page)["protection"]


@pytest.mark.parametrize("stack", ["small-aws", "small-gcp"])
def test_editors_record_no_experiments(rehearsed, stack):
    told = sections_of(handed(Subject(of_recorded(rehearsed(stack)), DAY), LOOK))["have"]
    recorded = told.split("recorded by", 1)[1].split("Made in", 1)[0]
    assert "Editors" not in recorded and ("MLflow" in recorded or "TensorBoard" in recorded)


def test_what_nothing_measures_is_not_said_to_be_measured():
    def told(**plan):
        rehearsal = SimpleNamespace(resources=())
        review = SimpleNamespace(rehearsal=rehearsal)
        subject = {"managed": {}, "clusters": [], "review": review, "planned": lambda *_: "aws"} | plan
        return without_monitoring(SimpleNamespace(**subject)).blocks

    (grid,) = told(managed={"seats": 1})
    assert ("GPU utilisation", NOT, "there is no dashboard of jobs") in {(row[0], *row[2:]) for row in grid.rows}
    (text,) = told(clusters=[{"name": "acme"}])
    assert "no monitoring" in text.text
    assert not [block for block in told() if not block.is_empty], "no section where nothing trains"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.2 h (0.55-4.5)", "1.2 h (0.55\u2060-\u20604.5)"),
        ("134 (52.9-1.14k)", "134 (52.9\u2060-\u20601.14k)"),
        ("at least 99.5 %", "at least 99.5\u00a0%"),
        ("2026-11-25", "2026-11-25"),
        ("p4d-24 <b>", "p4d-24 &lt;b&gt;"),
    ],
)
def test_a_range_and_a_per_cent_stay_on_one_line(text, said):
    assert unbroken(text) == said
    assert re.sub("</?span[^>]*>", "", mooded(text)) == said, "and in a cell likewise, escaped once"


def test_no_number_of_a_cell_is_cut_in_two():
    nb = '<span class="nb">{}</span>'.format
    assert mooded("17 (5.66 to 218)") == f"17 ({nb('5.66')} to {nb('218)')}".replace("(" + nb("5.66"), nb("(5.66"))
    assert mooded("−29,716 to −585") == f"{nb('−29,716')} to {nb('−585')}"
    for alone in (
        "g6e.12xlarge",
        "8 people",
        "spot-share-below-target",
        "NIST 800-53r5 AC-6",
        "it&#39;s".replace("&#39;", "'"),
        "v1.21.1-eksbuild.8",
    ):
        assert "nb" not in mooded(alone)
    assert mooded("`--keep 1000` of 1,000") == f"<code>--keep 1000</code> of {nb('1,000')}"


def test_dates_and_short_words_stay_whole_and_a_path_breaks_at_its_strokes():
    nb = '<span class="nb">{}</span>'.format
    assert mooded("2024-07-01 (old)") == f"{nb('2024-07-01')} (old)"
    assert mooded("8 × A100-40GB, on-demand") == f"{nb('8 × A100-40GB')}, {nb('on-demand')}"
    assert mooded("oci://ghcr.io/a/kueue") == "oci://ghcr.io/<wbr>a/<wbr>kueue"
    assert mooded("`kubectl -n a/b`") == "<code>kubectl -n a/b</code>"


def test_every_price_is_of_a_part_and_the_parts_add_up(demo):
    found = next(block for block in prices(Subject(demo, DAY)).blocks if isinstance(block, Grid))
    assert found.columns[:2] == ("part", "what")
    rows = Counter(row[0] for row in found.rows)
    assert "" not in rows and set(rows) <= {in_words(share.kind) for share in demo.cost.by_component}
    assert len({(row[0], row[1], row[2]) for row in found.rows}) == len(found.rows), "nothing stands twice"
    network = sum(float(row[3].replace(",", "")) for row in found.rows if row[0] == "Network")
    [share] = [share for share in demo.cost.by_component if share.kind == "Network"]
    assert network == pytest.approx(share.usd.expected, abs=rows["Network"] / 2)


def test_the_versions_are_of_what_the_stack_makes(demo, request):
    told = {row[0] for row in versions(Subject(demo, DAY)).blocks[0].rows}
    assert {"Kubernetes", "mlflow", "smoke", "pytorch", "egress-proxy", "fluent-bit", "vpc-cni"} <= told
    assert not told & {"tcpx-daemon", "tcpxo-plugin", "device-injector", "pause"}, "of nodes of Google Cloud"
    assert "notebook" not in told, "no hub of notebooks"
    behind_a_cache = of_recorded(request.getfixturevalue("rehearsed")("uae-aws"))
    assert {"mlflow", "pytorch"} <= {row[0] for row in versions(Subject(behind_a_cache, DAY)).blocks[0].rows}


def test_how_long_it_takes_counts_the_proof(demo):
    said = dict(have(Subject(demo, DAY)).blocks[0].rows)["Made in"]
    stands, proven = demo.rehearsal.minutes_until_proof, demo.rehearsal.minutes
    assert (
        said
        == f"{stands:.0f} minutes at least, by one command, and {proven - stands:.0f} more until it is proven to train"
    )


def test_what_is_not_drawn_is_a_sentence():
    assert not_drawn([], 3) == ""
    assert not_drawn([("iam", 1)], 3) == "Not drawn: 1 resource of iam."
    some = [("kubernetes", 188), ("iam", 30), ("ec2", 7), ("sns", 2), ("vpc", 1)]
    assert not_drawn(some, 3) == "Not drawn: 188 resources of kubernetes, 30 of iam, 7 of ec2 and 3 of others."
    assert not_drawn(some[:2], 3) == "Not drawn: 188 resources of kubernetes and 30 of iam."


def test_its_figures_are_the_verdicts(demo, page):
    cover, sections, money = cover_of(page), sections_of(page), demo.verdict.money
    assert f"{demo.verdict.headline}." in cover
    for figure in (money.idle, money.expected, money.budget):
        assert dollars(figure) in cover
    for figure in (money.idle, money.expected, money.at_most, money.budget):
        assert dollars(figure) in sections["costs"]
    for share in demo.cost.by_team:
        assert f"{share.name} {dollars(share.usd.floor)} {dollars(share.usd.expected)}" in sections["costs"]
    assert f"{demo.policies.policies} policies" in cover
    assert f"{demo.policies.policies} of {demo.policies.policies} hold" in sections["protection"]
    assert f"{demo.rehearsal.minutes_until_proof:.0f} minutes" in sections["have"]


def test_the_parts_of_the_money_make_up_the_whole(demo, page):
    rows = sections_of(page)["costs"]
    total = demo.cost.total
    whole = f"together {dollars(total.floor)} {dollars(total.expected)} {dollars(total.ceiling)}"
    assert rows.count(whole) == 2, "by component and by team"


def test_what_is_saved_is_told_by_pools_and_not_by_names_of_resources(demo, page):
    told = sections_of(page)["costs"]
    assert "Pool train, spot: " in told and "Pool train, reserved: 1 p4d.24xlarge committed for 36 months" in told
    names = {entry.what.partition(": ")[0] for entry in demo.cost.savings}
    assert len(names) > 2 and not [name for name in names if name in told]


def test_every_policy_and_every_price_is_there_with_its_evidence(demo, page):
    sections = sections_of(page)
    for policy in POLICIES:
        assert f"{policy.name} " in sections["policies"], policy.name
    for line in demo.cost.lines:
        assert " ".join(line.source.split()) in sections["prices"] and line.date in sections["prices"], line
    for policy, reason in demo.policies.not_applicable:
        assert f"as far as it applies: {reason.replace('`', '')}" in words_of(page).replace(" ;", ";"), policy


def test_the_alerts_are_those_that_the_stack_makes(demo, page):
    recorded = {
        rule["alert"]
        for resource in demo.rehearsal.resources
        if resource.type.endswith(":PrometheusRule")
        for group in resource.inputs["spec"]["groups"]
        for rule in group["rules"]
        if "alert" in rule
    }
    assert len(recorded) > 20
    told = sections_of(page)["alerts"]
    assert {name for name in recorded if f"{name} " in told} == recorded
    assert "CheckpointDrillFailed: " in told and "gpu-idle.md" in told


def test_an_alert_that_the_stack_does_not_make_is_not_promised(rehearsed):
    recorded = rehearsed("demo")
    rules = [one for one in recorded.resources if one.type.endswith(":PrometheusRule")]
    without = replace(recorded, resources=tuple(one for one in recorded.resources if one not in rules))
    assert "alerts" not in sections_of(handed(Subject(of_recorded(without), DAY), LOOK))


def test_the_network_has_every_subnet_in_its_zone(demo, page):
    told = sections_of(page)["network"]
    zones = demo.rehearsal.plan["ground"]["network"]["zones"]
    for zone in zones:
        row = told[told.index(f"{zone['name']} {zone['public_cidr']}") :][:120]
        for kind in ("private_cidr", "isolated_cidr", "control_cidr"):
            assert zone[kind] in row
    assert "1 NAT gateway" in told and "zone public private control plane isolated" in told


@pytest.mark.parametrize(("stack", "way_out"), [("demo-gcp", "1 NAT gateway"), ("small-gcp", "no NAT gateway")])
def test_the_way_out_of_a_network_of_google_cloud_is_told(rehearsed, stack, way_out):
    told = sections_of(handed(Subject(of_recorded(rehearsed(stack)), DAY), LOOK))["network"]
    assert f"Way out {way_out}" in told and "Flow logs all traffic" in told


def test_what_each_team_owns_is_in_the_queues_section(demo, page):
    told = sections_of(page)["queues"]
    for team in demo.rehearsal.plan["core"]["teams"]:
        assert f"{team['name']} {team['members']} " in told and dollars(team["monthly_budget_usd"]) in told


def test_a_stack_that_would_be_refused_says_so_on_page_one(rehearsed):
    finding = Finding(rule="required", level="error", message=NASTY, urn="", type="t", name="bucket", component="c")
    text = handed(Subject(of_recorded(rehearsed("demo"), findings=[finding]), DAY), LOOK)
    assert_sound(text)
    cover = cover_of(text)
    assert "would fail: 1 error" in cover and "alert('x')" in cover and 'class="verdict bad"' in text
    sections = sections_of(text)
    assert "costs" not in sections and "policies" not in sections and NASTY in sections["watch"]


def test_a_violation_and_an_exception_are_told_to_the_manager(rehearsed):
    told = of_recorded(rehearsed("demo"), violations=[VIOLATION], accepted=[ACCEPTED])
    assert told.verdict.state is State.VIOLATED
    text = handed(Subject(told, DAY), LOOK)
    assert "must not be deployed" in cover_of(text) and "1 mandatory violation" in cover_of(text)
    watched = sections_of(text)["watch"]
    assert VIOLATION.message in watched and VIOLATION.remediation in watched
    assert f"until {ACCEPTED.expires} by {ACCEPTED.owner}" in watched
    assert "111 of 112 hold" in sections_of(text)["protection"]


def test_markup_in_a_name_stays_text(rehearsed):
    recorded = rehearsed("demo")
    plan = json.loads(json.dumps(recorded.plan))
    plan["core"] |= {"client": NASTY, "environment": "</style><img src=x>"}
    plan["core"]["teams"][0]["name"] = "<img src=x onerror=y>"
    plan["clusters"][0]["scheduling"]["priorities"][0]["description"] = "`<b>`"
    text = handed(
        Subject(of_recorded(replace(recorded, plan=plan)), DAY),
        Look(Agency(name="</title><script>", contact="<i>")),
    )
    assert_sound(text)
    assert "<script" not in text and "<img" not in text and "<i>" not in text and "<code><b>" not in text
    assert text.count("</style>") == 1


def test_a_text_in_the_style_sheet_cannot_end_it():
    assert css_text('"}</style>\\') == "\\22 \\7d \\3c \\2f style\\3e \\5c "


def test_no_secret_is_in_it(rehearsed):
    recorded = rehearsed("demo")
    secret = "hunter2-of-the-database"
    bucket = next(one for one in recorded.resources if one.type == "aws:s3/bucket:Bucket")
    changed = replace(bucket, inputs={**bucket.inputs, "bucket": Secret(secret), "tags": {"note": Secret(secret)}})
    resources = tuple(changed if one is bucket else one for one in recorded.resources)
    plan = json.loads(json.dumps(recorded.plan))
    plan["core"]["client"] = Secret(secret)
    finding = Finding(
        rule="r", level="warning", message=f"{secret} is odd", urn="", type="t", name="bucket", component="c"
    )
    told = of_recorded(replace(recorded, resources=resources, plan=plan), findings=[finding])
    assert secret not in handed(Subject(told, DAY), LOOK)


def test_a_smoke_result_is_told_to_both_readers(demo):
    passed = document(stack="demo", pool="train")
    checks = [check for check in passed["checks"] if check["verdict"] in ("pass", "skipped")]
    passed |= {"checks": checks, "verdict": "pass", "exit_code": 0, "errors": []}
    text = handed(Subject(demo, DAY, (passed,)), LOOK)
    assert_sound(text)
    sections = sections_of(text)
    assert "It can train" in sections["proof"] and "16 ranks on 2 nodes" in sections["proof"]
    assert "kill to resumed step 5.6 s" in sections["smoke"] and "a measurement, 2026-07" in sections["smoke"]
    assert text.count('class="curves"') == 1 and text.count("<figure>") == 2
    assert "every smoke job passed" in cover_of(text) and "was not shown yet" not in words_of(text)


def test_a_smoke_job_that_failed_is_on_page_one(demo):
    text = handed(Subject(demo, DAY, (document(stack="demo"),)), LOOK)
    assert "It cannot train" in cover_of(text) and 'class="verdict bad"' in text
    assert "did not pass: fail" in sections_of(text)["watch"]


def test_without_a_smoke_result_nobody_believes_that_it_trains(page):
    assert "was not shown yet" in sections_of(page)["watch"] and "proof" not in sections_of(page)


def test_a_teams_budget_that_will_not_do_is_watched(demo, page):
    over = [share for share in demo.cost.by_team if share.budget_usd and share.usd.expected > share.budget_usd]
    assert over, "the demo's reserved node is one team's"
    watched = sections_of(page)["watch"]
    for share in demo.cost.by_team:
        assert (f"Team {share.name} is expected to need" in watched) == (share in over)


def test_the_end_is_told_as_each_cloud_brings_it(rehearsed):
    sections = sections_of(handed(Subject(of_recorded(rehearsed("demo-gcp")), DAY), LOOK))
    told = sections["teardown"]
    assert "pulumi destroy --stack" not in told, "the command brings it there too"
    assert "keeps data, artifacts and tracking, deletes" in told, "there are no homes there"
    assert "30 days" in told and "record of calls" not in told
    steps = ("demo-gcp --dry-run", "demo-gcp drains the queues", "--keep none", "demo-gcp --prove-only")
    places = [told.index(step) for step in steps]
    assert places == sorted(places), "what Pulumi ends is told before and proven after"
    assert "trainyard destroy alone lets go of it" in sections["protection"]


def test_a_program_that_is_not_ours_has_a_handover_too(rehearsed):
    foreign = replace(rehearsed("demo"), plan={}, settings={})
    text = handed(Subject(of_recorded(foreign), DAY), LOOK)
    assert_sound(text)
    assert {"have", "picture", "network", "storage", "alerts"} <= sections_of(text).keys()
    assert "teardown" not in sections_of(text) or "destroy" not in sections_of(text)["teardown"]


def test_a_stack_without_resources_has_a_page(rehearsed):
    empty = replace(rehearsed("demo"), plan={}, settings={}, resources=(), critical_path=())
    assert_sound(handed(Subject(of_recorded(empty), DAY), LOOK))


def test_the_agency_stands_on_it_and_without_one_nobody_does(page, demo):
    assert "Northwind AI" in cover_of(page) and "hello@northwind.example" in words_of(page)
    assert "--brand: #0b5c58; --on-brand: #ffffff" in page
    plain = handed(Subject(demo, DAY), look_of(None, ROOT))
    assert "Northwind" not in plain and "<img" not in plain


def test_the_picture_is_drawn_once_for_each_width(page):
    assert Outline(page).tags.count("svg") == 3 + 1, "the picture's and the bar of the money"


def test_over_budget_is_on_page_one(rehearsed):
    found = of_recorded(rehearsed("demo"))
    found = replace(found, cost=replace(found.cost, budget_usd=40_000))
    assert found.verdict.state is State.OVER_BUDGET
    text = handed(Subject(found, DAY), LOOK)
    assert "over the budget of 40,000 USD" in cover_of(text) and "over the budget" in sections_of(text)["watch"]
