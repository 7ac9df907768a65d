"""`trainyard recommend`: what it prints, writes and refuses."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil

import pytest
import typer
import yaml
from typer.testing import CliRunner

from tests.advice.asking import ask
from tests.shared import ROOT
from trainyard.advice.prices import price
from trainyard.cli.recommend import recommend
from trainyard.cli.recommend_apply import Reservation, pool_settings, with_pool
from trainyard.problems import SettingsError

app = typer.Typer()
app.command()(recommend)

SMALL = ["--params", "1B", "--tokens", "20B", "--deadline", "7d"]


def run(*options):
    return CliRunner().invoke(app, [str(option) for option in options])


def test_the_first_line_says_what_was_asked_and_the_table_is_ranked():
    result = run(*SMALL)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "language: 1B parameters, 20B tokens · bf16 · aws us-east-1 · within 7 days"
    places = [int(found[1]) for line in lines if (found := re.match(r"^(\d) ", line))]
    assert places == list(range(1, len(places) + 1))
    assert "driven by" in result.stdout


def test_json_is_what_the_table_shows():
    data = json.loads(run(*SMALL, "--json", "-").stdout)
    assert data["currency"] == "USD"
    first = data["options"][0]
    assert f"{first['nodes']} {first['instance_type']}" in run(*SMALL).stdout
    assert first["cost_usd"]["low"] <= first["cost_usd"]["typical"] <= first["cost_usd"]["high"]
    costs = [option["cost_usd"]["typical"] for option in data["options"]]
    assert costs == sorted(costs)


def test_compare_shows_all_ways_and_takes_assumptions():
    wanted = ["--params", "7B", "--tokens", "300B", "--monthly-runs", "1", "--compare"]
    result = run(*wanted, "--assume", "engineer_usd_per_year=0", "--assume", "owned_utilisation=0.9")
    assert result.exit_code == 0
    for name in ("managed training", "own cluster, on demand", "own cluster, spot", "owned hardware", "break-even"):
        assert name in result.stdout
    assert re.search(r"engineer_usd_per_year +0 +USD, with overhead \(given\)", result.stdout)
    explained = run(*wanted, "--explain").stdout
    assert "agency guide: on-premises is right above 70 %" in " ".join(explained.split())


def test_explain_names_the_sources_of_prices_and_what_was_left_out():
    text = " ".join(run(*SMALL, "--explain").stdout.split())
    assert "AWS Price List (Linux on-demand), 2026-07-20" in text
    assert "p5e.48xlarge: no price" in text


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--task", "tabular"], 1, "tabular training has no formula here"),
        ([*SMALL, "--budget", "1"], 1, "costs at most 1 USD"),
        ([*SMALL, "--region", "us-esat-1"], 2, "did you mean"),
        ([*SMALL, "--cloud", "azure"], 2, "must be one of aws, gcp"),
        ([], 2, "give --params, or --architecture for a known one"),
        (["--params", "7x", "--tokens", "1T"], 2, "must be a number like 7e9"),
        (["--params", "7B", "--tokens", "nan"], 2, "must be a number like 7e9"),
        (["--params", "7B", "--tokens", "1e999"], 2, "must be a number like 7e9"),
        ([*SMALL[:4], "--deadline", "30"], 2, "must be a time with its unit"),
        (["--params", "7B", "--dataset-size", "200"], 2, "must be a size with its unit"),
        ([*SMALL, "--assume", "owned_utilisation=1"], 2, "is for --compare"),
        ([*SMALL, "--compare", "--assume", "owned_utilisation"], 2, "must be KEY=VALUE with a number"),
        ([*SMALL, "--compare", "--assume", "owned_utilization=0.5"], 2, "did you mean owned_utilisation?"),
    ],
)
def test_what_is_refused_says_why(options, code, text):
    result = run(*options)
    assert result.exit_code == code
    assert text in " ".join(result.output.split())


def test_every_mistake_is_told_at_once():
    result = run("--params", "7x", "--task", "poetry", "--deadline", "30", "--cloud", "azure", "--sweep", "0")
    assert result.exit_code == 2
    assert "5 problems with the options" in result.output
    for key in ("--params", "--task", "--deadline", "--cloud", "--sweep"):
        assert f"{key}: got" in result.output


def test_the_page_stands_alone(tmp_path):
    file = tmp_path / "page.html"
    result = run("--params", "7B", "--tokens", "300B", "--monthly-runs", "1", "--compare", "--html", file)
    assert result.exit_code == 0
    page = file.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=|url\(|@import", page)
    assert "<svg" in page
    assert page.count('class="place"') == len(re.findall(r"^\d ", result.stdout, re.MULTILINE))
    assert "own cluster, on demand" in page
    for number in re.findall(r'c[xy]="([^"]+)"', page):
        assert 0 <= float(number) <= 920
    printed = run(*SMALL, "--html", "-").stdout
    assert printed.startswith("<!doctype html>")


@pytest.fixture
def project(tmp_path):
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    (tmp_path / "stacks").mkdir()
    shutil.copy(ROOT / "stacks" / "Pulumi.demo.yaml", tmp_path / "stacks")
    shutil.copy(ROOT / "stacks" / "__main__.py", tmp_path / "stacks")
    return tmp_path


def stack_file(project):
    return project / "stacks" / "Pulumi.demo.yaml"


def test_apply_writes_the_pool_and_nothing_else(project):
    before = stack_file(project).read_text(encoding="utf-8")
    result = run(*SMALL, "--apply", "demo", "--pool", "pretrain", "-C", project)
    assert result.exit_code == 0, result.output
    after = stack_file(project).read_text(encoding="utf-8")
    added = [line for line in after.splitlines() if line not in before.splitlines()]
    assert len(added) == 1
    assert [line for line in before.splitlines() if line not in after.splitlines()] == []
    first = json.loads(run(*SMALL, "--json", "-").stdout)["options"][0]
    assert yaml.safe_load(after)["config"]["trainyard:gpuPools"]["pretrain"] == {
        "instanceType": first["instance_type"],
        "spot": {"minNodes": 0, "maxNodes": first["nodes"]},
        "onDemand": {"minNodes": 0, "maxNodes": 0},
    }
    again = run(*SMALL, "--apply", "demo", "--pool", "pretrain", "--option", "2", "-C", project)
    assert again.exit_code == 0, again.output
    assert stack_file(project).read_text(encoding="utf-8").count("pretrain:") == 1


def test_apply_binds_a_pool_to_what_was_bought(project):
    file = stack_file(project)
    file.write_text(re.sub(r"monthlyBudgetUsd: .*", "monthlyBudgetUsd: 400000", file.read_text(encoding="utf-8")))
    busy = [*SMALL, "--deadline", "12h", "--monthly-runs", "200", "--no-spot"]
    bought = ["--reservation", "cr-0123456789abcdef1", "--zone", "us-east-1c"]
    result = run(*busy, "--apply", "demo", "--pool", "own", *bought, "-C", project)
    assert result.exit_code == 0, result.output
    text = file.read_text(encoding="utf-8")
    own = yaml.safe_load(text)["config"]["trainyard:gpuPools"]["own"]
    assert own["reserved"] == {
        "reservationId": "cr-0123456789abcdef1",
        "kind": "odcr",
        "nodes": 1,
        "availabilityZone": "us-east-1c",
    }
    assert own["spot"] == own["onDemand"] == {"minNodes": 0, "maxNodes": 0}
    assert "&" not in text, "no anchors"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--pool", "train"], "is bound to a reservation"),
        (["--pool", "x", "--region", "eu-west-1"], "must be the stack's region, which is us-east-1"),
        (["--pool", "x", "--cloud", "gcp"], "must be the stack's cloud, which is aws"),
        (["--pool", "x", "--option", "99"], "must be 1 to 8"),
        (["--pool", "x", "--option", "0"], "must be 1 to 8"),
        (["--pool", "Bad_Name"], "gpuPools"),
        (
            ["--pool", "x", "--monthly-runs", "200", "--deadline", "12h", "--no-spot"],
            "must be bought first; then --reservation",
        ),
        (
            ["--pool", "x", "--cloud", "gcp", "--no-spot"],
            "--apply: got flex-start; is Google's Dynamic Workload Scheduler, not a pool of a stack: make a node pool",
        ),
        (
            ["--pool", "x", "--cloud", "gcp", "--no-spot", "--reservation", "cr-1", "--zone", "us-central1-a"],
            "--cloud aws ranks those that a stack can have",
        ),
    ],
)
def test_what_cannot_be_applied_leaves_the_file_alone(project, options, text):
    before = stack_file(project).read_bytes()
    result = run(*SMALL, *options, "--apply", "demo", "-C", project)
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())
    assert stack_file(project).read_bytes() == before


def test_calendar_mode_asks_for_no_reservation_of_aws():
    option = next(option for option in ask(cloud="gcp").options if option.machine.type == "a4-highgpu-8g")
    calendar = dataclasses.replace(option, price=price(option.machine, "us-central1", "calendar"))
    assert calendar.capacity == "calendar"
    for reservation in (None, Reservation("cr-1", "us-central1-a")):
        with pytest.raises(SettingsError, match="reserve the days there in calendar mode") as caught:
            pool_settings(calendar, {}, reservation)
        assert "--reservation" not in str(caught.value)


def test_one_node_of_google_cloud_is_applied_without_a_fabric(project):
    shutil.copy(ROOT / "stacks" / "Pulumi.demo-gcp.yaml", project / "stacks")
    file = project / "stacks" / "Pulumi.demo-gcp.yaml"
    region = yaml.safe_load(file.read_text())["config"]["trainyard:region"]
    asked = ["--architecture", "llama-3-8b", "--task", "fine-tune", "--tokens", "300M"]
    for rank in ("1", "2", "3"):
        result = run(*asked, "--cloud", "gcp", "--region", region, "--apply", "demo-gcp", "--pool", f"rec{rank}",
                     "--option", rank, "-C", project)  # fmt: skip
        if "Workload Scheduler" in result.output or "must be bought first" in " ".join(result.output.split()):
            continue
        assert result.exit_code == 0, result.output
    pools = yaml.safe_load(file.read_text())["config"]["trainyard:gpuPools"]
    added = [pool for name, pool in pools.items() if name.startswith("rec")]
    assert added
    assert all(pool.get("fabric") is not True for pool in added)


def test_machines_without_a_fabric_say_nothing_of_one_and_several_nodes_keep_theirs():
    found = [each for each in ask(cloud="gcp").options if each.capacity in ("spot", "on-demand")]
    option = next(each for each in found if each.machine.fabric)
    one = dataclasses.replace(option, nodes=1)
    assert pool_settings(one, {"fabric": True}, None)["fabric"] is False
    assert pool_settings(dataclasses.replace(one, nodes=2), {}, None)["fabric"] is True
    plain = dataclasses.replace(one.machine, fabric=False)
    assert "fabric" not in pool_settings(dataclasses.replace(one, machine=plain), {}, None)


def test_an_unknown_stack_is_refused(project):
    result = run(*SMALL, "--apply", "dmeo", "-C", project)
    assert result.exit_code == 2
    assert "did you mean demo?" in result.output


SETTINGS = {"instanceType": "p4d.24xlarge", "spot": {"minNodes": 0, "maxNodes": 2}}
FLOW = "{instanceType: p4d.24xlarge, spot: {minNodes: 0, maxNodes: 2}}"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(
            "# top\nconfig:\n  trainyard:cloud: aws  # one\n# end\n",
            f"# top\nconfig:\n  trainyard:cloud: aws  # one\n  trainyard:gpuPools:\n    a: {FLOW}\n# end\n",
            id="no pools",
        ),
        pytest.param(
            "config:\n  trainyard:gpuPools:\n    a:\n      gpu: L4\n      # of a\n    # of b\n    b: {gpu: T4}\n"
            "  x: 1\n",
            f"config:\n  trainyard:gpuPools:\n    a: {FLOW}\n      # of a\n    # of b\n    b: {{gpu: T4}}\n  x: 1\n",
            id="a block",
        ),
        pytest.param(
            "config:\n  trainyard:gpuPools:\n    a: {gpu: L4} # why\n    b: {gpu: T4}\n",
            f"config:\n  trainyard:gpuPools:\n    a: {FLOW} # why\n    b: {{gpu: T4}}\n",
            id="one line",
        ),
        pytest.param(
            "config:\n  trainyard:gpuPools:\n    b: {gpu: T4} # why\n\n  # next\n  x: 1",
            f"config:\n  trainyard:gpuPools:\n    b: {{gpu: T4}} # why\n    a: {FLOW}\n\n  # next\n  x: 1",
            id="another pool",
        ),
        pytest.param(
            "config:\n  trainyard:gpuPools: {b: {gpu: T4}}\n  x: 1\n",
            f"config:\n  trainyard:gpuPools:\n    b: {{gpu: T4}}\n    a: {FLOW}\n  x: 1\n",
            id="all on one line",
        ),
        pytest.param(
            "config:\n  trainyard:gpuPools: {}\n  x: 1\n",
            f"config:\n  trainyard:gpuPools:\n    a: {FLOW}\n  x: 1\n",
            id="empty",
        ),
    ],
)
def test_only_the_pool_changes_in_the_text(text, wanted):
    assert with_pool(text, "a", SETTINGS) == wanted


def test_a_file_without_a_block_of_config_is_refused():
    with pytest.raises(SettingsError, match="no block of config"):
        with_pool("config: {trainyard:cloud: aws}\n", "a", SETTINGS)
